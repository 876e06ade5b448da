//===- LegalizeBody.cpp - rewrites ahead of the conversion to LLVM --------===//
//
// LLVM accepts more than its back ends do well: a rounding to bfloat16 becomes
// a library call for each element on x86, an exponential one without an
// implementation on NVPTX. What is rewritten here never reaches them.
//
//===----------------------------------------------------------------------===//

#include "TileToLLVM.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace fusion;

/// `type` with another element type.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

/// Constant of an integer or vector of integers.
static Value createSplat(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  TypedAttr attr = IntegerAttr::get(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, attr);
}

namespace {

/// Rounds f64 to a 16-bit type by way of f32. The first step rounds to odd, so
/// that the second sees on which side of a tie the value was; rounding twice to
/// nearest would be off in the last bit at times.
struct NarrowDouble : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF64() ||
        getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() != 16)
      return rewriter.notifyMatchFailure(op, "is not from f64 to 16 bits");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value wide = op.getIn();
    Type f32 = withElement(wide.getType(), b.getF32Type());
    Type i32 = withElement(wide.getType(), b.getI32Type());

    Value nearest = arith::TruncFOp::create(b, f32, wide);
    Value back = arith::ExtFOp::create(b, wide.getType(), nearest);
    Value isInexact =
        arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, wide);
    Value isAway = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                         math::AbsFOp::create(b, back),
                                         math::AbsFOp::create(b, wide));
    Value bits = arith::BitcastOp::create(b, i32, nearest);
    Value one = createSplat(b, i32, 1);
    Value towardZero = arith::SelectOp::create(
        b, isAway, arith::SubIOp::create(b, bits, one), bits);
    Value odd = arith::OrIOp::create(b, towardZero, one);
    bits = arith::SelectOp::create(b, isInexact, odd, bits);
    Value rounded = arith::BitcastOp::create(b, f32, bits);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), rounded);
    return success();
  }
};

/// Widens bfloat16 to f64 by way of f32, which is exact.
struct WidenBfloat : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Value narrow = op.getIn();
    if (!getElementTypeOrSelf(narrow.getType()).isBF16() ||
        !getElementTypeOrSelf(op.getType()).isF64())
      return rewriter.notifyMatchFailure(op, "is not from bf16 to f64");
    Type f32 = withElement(narrow.getType(), rewriter.getF32Type());
    Value wide = arith::ExtFOp::create(rewriter, op.getLoc(), f32, narrow);
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), wide);
    return success();
  }
};

/// Rounds f32 to tf32 in integers. Half of the last place that stays is added
/// to the bits, whose carry is the rounding away from zero, up to infinity. A
/// NaN keeps none of its payload, of which an mma might see nothing.
struct RoundTF32 : OpRewritePattern<tile::RoundTF32Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tile::RoundTF32Op op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value input = op.getInput();
    Type i32 = withElement(input.getType(), b.getI32Type());
    Value bits = arith::BitcastOp::create(b, i32, input);
    Value sum = arith::AddIOp::create(b, bits, createSplat(b, i32, 1 << 12));
    Value rounded =
        arith::AndIOp::create(b, sum, createSplat(b, i32, -(1 << 13)));
    Value isNaN =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, input, input);
    bits = arith::SelectOp::create(b, isNaN, createSplat(b, i32, 0x7fffffff),
                                   rounded);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

} // namespace

/// Whether the kernel computes, rather than converts, in 16-bit floats.
static bool hasHalfArithmetic(tile::KernelOp kernel) {
  auto isHalf = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16;
  };
  return kernel
      .walk([&](Operation *op) {
        if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
            isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp,
                arith::BitcastOp, arith::SelectOp>(op))
          return WalkResult::advance();
        bool any = llvm::any_of(op->getOperandTypes(), isHalf) ||
                   llvm::any_of(op->getResultTypes(), isHalf);
        return any ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Computes 16-bit floats in f32 and rounds each result.
static LogicalResult widenHalfArithmetic(tile::KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(
      converter, {Float16Type::get(context), BFloat16Type::get(context)},
      Float32Type::get(context));
  RewritePatternSet patterns(context);
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  ConversionTarget legality(*context);
  arith::populateEmulateUnsupportedFloatsLegality(legality, converter);
  if (failed(applyPartialConversion(kernel, legality, std::move(patterns))))
    return failure();
  // Upstream lets a rounding and the widening after it cancel.
  kernel.walk([](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      op->removeAttr("fastmath");
  });
  return success();
}

/// Breaks ops into ones that LLVM has, on values of any target.
static LogicalResult simplifyOps(tile::KernelOp kernel, KernelTarget target) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  vector::populateVectorMaskMaterializationPatterns(
      patterns, /*force32BitVectorIndices=*/false);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorToElementsUnrollPatterns(patterns);
  vector::populateVectorTransposeLoweringPatterns(
      patterns, vector::VectorTransposeLowering::Shuffle1D);
  if (target == KernelTarget::NVVM) {
    populateGpuShufflePatterns(patterns);
  } else {
    arith::populateExpandBFloat16Patterns(patterns);
    patterns.add<NarrowDouble, WidenBfloat, RoundTF32>(context);
  }
  return applyPatternsGreedily(
      kernel, std::move(patterns),
      GreedyRewriteConfig().setRegionSimplificationLevel(
          GreedySimplifyRegionLevel::Disabled));
}

/// Turns functions into calls of libm or libdevice, but for those that every
/// target computes exactly by instructions of its own.
static LogicalResult callLibrary(tile::KernelOp kernel, KernelTarget target) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  LLVMTypeConverter converter(context);
  ConversionTarget legality(*context);
  legality.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  legality.addIllegalDialect<math::MathDialect>();
  legality.addLegalOp<
      math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
      math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp,
      math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsInfOp,
      math::IsNaNOp, math::RoundEvenOp, math::SqrtOp, math::TruncOp>();
  if (target == KernelTarget::NVVM) {
    legality.addIllegalOp<arith::RemFOp>();
    populateLibDeviceConversionPatterns(converter, patterns);
  } else {
    legality.addLegalOp<math::RoundOp, math::RsqrtOp>();
    populateMathToLibmConversionPatterns(patterns);
  }
  return applyPartialConversion(kernel, legality, std::move(patterns));
}

LogicalResult conversion::legalizeBody(tile::KernelOp kernel,
                                       KernelTarget target) {
  if (target != KernelTarget::NVVM && hasHalfArithmetic(kernel) &&
      failed(widenHalfArithmetic(kernel)))
    return failure();
  return failure(failed(simplifyOps(kernel, target)) ||
                 failed(callLibrary(kernel, target)));
}

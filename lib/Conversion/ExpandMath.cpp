//===- ExpandMath.cpp - math ops as polynomials for the CPU ---------------===//
//
// LLVM turns a vector exponential into one call of expf a lane. Here the ops
// that matter become arith at full vector width instead, by the formulas of
// ExpandMath.h; the rest is unrolled to scalars, for which libm has functions.
// Scalars take the same formulas, so that a loop's tail equals its body.
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"
#include "fusion/Conversion/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace fusion {
#define GEN_PASS_DEF_TILEEXPANDMATH
#include "fusion/Conversion/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;

//===----------------------------------------------------------------------===//
// Shared steps
//===----------------------------------------------------------------------===//

Value fusion::horner(FormulaBuilder &b, Value x,
                     ArrayRef<double> coefficients) {
  Value sum = b.constant(x, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = b.fma(sum, x, coefficient);
  return sum;
}

Value fusion::atMost(FormulaBuilder &b, Value x, double most) {
  Value bound = b.constant(x, most);
  return b.select(b.cmp(FormulaBuilder::CmpF::OGT, x, bound), bound, x);
}

Value fusion::atLeast(FormulaBuilder &b, Value x, double least) {
  Value bound = b.constant(x, least);
  return b.select(b.cmp(FormulaBuilder::CmpF::OLT, x, bound), bound, x);
}

Value fusion::unrollLanes(FormulaBuilder &b, ValueRange vectors,
                          function_ref<Value(ValueRange)> emit) {
  auto type = cast<VectorType>(vectors.front().getType());
  SmallVector<Value> results;
  for (int64_t lane = 0; lane < type.getDimSize(0); ++lane) {
    SmallVector<Value> scalars;
    for (Value vector : vectors)
      scalars.push_back(b.create<vector::ExtractOp>(vector, lane));
    results.push_back(emit(scalars));
  }
  return b.create<vector::FromElementsOp>(type, results);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

using Unary = Value (*)(FormulaBuilder &, Value);
using Binary = Value (*)(FormulaBuilder &, Value, Value);

Value call(Unary formula, FormulaBuilder &b, ValueRange operands) {
  return formula(b, operands[0]);
}
Value call(Binary formula, FormulaBuilder &b, ValueRange operands) {
  return formula(b, operands[0], operands[1]);
}

LogicalResult checkShape(PatternRewriter &rewriter, Operation *op) {
  auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
  if (vector && (vector.getRank() != 1 || vector.isScalable()))
    return rewriter.notifyMatchFailure(op, "expects scalars or vectors of rank "
                                           "1 with a fixed length");
  return success();
}

/// Rewrites a math op on f32 by its formula.
template <typename MathOp, typename Formula>
struct ExpandFormula : OpRewritePattern<MathOp> {
  ExpandFormula(MLIRContext *context, Formula formula)
      : OpRewritePattern<MathOp>(context, /*benefit=*/2), formula(formula) {}

  LogicalResult matchAndRewrite(MathOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "only f32 has a formula");
    if (failed(checkShape(rewriter, op)))
      return failure();
    FormulaBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, call(formula, b, op->getOperands()));
    return success();
  }

  Formula formula;
};

/// Unrolls a math op on a vector into one op a lane.
template <typename MathOp> struct UnrollVector : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(MathOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<VectorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "libm has this scalar");
    if (failed(checkShape(rewriter, op)))
      return failure();
    FormulaBuilder b(rewriter, op.getLoc());
    Type element = getElementTypeOrSelf(op.getType());
    Value result =
        unrollLanes(b, op->getOperands(), [&](ValueRange lane) -> Value {
          return b.create<MathOp>(TypeRange{element}, lane);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

template <typename MathOp, typename Formula>
void addFormula(RewritePatternSet &patterns, Formula formula) {
  patterns.add(std::make_unique<ExpandFormula<MathOp, Formula>>(
      patterns.getContext(), formula));
}

void populatePatterns(RewritePatternSet &patterns) {
  addFormula<math::ExpOp>(patterns, expandExp);
  addFormula<math::Exp2Op>(patterns, expandExp2);
  addFormula<math::ExpM1Op>(patterns, expandExpM1);
  addFormula<math::TanhOp>(patterns, expandTanh);
  addFormula<math::ErfOp>(patterns, expandErf);
  addFormula<math::LogOp>(patterns, expandLog);
  addFormula<math::Log1pOp>(patterns, expandLog1p);
  addFormula<math::Log2Op>(patterns, expandLog2);
  addFormula<math::Log10Op>(patterns, expandLog10);
  addFormula<math::PowFOp>(patterns, expandPow);
  addFormula<math::SinOp>(patterns, expandSin);
  addFormula<math::CosOp>(patterns, expandCos);
  // Everything that LLVM has no vector instruction for; f64 of the above too.
  patterns.add<UnrollVector<math::AcosOp>, UnrollVector<math::AcoshOp>,
               UnrollVector<math::AsinOp>, UnrollVector<math::AsinhOp>,
               UnrollVector<math::AtanOp>, UnrollVector<math::Atan2Op>,
               UnrollVector<math::AtanhOp>, UnrollVector<math::CbrtOp>,
               UnrollVector<math::CosOp>, UnrollVector<math::CoshOp>,
               UnrollVector<math::ErfOp>, UnrollVector<math::ErfcOp>,
               UnrollVector<math::ExpOp>, UnrollVector<math::Exp2Op>,
               UnrollVector<math::ExpM1Op>, UnrollVector<math::LogOp>,
               UnrollVector<math::Log10Op>, UnrollVector<math::Log1pOp>,
               UnrollVector<math::Log2Op>, UnrollVector<math::PowFOp>,
               UnrollVector<math::SinOp>, UnrollVector<math::SinhOp>,
               UnrollVector<math::TanOp>, UnrollVector<math::TanhOp>>(
      patterns.getContext());
}

struct TileExpandMath : fusion::impl::TileExpandMathBase<TileExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populatePatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

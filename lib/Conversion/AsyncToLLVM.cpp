//===- AsyncToLLVM.cpp - asynchronous copies to shared memory -------------===//
//
// On NVVM cp.async with its groups; the emulator keeps the copies of each
// thread and performs them at its wait.
//
//===----------------------------------------------------------------------===//

#include "TileToLLVM.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::conversion;

/// NVPTX's address space of global memory.
static constexpr unsigned nvvmGlobalSpace = 1;
/// A copy of that many bytes goes past the first-level cache, which the others
/// cannot.
static constexpr int64_t uncachedBytes = 16;

namespace {
template <typename Op> struct AsyncPattern : ConvertOpToLLVMPattern<Op> {
  AsyncPattern(const LLVMTypeConverter &converter, TargetInfo target)
      : ConvertOpToLLVMPattern<Op>(converter), target(target) {}
  TargetInfo target;
};

struct AsyncCopy : AsyncPattern<tile::AsyncCopyOp> {
  using AsyncPattern::AsyncPattern;

  LogicalResult
  matchAndRewrite(tile::AsyncCopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto from = cast<MemRefType>(op.getSource().getType());
    auto to = cast<MemRefType>(op.getDestination().getType());
    Value source = createAddress(rewriter, loc, from, adaptor.getSource(),
                                 adaptor.getSourceIndex());
    Value destination = createAddress(
        rewriter, loc, to, adaptor.getDestination(), adaptor.getIndices());
    if (target.isNVVM())
      copyOnGPU(rewriter, op, source, destination, adaptor.getCondition());
    else
      copyEmulated(rewriter, op, source, destination, adaptor.getCondition());
    rewriter.eraseOp(op);
    return success();
  }

  static void copyOnGPU(OpBuilder &builder, tile::AsyncCopyOp op, Value source,
                        Value destination, Value condition) {
    Location loc = op.getLoc();
    int64_t bytes = op.getNumBytes();
    auto global = LLVM::LLVMPointerType::get(op.getContext(), nvvmGlobalSpace);
    source = LLVM::AddrSpaceCastOp::create(builder, loc, global, source);
    Value bytesToRead;
    if (condition) {
      Type i32 = builder.getI32Type();
      bytesToRead = LLVM::SelectOp::create(
          builder, loc, condition, createConstant(builder, loc, i32, bytes),
          createConstant(builder, loc, i32, 0));
    }
    NVVM::CpAsyncOp::create(builder, loc, destination, source, bytes,
                            bytes == uncachedBytes
                                ? NVVM::LoadCacheModifierKind::CG
                                : NVVM::LoadCacheModifierKind::CA,
                            bytesToRead);
  }

  static void copyEmulated(OpBuilder &builder, tile::AsyncCopyOp op,
                           Value source, Value destination, Value condition) {
    Location loc = op.getLoc();
    Type i32 = builder.getI32Type();
    Value bytes = createConstant(builder, loc, i32, op.getNumBytes());
    Value isRead = condition
                       ? LLVM::ZExtOp::create(builder, loc, i32, condition)
                       : createConstant(builder, loc, i32, 1);
    callEmulator(builder, op, "fusion_emu_async_copy",
                 {destination, source, bytes, isRead});
  }
};

struct AsyncCommit : AsyncPattern<tile::AsyncCommitOp> {
  using AsyncPattern::AsyncPattern;

  LogicalResult
  matchAndRewrite(tile::AsyncCommitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (target.isNVVM())
      NVVM::CpAsyncCommitGroupOp::create(rewriter, op.getLoc());
    else
      callEmulator(rewriter, op, "fusion_emu_async_commit", {});
    rewriter.eraseOp(op);
    return success();
  }
};

struct AsyncWait : AsyncPattern<tile::AsyncWaitOp> {
  using AsyncPattern::AsyncPattern;

  LogicalResult
  matchAndRewrite(tile::AsyncWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto pending = static_cast<int32_t>(op.getPending());
    if (target.isNVVM())
      NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, pending);
    else
      callEmulator(
          rewriter, op, "fusion_emu_async_wait",
          createConstant(rewriter, loc, rewriter.getI32Type(), pending));
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void conversion::populateAsyncPatterns(const LLVMTypeConverter &converter,
                                       TargetInfo target,
                                       RewritePatternSet &patterns) {
  if (!target.isCPU())
    patterns.add<AsyncCopy, AsyncCommit, AsyncWait>(converter, target);
}

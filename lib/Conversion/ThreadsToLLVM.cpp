//===- ThreadsToLLVM.cpp - blocks and threads without a GPU ---------------===//
//
// Ids, barriers, shuffles and shared buffers. On the CPU a block has one
// thread, so that all but the block's number vanish; the emulator is called. On
// NVVM only shared buffers are ours, the rest is upstream's.
//
//===----------------------------------------------------------------------===//

#include "TileToLLVM.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::conversion;

//===----------------------------------------------------------------------===//
// The emulator's functions
//===----------------------------------------------------------------------===//

void conversion::declareEmulatorRuntime(ModuleOp module) {
  OpBuilder b(module.getContext());
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type none = LLVM::LLVMVoidType::get(b.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto declare = [&](StringRef name, ArrayRef<Type> arguments, Type result) {
    (void)LLVM::lookupOrCreateFn(b, module, name, arguments, result);
  };
  declare("fusion_emu_access", {ptr, ptr, i64, i32}, none);
  declare("fusion_emu_shared", {ptr, i64}, ptr);
  declare("fusion_emu_barrier", {ptr, i32}, none);
  declare("fusion_emu_shuffle", {ptr, i64, i32, i32, i32, i32}, i64);
  declare("fusion_emu_mma", {ptr, ptr, ptr, ptr, i32, i32}, none);
  declare("fusion_emu_load_matrix", {ptr, ptr, ptr, i32, i32, i32}, none);
  declare("fusion_emu_async_copy", {ptr, ptr, ptr, i32, i32}, none);
  declare("fusion_emu_async_commit", {ptr}, none);
  declare("fusion_emu_async_wait", {ptr, i32}, none);
  declare("fusion_emu_block_id", {ptr}, i64);
  declare("fusion_emu_thread_id", {ptr}, i64);
}

/// The last argument of the function around `op`, which its ABI adds.
static Value getExtraArgument(Operation *op) {
  return op->getParentOfType<LLVM::LLVMFuncOp>().getArguments().back();
}

Value conversion::callEmulator(OpBuilder &builder, Operation *op,
                               StringRef name, ValueRange arguments,
                               Type result) {
  SmallVector<Value> all = {getExtraArgument(op)};
  llvm::append_range(all, arguments);
  auto call =
      LLVM::CallOp::create(builder, op->getLoc(),
                           result ? TypeRange(result) : TypeRange(), name, all);
  return result ? call.getResult() : Value();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// A block is a line of threads in a line of blocks.
static LogicalResult checkDimension(Operation *op, gpu::Dimension dimension,
                                    PatternRewriter &rewriter) {
  if (dimension == gpu::Dimension::x)
    return success();
  return rewriter.notifyMatchFailure(op, "blocks have dimension x only");
}

namespace {
template <typename Op> struct ThreadPattern : ConvertOpToLLVMPattern<Op> {
  ThreadPattern(const LLVMTypeConverter &converter, TargetInfo target)
      : ConvertOpToLLVMPattern<Op>(converter), target(target) {}
  TargetInfo target;
};

struct BlockId : ThreadPattern<gpu::BlockIdOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(gpu::BlockIdOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(checkDimension(op, op.getDimension(), rewriter)))
      return failure();
    rewriter.replaceOp(
        op, target.isCPU() ? getExtraArgument(op)
                           : callEmulator(rewriter, op, "fusion_emu_block_id",
                                          {}, rewriter.getI64Type()));
    return success();
  }
};

struct ThreadId : ThreadPattern<gpu::ThreadIdOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(gpu::ThreadIdOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(checkDimension(op, op.getDimension(), rewriter)))
      return failure();
    Type i64 = rewriter.getI64Type();
    rewriter.replaceOp(
        op, target.isCPU()
                ? createConstant(rewriter, op.getLoc(), i64, 0)
                : callEmulator(rewriter, op, "fusion_emu_thread_id", {}, i64));
    return success();
  }
};

struct Barrier : ThreadPattern<gpu::BarrierOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(gpu::BarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (target.isEmulator()) {
      auto site = op->getAttrOfType<IntegerAttr>(siteAttrName);
      Value number = LLVM::ConstantOp::create(rewriter, op.getLoc(), site);
      callEmulator(rewriter, op, "fusion_emu_barrier", number);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// One thread only ever meets itself.
struct ShuffleAlone : ConvertOpToLLVMPattern<gpu::ShuffleOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value isValid =
        createConstant(rewriter, op.getLoc(), rewriter.getI1Type(), 1);
    rewriter.replaceOp(op, {adaptor.getValue(), isValid});
    return success();
  }
};

struct ShuffleEmulated : ConvertOpToLLVMPattern<gpu::ShuffleOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  /// The emulator's number of a mode.
  static int32_t getMode(gpu::ShuffleMode mode) {
    switch (mode) {
    case gpu::ShuffleMode::XOR:
      return 0;
    case gpu::ShuffleMode::UP:
      return 1;
    case gpu::ShuffleMode::DOWN:
      return 2;
    case gpu::ShuffleMode::IDX:
      return 3;
    }
    llvm_unreachable("all modes are covered");
  }

  /// Whether the lane's source lies in its segment.
  static Value isValid(OpBuilder &b, gpu::ShuffleOp op, OpAdaptor adaptor) {
    Location loc = op.getLoc();
    Type i32 = b.getI32Type();
    if (op.getMode() == gpu::ShuffleMode::XOR ||
        op.getMode() == gpu::ShuffleMode::IDX)
      return createConstant(b, loc, b.getI1Type(), 1);
    Value thread =
        callEmulator(b, op, "fusion_emu_thread_id", {}, b.getI64Type());
    thread = LLVM::TruncOp::create(b, loc, i32, thread);
    Value last = LLVM::SubOp::create(b, loc, adaptor.getWidth(),
                                     createConstant(b, loc, i32, 1));
    Value lane = LLVM::AndOp::create(b, loc, thread, last);
    if (op.getMode() == gpu::ShuffleMode::UP)
      return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sge, lane,
                                  adaptor.getOffset());
    Value source = LLVM::AddOp::create(b, loc, lane, adaptor.getOffset());
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sle, source, last);
  }

  LogicalResult
  matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = adaptor.getValue().getType();
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
      return rewriter.notifyMatchFailure(op, "value is wider than 64 bits");
    Location loc = op.getLoc();
    Type i64 = rewriter.getI64Type();
    bool isNarrow = type.getIntOrFloatBitWidth() < 64;
    Type integer = rewriter.getIntegerType(type.getIntOrFloatBitWidth());

    Value bits = rewriter.createOrFold<LLVM::BitcastOp>(loc, integer,
                                                        adaptor.getValue());
    if (isNarrow)
      bits = LLVM::ZExtOp::create(rewriter, loc, i64, bits);
    Value mode = createConstant(rewriter, loc, rewriter.getI32Type(),
                                getMode(op.getMode()));
    Value site = LLVM::ConstantOp::create(
        rewriter, loc, op->getAttrOfType<IntegerAttr>(siteAttrName));
    bits = callEmulator(
        rewriter, op, "fusion_emu_shuffle",
        {bits, mode, adaptor.getOffset(), adaptor.getWidth(), site}, i64);
    if (isNarrow)
      bits = LLVM::TruncOp::create(rewriter, loc, integer, bits);
    Value result = rewriter.createOrFold<LLVM::BitcastOp>(loc, type, bits);
    rewriter.replaceOp(op, {result, isValid(rewriter, op, adaptor)});
    return success();
  }
};

/// Shared buffers: places of the dynamic shared memory on NVVM, which has no
/// limit of 48 KiB; of the emulator's block; scratch of the one thread.
struct Shared : ThreadPattern<tile::SharedOp> {
  using ThreadPattern::ThreadPattern;

  /// The symbol of the block's dynamic shared memory.
  static LLVM::GlobalOp getDynamicShared(OpBuilder &builder, Operation *op) {
    constexpr StringLiteral name = "fusion_shared";
    auto module = op->getParentOfType<ModuleOp>();
    if (auto global = module.lookupSymbol<LLVM::GlobalOp>(name))
      return global;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    return LLVM::GlobalOp::create(builder, module.getLoc(), type,
                                  /*isConstant=*/false, LLVM::Linkage::External,
                                  name, /*value=*/Attribute(),
                                  /*alignment=*/128, /*addrSpace=*/3);
  }

  LogicalResult
  matchAndRewrite(tile::SharedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getBuffer().getType());
    auto offset = op->getAttrOfType<IntegerAttr>(offsetAttrName);
    Type pointer = getTypeConverter()->convertType(type);
    if (target.isNVVM()) {
      Value base = LLVM::AddressOfOp::create(rewriter, loc,
                                             getDynamicShared(rewriter, op));
      rewriter.replaceOpWithNewOp<LLVM::GEPOp>(
          op, pointer, rewriter.getI8Type(), base,
          LLVM::GEPArg(static_cast<int32_t>(offset.getInt())));
    } else if (target.isEmulator()) {
      Value start = LLVM::ConstantOp::create(rewriter, loc, offset);
      rewriter.replaceOp(
          op, callEmulator(rewriter, op, "fusion_emu_shared", start, pointer));
    } else {
      Value scratch = op->getParentOfType<LLVM::LLVMFuncOp>()
                          .getArguments()
                          .drop_back()
                          .back();
      rewriter.replaceOpWithNewOp<LLVM::GEPOp>(
          op, pointer, rewriter.getI8Type(), scratch,
          LLVM::GEPArg(static_cast<int32_t>(offset.getInt())));
    }
    return success();
  }
};
} // namespace

void conversion::populateThreadPatterns(const LLVMTypeConverter &converter,
                                        TargetInfo target,
                                        RewritePatternSet &patterns) {
  patterns.add<Shared>(converter, target);
  if (target.isNVVM())
    return;
  patterns.add<BlockId, ThreadId, Barrier>(converter, target);
  if (target.isCPU())
    patterns.add<ShuffleAlone>(converter);
  else
    patterns.add<ShuffleEmulated>(converter);
}

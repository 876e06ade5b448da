//===- MemoryToLLVM.cpp - accesses to buffers become loads and stores -----===//
//
// A buffer is a bare pointer: flat ones come in as arguments, shared and
// scratch ones have a static shape whose strides fold into the address. An
// access is aligned to its element unless it says more, since a view may start
// anywhere. For the emulator, each access to memory that others see is
// announced first.
//
//===----------------------------------------------------------------------===//

#include "TileToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::conversion;

/// NVPTX's address space of shared memory.
static constexpr unsigned nvvmSharedSpace = 3;
/// The most that alignment of scratch memory can gain: a vector register.
static constexpr int64_t scratchAlignment = 64;

static bool isShared(MemRefType type) {
  return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type);
}

/// Scratch memory is the thread's own: static, in no address space.
static bool isScratch(MemRefType type) {
  return type.hasStaticShape() && !isShared(type);
}

static int64_t getElementBytes(Type type) {
  return llvm::divideCeil(getElementTypeOrSelf(type).getIntOrFloatBitWidth(),
                          8);
}

void conversion::addTypeConversions(LLVMTypeConverter &converter,
                                    TargetInfo target) {
  converter.addConversion([target](MemRefType type) -> std::optional<Type> {
    bool isNvvmShared = target.isNVVM() && isShared(type);
    return LLVM::LLVMPointerType::get(type.getContext(),
                                      isNvvmShared ? nvvmSharedSpace : 0);
  });
  if (target.isNVVM())
    return;
  // LLVM would take vectors of bfloat16 apart, lane by lane, on most CPUs. All
  // arithmetic on them is in f32 by now.
  converter.addConversion([](BFloat16Type type) -> std::optional<Type> {
    return IntegerType::get(type.getContext(), 16);
  });
  converter.addConversion([](VectorType type) -> std::optional<Type> {
    if (!type.getElementType().isBF16() || type.getRank() != 1)
      return std::nullopt;
    return type.clone(IntegerType::get(type.getContext(), 16));
  });
}

Value conversion::createConstant(OpBuilder &builder, Location loc, Type type,
                                 int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, type,
                                  builder.getIntegerAttr(type, value));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Position of the element at `indices` in a buffer of type `type`. Only a
/// flat buffer may have a dynamic size.
static Value linearize(OpBuilder &builder, Location loc, MemRefType type,
                       ValueRange indices) {
  auto noWrap = LLVM::IntegerOverflowFlags::nsw;
  Value position;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (!position) {
      position = index;
      continue;
    }
    Value size =
        createConstant(builder, loc, index.getType(), type.getDimSize(dim));
    position = LLVM::MulOp::create(builder, loc, position, size, noWrap);
    position = LLVM::AddOp::create(builder, loc, position, index, noWrap);
  }
  return position;
}

Value conversion::createAddress(OpBuilder &builder, Location loc,
                                MemRefType type, Value base,
                                ValueRange indices) {
  if (indices.empty())
    return base;
  return LLVM::GEPOp::create(
      builder, loc, base.getType(), type.getElementType(), base,
      linearize(builder, loc, type, indices), LLVM::GEPNoWrapFlags::inbounds);
}

//===----------------------------------------------------------------------===//
// Announcements to the emulator
//===----------------------------------------------------------------------===//

namespace {
/// Base of the patterns of one memory op.
template <typename Op> struct AccessPattern : ConvertOpToLLVMPattern<Op> {
  AccessPattern(const LLVMTypeConverter &converter, TargetInfo target)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10), target(target) {}

  /// What an access may rely on, in bytes.
  static int64_t getAlignment(Op op, MemRefType type) {
    return op.getAlignment().value_or(getElementBytes(type));
  }

  /// Whether the emulator wants to know of accesses to a buffer.
  bool isWatched(MemRefType type) const {
    return target.isEmulator() && !isScratch(type);
  }

  /// Tells the emulator that `op` is about to touch `bytes` at `address`.
  void announce(OpBuilder &builder, Op op, MemRefType type, Value address,
                Value bytes, int64_t alignment, bool isWrite) const {
    int32_t kind = isWrite | isShared(type) << 1 |
                   static_cast<int32_t>(llvm::Log2_64(alignment)) << 8;
    Value kindValue =
        createConstant(builder, op->getLoc(), builder.getI32Type(), kind);
    callEmulator(builder, op, "fusion_emu_access", {address, bytes, kindValue});
  }

  void announce(OpBuilder &builder, Op op, MemRefType type, Value address,
                int64_t bytes, bool isWrite) const {
    if (!isWatched(type))
      return;
    announce(builder, op, type, address,
             createConstant(builder, op.getLoc(), builder.getI64Type(), bytes),
             getAlignment(op, type), isWrite);
  }

  /// Announces the lanes of a masked access one by one, `addressOf(lane)` being
  /// where each goes; a lane that is off touches no bytes.
  void announceLanes(OpBuilder &builder, Op op, MemRefType type, Value mask,
                     function_ref<Value(Value lane)> addressOf,
                     bool isWrite) const {
    if (!isWatched(type))
      return;
    Location loc = op.getLoc();
    Type i64 = builder.getI64Type();
    Value all = createConstant(builder, loc, i64, getElementBytes(type));
    Value none = createConstant(builder, loc, i64, 0);
    int64_t lanes = cast<VectorType>(mask.getType()).getNumElements();
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value number = createConstant(builder, loc, i64, lane);
      Value isOn = LLVM::ExtractElementOp::create(builder, loc, mask, number);
      Value bytes = LLVM::SelectOp::create(builder, loc, isOn, all, none);
      announce(builder, op, type, addressOf(number), bytes,
               getElementBytes(type), isWrite);
    }
  }

  TargetInfo target;
};

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

struct ScalarLoad : AccessPattern<memref::LoadOp> {
  using AccessPattern::AccessPattern;

  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    Value address = createAddress(rewriter, op.getLoc(), type,
                                  adaptor.getMemref(), adaptor.getIndices());
    announce(rewriter, op, type, address, getElementBytes(type),
             /*isWrite=*/false);
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(
        op, getTypeConverter()->convertType(type.getElementType()), address,
        getAlignment(op, type),
        /*isVolatile=*/false, op.getNontemporal());
    return success();
  }
};

struct ScalarStore : AccessPattern<memref::StoreOp> {
  using AccessPattern::AccessPattern;

  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    Value address = createAddress(rewriter, op.getLoc(), type,
                                  adaptor.getMemref(), adaptor.getIndices());
    announce(rewriter, op, type, address, getElementBytes(type),
             /*isWrite=*/true);
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(
        op, adaptor.getValue(), address, getAlignment(op, type),
        /*isVolatile=*/false, op.getNontemporal());
    return success();
  }
};

/// Why a vector access has no plain form, or success. Vectors of bool are
/// packed by LLVM, buffers of them are not.
static LogicalResult checkVector(Operation *op, VectorType type,
                                 PatternRewriter &rewriter) {
  if (type.getRank() > 1 || type.isScalable())
    return rewriter.notifyMatchFailure(op, "vector has several dimensions");
  if (type.getElementType().isInteger(1))
    return rewriter.notifyMatchFailure(op, "bool in memory takes a byte");
  return success();
}

struct VectorLoad : AccessPattern<vector::LoadOp> {
  using AccessPattern::AccessPattern;

  LogicalResult
  matchAndRewrite(vector::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    VectorType vector = op.getVectorType();
    if (failed(checkVector(op, vector, rewriter)))
      return failure();
    Value address = createAddress(rewriter, op.getLoc(), type,
                                  adaptor.getBase(), adaptor.getIndices());
    announce(rewriter, op, type, address,
             vector.getNumElements() * getElementBytes(type),
             /*isWrite=*/false);
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(
        op, getTypeConverter()->convertType(vector), address,
        getAlignment(op, type), /*isVolatile=*/false, op.getNontemporal());
    return success();
  }
};

struct VectorStore : AccessPattern<vector::StoreOp> {
  using AccessPattern::AccessPattern;

  LogicalResult
  matchAndRewrite(vector::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    VectorType vector = op.getVectorType();
    if (failed(checkVector(op, vector, rewriter)))
      return failure();
    Value address = createAddress(rewriter, op.getLoc(), type,
                                  adaptor.getBase(), adaptor.getIndices());
    announce(rewriter, op, type, address,
             vector.getNumElements() * getElementBytes(type),
             /*isWrite=*/true);
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(
        op, adaptor.getValueToStore(), address, getAlignment(op, type),
        /*isVolatile=*/false, op.getNontemporal());
    return success();
  }
};

struct MaskedLoad : AccessPattern<vector::MaskedLoadOp> {
  using AccessPattern::AccessPattern;

  LogicalResult
  matchAndRewrite(vector::MaskedLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (failed(checkVector(op, op.getVectorType(), rewriter)))
      return failure();
    Location loc = op.getLoc();
    Value address = createAddress(rewriter, loc, type, adaptor.getBase(),
                                  adaptor.getIndices());
    auto addressOf = [&](Value lane) {
      return createAddress(rewriter, loc, type, address, lane);
    };
    announceLanes(rewriter, op, type, adaptor.getMask(), addressOf,
                  /*isWrite=*/false);
    rewriter.replaceOpWithNewOp<LLVM::MaskedLoadOp>(
        op, adaptor.getPassThru().getType(), address, adaptor.getMask(),
        adaptor.getPassThru(), getAlignment(op, type));
    return success();
  }
};

struct MaskedStore : AccessPattern<vector::MaskedStoreOp> {
  using AccessPattern::AccessPattern;

  LogicalResult
  matchAndRewrite(vector::MaskedStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (failed(checkVector(op, op.getVectorType(), rewriter)))
      return failure();
    Location loc = op.getLoc();
    Value address = createAddress(rewriter, loc, type, adaptor.getBase(),
                                  adaptor.getIndices());
    auto addressOf = [&](Value lane) {
      return createAddress(rewriter, loc, type, address, lane);
    };
    announceLanes(rewriter, op, type, adaptor.getMask(), addressOf,
                  /*isWrite=*/true);
    rewriter.replaceOpWithNewOp<LLVM::MaskedStoreOp>(
        op, adaptor.getValueToStore(), address, adaptor.getMask(),
        getAlignment(op, type));
    return success();
  }
};

/// The pointers of a gather or scatter, one a lane.
static Value createLaneAddresses(OpBuilder &builder, Location loc,
                                 MemRefType type, Value base,
                                 ValueRange offsets, Value indices) {
  Value origin = createAddress(builder, loc, type, base, offsets);
  auto lanes = cast<VectorType>(indices.getType());
  auto pointers = VectorType::get(lanes.getShape(), base.getType());
  return LLVM::GEPOp::create(builder, loc, pointers, type.getElementType(),
                             origin, indices, LLVM::GEPNoWrapFlags::inbounds);
}

struct Gather : AccessPattern<vector::GatherOp> {
  using AccessPattern::AccessPattern;

  LogicalResult
  matchAndRewrite(vector::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<MemRefType>(op.getBaseType());
    if (!type || failed(checkVector(op, op.getVectorType(), rewriter)))
      return rewriter.notifyMatchFailure(op, "is not from a buffer");
    Location loc = op.getLoc();
    Value pointers =
        createLaneAddresses(rewriter, loc, type, adaptor.getBase(),
                            adaptor.getOffsets(), adaptor.getIndices());
    auto addressOf = [&](Value lane) -> Value {
      return LLVM::ExtractElementOp::create(rewriter, loc, pointers, lane);
    };
    announceLanes(rewriter, op, type, adaptor.getMask(), addressOf,
                  /*isWrite=*/false);
    rewriter.replaceOpWithNewOp<LLVM::masked_gather>(
        op, adaptor.getPassThru().getType(), pointers, adaptor.getMask(),
        adaptor.getPassThru(),
        rewriter.getI32IntegerAttr(getAlignment(op, type)));
    return success();
  }
};

struct Scatter : AccessPattern<vector::ScatterOp> {
  using AccessPattern::AccessPattern;

  LogicalResult
  matchAndRewrite(vector::ScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<MemRefType>(op.getBaseType());
    if (!type || failed(checkVector(op, op.getVectorType(), rewriter)))
      return rewriter.notifyMatchFailure(op, "is not to a buffer");
    Location loc = op.getLoc();
    Value pointers =
        createLaneAddresses(rewriter, loc, type, adaptor.getBase(),
                            adaptor.getOffsets(), adaptor.getIndices());
    auto addressOf = [&](Value lane) -> Value {
      return LLVM::ExtractElementOp::create(rewriter, loc, pointers, lane);
    };
    announceLanes(rewriter, op, type, adaptor.getMask(), addressOf,
                  /*isWrite=*/true);
    rewriter.replaceOpWithNewOp<LLVM::masked_scatter>(
        op, adaptor.getValueToStore(), pointers, adaptor.getMask(),
        rewriter.getI32IntegerAttr(getAlignment(op, type)));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Scratch memory, constants and hints
//===----------------------------------------------------------------------===//

/// Scratch memory lives as long as the function, so that it is a place on the
/// stack, even when the op stands in a loop.
struct Alloca : ConvertOpToLLVMPattern<memref::AllocaOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::AllocaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getType();
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "scratch memory has a fixed size");
    auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
    rewriter.setInsertionPointToStart(&function.getBody().front());
    Value one = createConstant(rewriter, op.getLoc(), rewriter.getI64Type(), 1);
    auto array =
        LLVM::LLVMArrayType::get(type.getElementType(), type.getNumElements());
    Value scratch = LLVM::AllocaOp::create(
        rewriter, op.getLoc(), getTypeConverter()->convertType(type), array,
        one, op.getAlignment().value_or(scratchAlignment));
    rewriter.replaceOp(op, scratch);
    return success();
  }
};

/// A constant of bfloat16 where that is an integer.
struct BfloatConstant : ConvertOpToLLVMPattern<arith::ConstantOp> {
  explicit BfloatConstant(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16())
      return rewriter.notifyMatchFailure(op, "is not of bfloat16");
    Attribute bits;
    if (auto value = dyn_cast<FloatAttr>(op.getValue()))
      bits = rewriter.getIntegerAttr(rewriter.getI16Type(),
                                     value.getValue().bitcastToAPInt());
    else if (auto values = dyn_cast<DenseElementsAttr>(op.getValue()))
      bits = values.bitcast(rewriter.getI16Type());
    else
      return rewriter.notifyMatchFailure(op, "is neither scalar nor dense");
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(
        op, getTypeConverter()->convertType(op.getType()),
        cast<TypedAttr>(bits));
    return success();
  }
};

/// A prefetch is a hint: a GPU has enough threads to do without, and it may
/// point past the end, so that the emulator must not see it.
struct Prefetch : ConvertOpToLLVMPattern<memref::PrefetchOp> {
  Prefetch(const LLVMTypeConverter &converter, TargetInfo target)
      : ConvertOpToLLVMPattern(converter), target(target) {}

  LogicalResult
  matchAndRewrite(memref::PrefetchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!target.isCPU()) {
      rewriter.eraseOp(op);
      return success();
    }
    MemRefType type = op.getMemRefType();
    Value base = adaptor.getMemref();
    Value address = LLVM::GEPOp::create(
        rewriter, op.getLoc(), base.getType(), type.getElementType(), base,
        linearize(rewriter, op.getLoc(), type, adaptor.getIndices()));
    rewriter.replaceOpWithNewOp<LLVM::Prefetch>(
        op, address, rewriter.getI32IntegerAttr(op.getIsWrite()),
        op.getLocalityHintAttr(),
        rewriter.getI32IntegerAttr(op.getIsDataCache()));
    return success();
  }

  TargetInfo target;
};

} // namespace

void conversion::populateMemoryPatterns(const LLVMTypeConverter &converter,
                                        TargetInfo target,
                                        RewritePatternSet &patterns) {
  patterns.add<ScalarLoad, ScalarStore, VectorLoad, VectorStore, MaskedLoad,
               MaskedStore, Gather, Scatter, Prefetch>(converter, target);
  patterns.add<Alloca>(converter);
  if (!target.isNVVM())
    patterns.add<BfloatConstant>(converter);
}

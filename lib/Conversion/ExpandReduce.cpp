//===- ExpandReduce.cpp - reductions over threads written out -------------===//
//
// Turns tile.reduce into warp shuffles, with shared memory above one warp. A
// butterfly gives every lane the result of the same tree of combinations, so
// nothing has to be broadcast and runs are reproducible; atomics would be
// neither. Values travel as 32-bit words, the one width that every shuffle has.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/Passes.h"
#include "fusion/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace fusion {
#define GEN_PASS_DEF_TILEEXPANDREDUCE
#include "fusion/Conversion/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using tile::warpSize;

//===----------------------------------------------------------------------===//
// Values as 32-bit words
//===----------------------------------------------------------------------===//

/// The integer or float type that carries a scalar of type `type`: an index is
/// as wide as the kernel's.
static Type getCarrier(Type type, unsigned indexBits) {
  return type.isIndex() ? IntegerType::get(type.getContext(), indexBits) : type;
}

/// How values of 64 bits travel: shuffles move 32-bit words. Memory takes them
/// whole, also because ptxas 13 reads a store of the low word of a register
/// that holds an f64 as a conversion of the f64 to an integer.
enum class Wide { Split, Whole };

/// Appends the words of the scalar `value`, low half first.
static void packScalar(ImplicitLocOpBuilder &b, Value value, unsigned indexBits,
                       Wide wide, SmallVectorImpl<Value> &words) {
  Type carrier = getCarrier(value.getType(), indexBits);
  unsigned width = carrier.getIntOrFloatBitWidth();
  Type i32 = b.getI32Type();
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, carrier, value);
  else if (isa<FloatType>(carrier))
    value = arith::BitcastOp::create(b, b.getIntegerType(width), value);

  if (width < 32) {
    words.push_back(arith::ExtUIOp::create(b, i32, value));
  } else if (width == 32 || wide == Wide::Whole) {
    words.push_back(value);
  } else {
    Value shift = arith::ConstantIntOp::create(b, value.getType(), 32);
    Value high = arith::ShRUIOp::create(b, value, shift);
    words.push_back(arith::TruncIOp::create(b, i32, value));
    words.push_back(arith::TruncIOp::create(b, i32, high));
  }
}

/// Inverse of packScalar; takes its words off the front of `words`.
static Value unpackScalar(ImplicitLocOpBuilder &b, Type type,
                          unsigned indexBits, ArrayRef<Value> &words) {
  Type carrier = getCarrier(type, indexBits);
  unsigned width = carrier.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  Value value = words.front();
  bool split = width > 32 && value.getType() != integer;
  if (width < 32) {
    value = arith::TruncIOp::create(b, integer, value);
  } else if (split) {
    Value shift = arith::ConstantIntOp::create(b, integer, 32);
    Value low = arith::ExtUIOp::create(b, integer, words[0]);
    Value high = arith::ExtUIOp::create(b, integer, words[1]);
    high = arith::ShLIOp::create(b, high, shift);
    value = arith::OrIOp::create(b, high, low);
  }
  words = words.drop_front(split ? 2 : 1);

  if (type.isIndex())
    return arith::IndexCastOp::create(b, type, value);
  if (isa<FloatType>(type))
    return arith::BitcastOp::create(b, type, value);
  return value;
}

/// The words of scalars and vectors of rank 1.
static SmallVector<Value> pack(ImplicitLocOpBuilder &b, ValueRange values,
                               unsigned indexBits, Wide wide) {
  SmallVector<Value> words;
  for (Value value : values) {
    auto vector = dyn_cast<VectorType>(value.getType());
    if (!vector) {
      packScalar(b, value, indexBits, wide, words);
      continue;
    }
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane)
      packScalar(b, vector::ExtractOp::create(b, value, lane), indexBits, wide,
                 words);
  }
  return words;
}

/// Inverse of pack.
static SmallVector<Value> unpack(ImplicitLocOpBuilder &b, TypeRange types,
                                 unsigned indexBits, ArrayRef<Value> words) {
  SmallVector<Value> values;
  for (Type type : types) {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector) {
      values.push_back(unpackScalar(b, type, indexBits, words));
      continue;
    }
    SmallVector<Value> lanes;
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane)
      lanes.push_back(
          unpackScalar(b, vector.getElementType(), indexBits, words));
    values.push_back(vector::FromElementsOp::create(b, vector, lanes));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// A copy of the region of `reduce` that combines `left` with `right`.
static SmallVector<Value> combine(ImplicitLocOpBuilder &b,
                                  tile::ReduceOp reduce, ValueRange left,
                                  ValueRange right) {
  Block &body = reduce.getCombiner().front();
  IRMapping mapping;
  mapping.map(body.getArguments().take_front(left.size()), left);
  mapping.map(body.getArguments().take_back(right.size()), right);
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> result;
  for (Value value : body.getTerminator()->getOperands())
    result.push_back(mapping.lookupOrDefault(value));
  return result;
}

/// Reduces each aligned run of `width` lanes of a warp. All of the warp's
/// `lanes` lanes take part in the shuffles, as the hardware asks.
static SmallVector<Value> reduceLanes(ImplicitLocOpBuilder &b,
                                      tile::ReduceOp reduce,
                                      SmallVector<Value> values, int64_t width,
                                      int64_t lanes, unsigned indexBits) {
  if (width == 1)
    return values;
  Value numLanes = arith::ConstantIntOp::create(b, b.getI32Type(), lanes);
  for (int64_t distance = 1; distance < width; distance *= 2) {
    Value offset = arith::ConstantIntOp::create(b, b.getI32Type(), distance);
    SmallVector<Value> words = pack(b, values, indexBits, Wide::Split);
    for (Value &word : words)
      word = gpu::ShuffleOp::create(b, word, offset, numLanes,
                                    gpu::ShuffleMode::XOR)
                 .getShuffleResult();
    SmallVector<Value> others =
        unpack(b, ValueRange(values).getTypes(), indexBits, words);
    values = combine(b, reduce, values, others);
  }
  return values;
}

/// A shared buffer of a word for each of the block's warps.
static Value createShared(tile::ReduceOp reduce, Type word, int64_t numWarps) {
  auto kernel = reduce->getParentOfType<tile::KernelOp>();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto space = gpu::AddressSpaceAttr::get(
      builder.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  auto type =
      MemRefType::get({numWarps}, word, MemRefLayoutAttrInterface(), space);
  return tile::SharedOp::create(builder, reduce.getLoc(), type);
}

/// Reduces over `width` threads, more than a warp: `values` are those of the
/// thread's warp already. Each warp leaves its values in shared memory, lane i
/// of every warp takes those of warp i of its run, and a second butterfly
/// combines them.
static SmallVector<Value> reduceWarps(ImplicitLocOpBuilder &b,
                                      tile::ReduceOp reduce,
                                      SmallVector<Value> values,
                                      unsigned indexBits) {
  auto kernel = reduce->getParentOfType<tile::KernelOp>();
  int64_t width = reduce.getWidth();
  int64_t runWarps = width / warpSize;
  int64_t numWarps = kernel.getThreads() / warpSize;
  SmallVector<Value> words = pack(b, values, indexBits, Wide::Whole);
  SmallVector<Value> buffers;
  for (Value word : words)
    buffers.push_back(createShared(reduce, word.getType(), numWarps));

  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value zero = constant(0), five = constant(llvm::Log2_64(warpSize));
  Value warp = arith::ShRUIOp::create(b, thread, five);
  Value lane = arith::AndIOp::create(b, thread, constant(warpSize - 1));

  // In a loop a fast warp might overwrite what a slow one has yet to read.
  if (reduce->getParentOp() != kernel.getOperation())
    gpu::BarrierOp::create(b);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, zero);
  scf::IfOp::create(b, isFirst, [&](OpBuilder &builder, Location loc) {
    for (auto [buffer, word] : llvm::zip_equal(buffers, words))
      memref::StoreOp::create(builder, loc, word, buffer, warp);
    scf::YieldOp::create(builder, loc);
  });
  gpu::BarrierOp::create(b);

  Value first = arith::AndIOp::create(b, warp, constant(-runWarps));
  Value slot = arith::AndIOp::create(b, lane, constant(runWarps - 1));
  slot = arith::AddIOp::create(b, first, slot);
  for (auto [buffer, word] : llvm::zip_equal(buffers, words))
    word = memref::LoadOp::create(b, buffer, slot);
  values = unpack(b, ValueRange(values).getTypes(), indexBits, words);
  return reduceLanes(b, reduce, std::move(values), runWarps, warpSize,
                     indexBits);
}

/// Whether a value of `type` can be cut into words.
static bool isSupported(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.getRank() != 1 || vector.isScalable())
      return false;
    type = vector.getElementType();
  }
  return type.isIndex() || (type.isIntOrFloat() &&
                            llvm::isPowerOf2_64(type.getIntOrFloatBitWidth()) &&
                            type.getIntOrFloatBitWidth() <= 64);
}

static LogicalResult expand(tile::ReduceOp reduce) {
  auto kernel = reduce->getParentOfType<tile::KernelOp>();
  int64_t threads = kernel.getThreads(), width = reduce.getWidth();
  for (Type type : reduce.getInputs().getTypes())
    if (!isSupported(type))
      return reduce.emitOpError("cannot pass a value of type ")
             << type << " between threads; use index, integers and floats of "
             << "up to 64 bits, or vectors of rank 1 of these";
  if (width > 1 && threads % warpSize != 0 && !llvm::isPowerOf2_64(threads))
    return reduce.emitOpError("needs whole warps: the kernel's threads must be "
                              "a multiple of 32 or a power of two, but are ")
           << threads;

  ImplicitLocOpBuilder b(reduce.getLoc(), reduce);
  unsigned indexBits = kernel.getIndexBits();
  SmallVector<Value> values = reduceLanes(
      b, reduce, SmallVector<Value>(reduce.getInputs()),
      std::min(width, warpSize), std::min(threads, warpSize), indexBits);
  if (width > warpSize)
    values = reduceWarps(b, reduce, std::move(values), indexBits);
  reduce.replaceAllUsesWith(values);
  reduce.erase();
  return success();
}

namespace {
struct TileExpandReduce : fusion::impl::TileExpandReduceBase<TileExpandReduce> {
  void runOnOperation() override {
    SmallVector<tile::ReduceOp> reductions;
    getOperation().walk(
        [&](tile::ReduceOp reduce) { reductions.push_back(reduce); });
    for (tile::ReduceOp reduce : reductions) {
      if (failed(expand(reduce)))
        return signalPassFailure();
      ++numExpanded;
    }
  }
};
} // namespace

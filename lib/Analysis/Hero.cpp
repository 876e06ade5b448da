//===- Hero.cpp - what a reduction or contraction reads -------------------===//

#include "fusion/Analysis/Hero.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fusion {

using DimsOf = llvm::function_ref<ArrayRef<AffineExpr>(Value)>;

bool isHero(Operation *op) {
  return isa<ReduceOp, ArgReduceOp, MatmulOp, ConvOp, PoolOp>(op);
}

SmallVector<int64_t> getReducedDims(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return llvm::to_vector(reduce.getDims());
  return {(int64_t)cast<ArgReduceOp>(op).getDim()};
}

/// Reads the operand once: the reduced dims interleaved with the result's.
static void describeReduce(Operation *op, Value x, DimsOf dims,
                           HeroSpec &spec) {
  MLIRContext *context = op->getContext();
  SmallVector<int64_t> reducedDims = getReducedDims(op);
  HeroRead read;
  read.operand = x;
  unsigned result = 0, reduced = spec.resultRank;
  for (auto [i, size] : llvm::enumerate(dims(x))) {
    bool isReduced = llvm::is_contained(reducedDims, (int64_t)i);
    if (isReduced)
      spec.reduced.push_back(size);
    read.index.push_back(
        getAffineDimExpr(isReduced ? reduced++ : result++, context));
  }
  spec.reads.push_back(std::move(read));
}

static void describeMatmul(MatmulOp op, DimsOf dims, HeroSpec &spec) {
  MLIRContext *context = op.getContext();
  unsigned rank = spec.resultRank;
  AffineExpr m = getAffineDimExpr(rank - 2, context);
  AffineExpr n = getAffineDimExpr(rank - 1, context);
  AffineExpr k = getAffineDimExpr(rank, context);
  spec.reduced = {
      dims(op.getLhs())[op.getTransposeLhs() ? rank - 2 : rank - 1]};
  auto read = [&](Value operand, AffineExpr row, AffineExpr column) {
    HeroRead result{operand, {}, {}};
    for (unsigned i = 0; i + 2 < rank; ++i)
      result.index.push_back(getAffineDimExpr(i, context));
    result.index.append({row, column});
    spec.reads.push_back(std::move(result));
  };
  op.getTransposeLhs() ? read(op.getLhs(), k, m) : read(op.getLhs(), m, k);
  op.getTransposeRhs() ? read(op.getRhs(), n, k) : read(op.getRhs(), k, n);
}

/// Adds `0 <= position < size` to `guard`.
static void addBounds(AffineExpr position, AffineExpr size,
                      SmallVectorImpl<AffineExpr> &guard) {
  guard.push_back(position);
  guard.push_back(size - 1 - position);
}

static void describeConv(ConvOp op, DimsOf dims, HeroSpec &spec) {
  MLIRContext *context = op.getContext();
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, context); };
  unsigned rank = spec.resultRank, spatial = rank - 2;
  ArrayRef<AffineExpr> xDims = dims(op.getX()), wDims = dims(op.getWeight());
  spec.reduced = llvm::to_vector(wDims.drop_front(1)); // C / groups, window
  AffineExpr channel = dim(rank);
  HeroRead x{op.getX(), {dim(0)}, {}}, w{op.getWeight(), {dim(1), channel}, {}};
  if (op.getGroups() != 1) {
    // Output channel k belongs to group k / (K / groups).
    int64_t outputs = cast<ShapedType>(op.getWeight().getType()).getDimSize(0);
    AffineExpr perGroup =
        ShapedType::isDynamic(outputs)
            ? wDims[0].floorDiv(op.getGroups())
            : getAffineConstantExpr(outputs / op.getGroups(), context);
    channel = dim(1).floorDiv(perGroup) * wDims[1] + channel;
  }
  x.index.push_back(channel);
  for (unsigned i = 0; i < spatial; ++i) {
    AffineExpr tap = dim(rank + 1 + i);
    AffineExpr position = dim(2 + i) * op.getStrides()[i] +
                          tap * op.getDilations()[i] - op.getPadLow()[i];
    x.index.push_back(position);
    if (op.getPadLow()[i] != 0 || op.getPadHigh()[i] != 0)
      addBounds(position, xDims[2 + i], x.guard);
    w.index.push_back(tap);
  }
  spec.reads = {std::move(x), std::move(w)};
  if (op.getBias())
    spec.bias = HeroRead{op.getBias(), {dim(1)}, {}};
}

static void describePool(PoolOp op, DimsOf dims, HeroSpec &spec) {
  MLIRContext *context = op.getContext();
  unsigned rank = spec.resultRank, spatial = op.getWindow().size();
  HeroRead x{op.getX(), {}, {}};
  for (unsigned i = 0; i < rank - spatial; ++i)
    x.index.push_back(getAffineDimExpr(i, context));
  for (unsigned i = 0; i < spatial; ++i) {
    unsigned dim = rank - spatial + i;
    spec.reduced.push_back(getAffineConstantExpr(op.getWindow()[i], context));
    AffineExpr position =
        getAffineDimExpr(dim, context) * op.getStrides()[i] +
        getAffineDimExpr(rank + i, context) * op.getDilations()[i] -
        op.getPadLow()[i];
    AffineExpr size = dims(op.getX())[dim];
    x.index.push_back(position);
    bool padded = op.getPadLow()[i] != 0 || op.getPadHigh()[i] != 0;
    if (padded || op.getCeilMode())
      addBounds(position, size, x.guard);
    if (op.getKind() != PoolKind::avg)
      continue;
    if (!op.getCountIncludePad() && (padded || op.getCeilMode()))
      addBounds(position, size, spec.counted);
    else if (op.getCountIncludePad() && op.getCeilMode())
      // The stated padding counts, what rounding up added does not.
      spec.counted.push_back(size + op.getPadHigh()[i] - 1 - position);
  }
  spec.reads.push_back(std::move(x));
}

HeroSpec getHeroSpec(Operation *op, DimsOf dims) {
  HeroSpec spec;
  spec.resultRank = dims(op->getResult(0)).size();
  llvm::TypeSwitch<Operation *>(op)
      .Case<ReduceOp, ArgReduceOp>(
          [&](auto reduce) { describeReduce(op, reduce.getX(), dims, spec); })
      .Case([&](MatmulOp matmul) {
        spec.kind = HeroKind::Contraction;
        describeMatmul(matmul, dims, spec);
      })
      .Case([&](ConvOp conv) {
        spec.kind = HeroKind::Contraction;
        describeConv(conv, dims, spec);
      })
      .Case([&](PoolOp pool) {
        spec.kind = HeroKind::Window;
        describePool(pool, dims, spec);
      });
  return spec;
}

} // namespace fusion

//===- Decompose.cpp - composite ops as primitives ------------------------===//
//
// Writes softmax, the norms and products with a vector out. All of them keep to
// one domain (the shape of the operand, for group norm that of its groups), so
// that one kernel holds the row; only group norm ends in a reshape.
//
//===----------------------------------------------------------------------===//

#include "fusion/Transforms/Passes.h"

#include "GraphBuilder.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace fusion {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "fusion/Transforms/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;

namespace {

/// The mean and the reciprocal deviation of rows, without the reduced
/// dimensions, and the operand less the mean.
struct Moments {
  Value mean, reciprocalDeviation, centred;
};

} // namespace

/// The type in which a composite on `type` is computed.
static Type getComputeType(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF64() ? element : Float32Type::get(type.getContext());
}

static int64_t getRank(Value x) {
  return cast<RankedTensorType>(x.getType()).getRank();
}

static SmallVector<int64_t> getTrailingDims(Value x, int64_t axis) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, getRank(x)));
}

/// A value without `dims` repeated along them to the shape of `like`.
static Value broadcastBack(GraphBuilder &graph, Value reduced,
                           ArrayRef<int64_t> dims, Value like) {
  return graph.broadcast(reduced, getOtherDims(getRank(like), dims), like);
}

/// The product of `sizes`, symbolic if one of them is.
static int64_t getProduct(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return ShapedType::kDynamic;
    product *= size;
  }
  return product;
}

/// One over the number of elements along `dims`, in the shape of `x`. Symbolic
/// sizes are counted in integers, which stay exact and cost a loop nothing.
static Value getInverseCount(GraphBuilder &graph, Value x,
                             ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> sizes;
  for (int64_t dim : dims)
    sizes.push_back(type.getDimSize(dim));
  int64_t count = getProduct(sizes);
  if (!ShapedType::isDynamic(count))
    return graph.splat(1.0 / count, type.getElementType(), x);

  auto integer = IntegerType::get(type.getContext(), 64);
  Value counted =
      graph.reduce(ReduceKind::sum, graph.splat(1, integer, x), dims);
  Value inverse =
      graph.unary<ReciprocalOp>(graph.convert(counted, type.getElementType()));
  return broadcastBack(graph, inverse, dims, x);
}

/// The mean of `x * y` along `dims`. Scaling comes before summing, so that the
/// sum of large elements stays finite.
static Value getMeanProduct(GraphBuilder &graph, Value x, Value y,
                            Value inverseCount, ArrayRef<int64_t> dims) {
  Value scaled = graph.binary<MulOp>(y, inverseCount);
  return graph.reduce(ReduceKind::sum, graph.binary<MulOp>(x, scaled), dims);
}

/// `rsqrt(x + epsilon)`.
static Value getReciprocalRoot(GraphBuilder &graph, Value x,
                               const APFloat &epsilon) {
  Type element = getElementTypeOrSelf(x.getType());
  Value shift = graph.splat(epsilon.convertToDouble(), element, x);
  return graph.unary<RsqrtOp>(graph.binary<AddOp>(x, shift));
}

static Moments getMoments(GraphBuilder &graph, Value x, ArrayRef<int64_t> dims,
                          const APFloat &epsilon) {
  Value inverseCount = getInverseCount(graph, x, dims);
  Moments moments;
  moments.mean =
      graph.reduce(ReduceKind::sum, graph.binary<MulOp>(x, inverseCount), dims);
  moments.centred =
      graph.binary<SubOp>(x, broadcastBack(graph, moments.mean, dims, x));
  Value variance = getMeanProduct(graph, moments.centred, moments.centred,
                                  inverseCount, dims);
  moments.reciprocalDeviation = getReciprocalRoot(graph, variance, epsilon);
  return moments;
}

/// `y * weight + bias`, each where given, as dimensions `dims` of `y`.
/// `prepare` brings a parameter to those dimensions.
static Value applyParameters(GraphBuilder &graph, Value y, Value weight,
                             Value bias, ArrayRef<int64_t> dims,
                             function_ref<Value(Value)> prepare) {
  Type element = getElementTypeOrSelf(y.getType());
  auto spread = [&](Value parameter) {
    Value converted = graph.convert(prepare(parameter), element);
    return graph.broadcast(converted, dims, y);
  };
  if (weight)
    y = graph.binary<MulOp>(y, spread(weight));
  if (bias)
    y = graph.binary<AddOp>(y, spread(bias));
  return y;
}

static Value identity(Value value) { return value; }

/// A composite without elements is its own operand: reductions of nothing need
/// no thought.
template <typename OpTy>
static bool replaceEmpty(OpTy op, PatternRewriter &rewriter) {
  if (!llvm::is_contained(op.getType().getShape(), 0))
    return false;
  rewriter.replaceOp(op, op.getX());
  return true;
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

/// `x` less the maximum of its row: at most 0, so that exp cannot overflow.
/// Infinite maxima give NaN here, as the op's definition says.
static Value subtractMaximum(GraphBuilder &graph, Value x, int64_t dim) {
  Value maximum = graph.reduce(ReduceKind::max, x, dim);
  return graph.binary<SubOp>(x, broadcastBack(graph, maximum, dim, x));
}

static LogicalResult decomposeSoftmax(SoftmaxOp op, PatternRewriter &rewriter) {
  if (replaceEmpty(op, rewriter))
    return success();
  GraphBuilder graph(rewriter, op.getLoc());
  int64_t dim = op.getDim();
  Value x = graph.convert(op.getX(), getComputeType(op.getType()));
  Value exponential = graph.unary<ExpOp>(subtractMaximum(graph, x, dim));
  Value sum = graph.reduce(ReduceKind::sum, exponential, dim);
  Value result = graph.binary<DivOp>(
      exponential, broadcastBack(graph, sum, dim, exponential));
  rewriter.replaceOp(op, graph.convertTo(result, op.getType()));
  return success();
}

static LogicalResult decomposeLogSoftmax(LogSoftmaxOp op,
                                         PatternRewriter &rewriter) {
  if (replaceEmpty(op, rewriter))
    return success();
  GraphBuilder graph(rewriter, op.getLoc());
  int64_t dim = op.getDim();
  Value x = graph.convert(op.getX(), getComputeType(op.getType()));
  Value shifted = subtractMaximum(graph, x, dim);
  Value sum = graph.reduce(ReduceKind::sum, graph.unary<ExpOp>(shifted), dim);
  Value logarithm = graph.unary<LogOp>(sum);
  Value result = graph.binary<SubOp>(
      shifted, broadcastBack(graph, logarithm, dim, shifted));
  rewriter.replaceOp(op, graph.convertTo(result, op.getType()));
  return success();
}

//===----------------------------------------------------------------------===//
// layer_norm, rms_norm
//===----------------------------------------------------------------------===//

static LogicalResult decomposeLayerNorm(LayerNormOp op,
                                        PatternRewriter &rewriter) {
  if (replaceEmpty(op, rewriter))
    return success();
  GraphBuilder graph(rewriter, op.getLoc());
  Value x = graph.convert(op.getX(), getComputeType(op.getType()));
  SmallVector<int64_t> dims = getTrailingDims(x, op.getAxis());
  Moments moments = getMoments(graph, x, dims, op.getEpsilon());
  Value scale = broadcastBack(graph, moments.reciprocalDeviation, dims, x);
  Value y = graph.binary<MulOp>(moments.centred, scale);
  y = applyParameters(graph, y, op.getWeight(), op.getBias(), dims, identity);
  rewriter.replaceOp(op, graph.convertTo(y, op.getType()));
  return success();
}

static LogicalResult decomposeRmsNorm(RmsNormOp op, PatternRewriter &rewriter) {
  if (replaceEmpty(op, rewriter))
    return success();
  GraphBuilder graph(rewriter, op.getLoc());
  Value x = graph.convert(op.getX(), getComputeType(op.getType()));
  SmallVector<int64_t> dims = getTrailingDims(x, op.getAxis());
  Value inverseCount = getInverseCount(graph, x, dims);
  Value square = getMeanProduct(graph, x, x, inverseCount, dims);
  Value scale = broadcastBack(
      graph, getReciprocalRoot(graph, square, op.getEpsilon()), dims, x);
  Value y = graph.binary<MulOp>(x, scale);
  y = applyParameters(graph, y, op.getWeight(), Value(), dims, identity);
  rewriter.replaceOp(op, graph.convertTo(y, op.getType()));
  return success();
}

//===----------------------------------------------------------------------===//
// group_norm
//===----------------------------------------------------------------------===//

/// The operand's type as [N, groups, C / groups, positions].
static RankedTensorType getGroupedType(GroupNormOp op) {
  RankedTensorType type = op.getX().getType();
  int64_t channels = type.getDimSize(1);
  if (!ShapedType::isDynamic(channels))
    channels /= op.getGroups();
  int64_t positions = getProduct(type.getShape().drop_front(2));
  int64_t groups = op.getGroups();
  int64_t shape[] = {type.getDimSize(0), groups, channels, positions};

  // The name of N lets a reshape tell it from the other symbolic sizes.
  Attribute encoding;
  if (LayoutAttr layout = getLayout(type);
      layout && !layout.getSymbols().empty()) {
    auto none = StringAttr::get(op.getContext(), "");
    SmallVector<StringAttr> symbols(4, none);
    symbols.front() = layout.getSymbols().front();
    encoding = LayoutAttr::get(op.getContext(), {}, {}, symbols);
  }
  return RankedTensorType::get(shape, type.getElementType(), encoding);
}

/// Normalises `grouped` under its own shape and splits the positions again,
/// which takes at most one that is symbolic.
static Value normaliseByGroup(GraphBuilder &graph, GroupNormOp op,
                              Value grouped, const Moments &moments) {
  auto groupedType = cast<RankedTensorType>(grouped.getType());
  Value scale =
      broadcastBack(graph, moments.reciprocalDeviation, {2, 3}, grouped);
  Value y = graph.binary<MulOp>(moments.centred, scale);
  auto byGroup = [&](Value parameter) {
    auto shape = groupedType.getShape().slice(1, 2);
    Type element = getElementTypeOrSelf(parameter.getType());
    return graph.reshape(parameter, RankedTensorType::get(shape, element));
  };
  y = applyParameters(graph, y, op.getWeight(), op.getBias(), {1, 2}, byGroup);
  y = graph.convert(y, op.getType().getElementType());
  return graph.reshape(y, op.getType());
}

/// Brings the statistics to the operand's shape, channel by channel, and
/// normalises there.
static Value normaliseByChannel(GraphBuilder &graph, GroupNormOp op,
                                Value grouped, const Moments &moments) {
  auto groupedType = cast<RankedTensorType>(grouped.getType());
  Type compute = groupedType.getElementType();
  auto groupsType =
      RankedTensorType::get(groupedType.getShape().take_front(3), compute);
  auto channelsType =
      RankedTensorType::get(op.getType().getShape().take_front(2), compute);
  Value x = graph.convert(op.getX(), compute);
  auto byChannel = [&](Value statistic) {
    Value repeated = graph.repeat(statistic, {0, 1}, groupsType);
    return graph.broadcast(graph.reshape(repeated, channelsType), {0, 1}, x);
  };
  Value centred = graph.binary<SubOp>(x, byChannel(moments.mean));
  Value y =
      graph.binary<MulOp>(centred, byChannel(moments.reciprocalDeviation));
  y = applyParameters(graph, y, op.getWeight(), op.getBias(), 1, identity);
  return graph.convertTo(y, op.getType());
}

static LogicalResult decomposeGroupNorm(GroupNormOp op,
                                        PatternRewriter &rewriter) {
  if (replaceEmpty(op, rewriter))
    return success();
  RankedTensorType type = op.getX().getType();
  int64_t symbolicPositions =
      llvm::count_if(type.getShape().drop_front(2), ShapedType::isDynamic);
  if (type.isDynamicDim(1) && (type.isDynamicDim(0) || symbolicPositions > 0))
    return op.emitOpError()
           << "expects static channels where other sizes are symbolic, got "
           << type << "; give the number of channels in the type";

  GraphBuilder graph(rewriter, op.getLoc());
  Value grouped = graph.convert(graph.reshape(op.getX(), getGroupedType(op)),
                                getComputeType(type));
  Moments moments = getMoments(graph, grouped, {2, 3}, op.getEpsilon());
  rewriter.replaceOp(op, symbolicPositions <= 1
                             ? normaliseByGroup(graph, op, grouped, moments)
                             : normaliseByChannel(graph, op, grouped, moments));
  return success();
}

//===----------------------------------------------------------------------===//
// batch_norm
//===----------------------------------------------------------------------===//

static LogicalResult decomposeBatchNorm(BatchNormOp op,
                                        PatternRewriter &rewriter) {
  GraphBuilder graph(rewriter, op.getLoc());
  Type compute = getComputeType(op.getType());
  Value variance = graph.convert(op.getVariance(), compute);
  Value scale = getReciprocalRoot(graph, variance, op.getEpsilon());
  if (op.getWeight())
    scale = graph.binary<MulOp>(scale, graph.convert(op.getWeight(), compute));
  Value shift =
      graph.binary<MulOp>(graph.convert(op.getMean(), compute), scale);
  shift = op.getBias()
              ? graph.binary<SubOp>(graph.convert(op.getBias(), compute), shift)
              : graph.unary<NegOp>(shift);
  Value x = graph.convert(op.getX(), compute);
  Value y = applyParameters(graph, x, scale, shift, 1, identity);
  rewriter.replaceOp(op, graph.convertTo(y, op.getType()));
  return success();
}

//===----------------------------------------------------------------------===//
// matmul of a matrix and a vector
//===----------------------------------------------------------------------===//

/// `x` with its last two dimensions exchanged.
static Value turn(PatternRewriter &rewriter, Location loc, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  SmallVector<int64_t> shape = llvm::map_to_vector(
      order, [&](int64_t dim) { return type.getDimSize(dim); });
  return TransposeOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()), x,
      order);
}

/// A product that reads each element of a matrix once is a reduction, which
/// runs at the speed of memory. Products of halves are exact in f32.
static LogicalResult decomposeMatrixVector(MatmulOp op,
                                           PatternRewriter &rewriter) {
  RankedTensorType type = op.getType();
  int64_t rank = type.getRank();
  if (!isa<FloatType>(type.getElementType()))
    return rewriter.notifyMatchFailure(op, "is not of floats");
  bool isRow = type.getDimSize(rank - 2) == 1;
  if (!isRow && type.getDimSize(rank - 1) != 1)
    return rewriter.notifyMatchFailure(op, "has no vector");
  // The vector as a row where the matrix is summed along its rows, and else as
  // a column.
  Value matrix = isRow ? op.getRhs() : op.getLhs();
  Value vector = isRow ? op.getLhs() : op.getRhs();
  bool sumsRows = isRow ? op.getTransposeRhs() : !op.getTransposeLhs();
  bool vectorIsRow = isRow ? !op.getTransposeLhs() : op.getTransposeRhs();
  if (sumsRows != vectorIsRow) {
    if (!cast<RankedTensorType>(vector.getType()).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "turns a symbolic vector");
    vector = turn(rewriter, op.getLoc(), vector);
  }
  GraphBuilder graph(rewriter, op.getLoc());
  Type compute = getComputeType(type);
  matrix = graph.convert(matrix, compute);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  vector = graph.broadcast(graph.convert(vector, compute), dims, matrix);
  int64_t summed = sumsRows ? rank - 1 : rank - 2;
  Value sum = graph.reduce(ReduceKind::sum, graph.binary<MulOp>(matrix, vector),
                           summed);
  Value result =
      graph.repeat(graph.convert(sum, type.getElementType()),
                   getOtherDims(rank, isRow ? rank - 2 : rank - 1), type);
  rewriter.replaceOp(op, graph.convertTo(result, type));
  return success();
}

namespace {

struct DecomposePass : ::fusion::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    auto isComposite = [](Operation *op) {
      return isa<SoftmaxOp, LogSoftmaxOp, LayerNormOp, RmsNormOp, GroupNormOp,
                 BatchNormOp>(op);
    };
    int64_t before = 0;
    getOperation().walk([&](Operation *op) { before += isComposite(op); });

    RewritePatternSet patterns(&getContext());
    patterns.add(decomposeSoftmax);
    patterns.add(decomposeLogSoftmax);
    patterns.add(decomposeLayerNorm);
    patterns.add(decomposeRmsNorm);
    patterns.add(decomposeGroupNorm);
    patterns.add(decomposeBatchNorm);
    patterns.add(decomposeMatrixVector);
    walkAndApplyPatterns(getOperation(), std::move(patterns));

    int64_t after = 0;
    getOperation().walk([&](Operation *op) { after += isComposite(op); });
    numDecomposed += before - after;
    // A composite that is left has reported why.
    if (after > 0)
      signalPassFailure();
  }
};

} // namespace

//===- Composites.cpp - evaluation of softmax and the norms ---------------===//
//
// Each formula is written out in double on one row at a time and rounded once.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"
#include "Scalar.h"
#include "Strided.h"
#include <limits>

using namespace mlir;
using namespace fusion;
using namespace fusion::interpreter;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Maximum of a row and the sum of `exp(x - maximum)`. Infinite maxima make the
/// sum NaN, as the definition demands.
static std::pair<double, double>
getSoftmaxTerms(ArrayRef<double> in, const RowShape &rows, int64_t first) {
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < rows.size; ++i)
    max = maximum(max, in[first + i * rows.inner]);
  for (int64_t i = 0; i < rows.size; ++i)
    sum += std::exp(in[first + i * rows.inner] - max);
  return {max, sum};
}

/// Applies `function(x - maximum, sum)` to the elements of every row.
static Tensor mapSoftmax(const Tensor &x, unsigned dim,
                         llvm::function_ref<double(double, double)> function) {
  Tensor result(x.getDType(), x.getSizes());
  RowShape rows(x.getSizes(), dim);
  rows.forEachRow([&](int64_t, int64_t first) {
    auto [max, sum] = getSoftmaxTerms(x.floats(), rows, first);
    for (int64_t i = 0; i < rows.size; ++i) {
      int64_t at = first + i * rows.inner;
      result.floats()[at] = function(x.floats()[at] - max, sum);
    }
  });
  return std::move(result).normalize();
}

Result interpreter::evaluate(SoftmaxOp op, Operands operands) {
  return mapSoftmax(*operands[0], op.getDim(), [](double shifted, double sum) {
    return std::exp(shifted) / sum;
  });
}

Result interpreter::evaluate(LogSoftmaxOp op, Operands operands) {
  return mapSoftmax(*operands[0], op.getDim(), [](double shifted, double sum) {
    return shifted - std::log(sum);
  });
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Scale and shift of an element; missing operands are 1 and 0.
namespace {
struct Affine {
  const Tensor *weight, *bias;

  /// The operands from number `first` on, which are optional.
  Affine(Operands operands, unsigned first)
      : weight(operands.size() > first ? operands[first] : nullptr),
        bias(operands.size() > first + 1 ? operands[first + 1] : nullptr) {}

  double apply(double value, int64_t index) const {
    if (weight)
      value *= weight->floats()[index];
    return bias ? value + bias->floats()[index] : value;
  }

  /// Checks that the operands have `count` elements.
  LogicalResult check(Operation *op, int64_t count) const {
    for (const Tensor *operand : {weight, bias})
      if (operand && operand->getNumElements() != count)
        return op->emitOpError()
               << "has a weight or bias of shape "
               << formatSizes(operand->getSizes()) << ", but normalises "
               << count << " elements or channels; give one for each";
    return success();
  }
};
} // namespace

/// Mean and biased variance, in two passes.
static std::pair<double, double> getMoments(ArrayRef<double> row) {
  double mean = 0, variance = 0;
  for (double value : row)
    mean += value;
  mean /= row.size();
  for (double value : row)
    variance += (value - mean) * (value - mean);
  return {mean, variance / row.size()};
}

/// Normalises consecutive rows of `size` elements; element `i` of row `r` is
/// scaled and shifted by entry `getIndex(r, i)`.
static Tensor
normalizeRows(const Tensor &x, int64_t size, double epsilon,
              const Affine &affine,
              llvm::function_ref<int64_t(int64_t, int64_t)> getIndex) {
  Tensor result(x.getDType(), x.getSizes());
  for (int64_t first = 0; first < x.getNumElements(); first += size) {
    auto [mean, variance] = getMoments(x.floats().slice(first, size));
    double factor = 1 / std::sqrt(variance + epsilon);
    for (int64_t i = 0; i < size; ++i)
      result.floats()[first + i] = affine.apply(
          (x.floats()[first + i] - mean) * factor, getIndex(first / size, i));
  }
  return std::move(result).normalize();
}

Result interpreter::evaluate(LayerNormOp op, Operands operands) {
  const Tensor &x = *operands[0];
  Affine affine(operands, 1);
  int64_t size = getNumElements(x.getSizes().drop_front(op.getAxis()));
  if (failed(affine.check(op, size)))
    return failure();
  return normalizeRows(x, size, op.getEpsilon().convertToDouble(), affine,
                       [](int64_t, int64_t i) { return i; });
}

Result interpreter::evaluate(RmsNormOp op, Operands operands) {
  const Tensor &x = *operands[0];
  Affine affine(operands, 1);
  int64_t size = getNumElements(x.getSizes().drop_front(op.getAxis()));
  if (failed(affine.check(op, size)))
    return failure();
  double epsilon = op.getEpsilon().convertToDouble();
  Tensor result(x.getDType(), x.getSizes());
  for (int64_t first = 0; first < x.getNumElements(); first += size) {
    double squares = 0;
    for (double value : x.floats().slice(first, size))
      squares += value * value;
    double factor = 1 / std::sqrt(squares / size + epsilon);
    for (int64_t i = 0; i < size; ++i)
      result.floats()[first + i] =
          affine.apply(x.floats()[first + i] * factor, i);
  }
  return std::move(result).normalize();
}

Result interpreter::evaluate(GroupNormOp op, Operands operands) {
  const Tensor &x = *operands[0];
  int64_t channels = x.getSize(1), groups = op.getGroups();
  if (groups < 1 || channels % groups != 0)
    return op.emitOpError()
           << "cannot split the " << channels << " channels of shape "
           << formatSizes(x.getSizes()) << " into " << groups
           << " groups; use a divisor of the channels";
  Affine affine(operands, 1);
  if (failed(affine.check(op, channels)))
    return failure();
  int64_t positions = getNumElements(x.getSizes().drop_front(2));
  int64_t perGroup = channels / groups;
  return normalizeRows(x, perGroup * positions,
                       op.getEpsilon().convertToDouble(), affine,
                       [&](int64_t row, int64_t i) {
                         return row % groups * perGroup + i / positions;
                       });
}

Result interpreter::evaluate(BatchNormOp op, Operands operands) {
  const Tensor &x = *operands[0], &mean = *operands[1],
               &variance = *operands[2];
  int64_t channels = x.getSize(1);
  Affine affine(operands, 3);
  if (failed(affine.check(op, channels)))
    return failure();
  for (const Tensor *statistic : {&mean, &variance})
    if (statistic->getNumElements() != channels)
      return op.emitOpError()
             << "has statistics of shape " << formatSizes(statistic->getSizes())
             << " for " << channels << " channels; give one for each";
  double epsilon = op.getEpsilon().convertToDouble();
  int64_t positions = getNumElements(x.getSizes().drop_front(2));
  Tensor result(x.getDType(), x.getSizes());
  for (int64_t i = 0, e = x.getNumElements(); i < e; ++i) {
    int64_t c = i / positions % channels;
    double factor = 1 / std::sqrt(variance.floats()[c] + epsilon);
    result.floats()[i] =
        affine.apply((x.floats()[i] - mean.floats()[c]) * factor, c);
  }
  return std::move(result).normalize();
}

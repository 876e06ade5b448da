//===- CallShape.cpp - what a call's sizes decide -------------------------===//

#include "CallShape.h"
#include <algorithm>
#include <limits>

using namespace fusion::runtime;

/// Kernels with 32-bit indices count past the end of a buffer by at most a
/// block's share before they compare, so that much must not wrap around.
static constexpr int64_t maximumIndex32 = INT32_MAX - (int64_t(1) << 20);

static int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product)
             ? std::numeric_limits<int64_t>::max()
             : product;
}

static int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum)
             ? std::numeric_limits<int64_t>::max()
             : sum;
}

int64_t fusion::runtime::getExtent(const fusion_tensor &tensor) {
  int64_t last = 0;
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    if (tensor.sizes[dim] <= 0)
      return 0;
    if (tensor.strides[dim] != anyStride)
      last = add(last, multiply(tensor.sizes[dim] - 1, tensor.strides[dim]));
  }
  return add(last, 1);
}

static int64_t getBytes(const fusion_tensor &tensor) {
  return multiply(getExtent(tensor), getSize(static_cast<DType>(tensor.dtype)));
}

/// The form that `spec` demands for these symbols.
static fusion_tensor evaluate(const TensorSpec &spec,
                              const std::vector<int64_t> &symbols) {
  fusion_tensor tensor = {};
  tensor.dtype = static_cast<int32_t>(spec.dtype);
  tensor.rank = static_cast<int32_t>(spec.sizes.size());
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    tensor.sizes[dim] = spec.sizes[dim].evaluate(symbols);
    tensor.strides[dim] =
        spec.strides.empty() ? anyStride : spec.strides[dim].evaluate(symbols);
  }
  return tensor;
}

static void evaluateArguments(const Plan &plan, CallShape &shape) {
  for (const TensorSpec &spec : plan.arguments)
    shape.arguments.push_back(evaluate(spec, shape.symbols));
  // Strides that the plan takes as they come are among its symbols.
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    const SymbolSource &source = plan.symbols[i];
    int64_t &stride = shape.arguments[source.argument].strides[source.dim];
    if (source.stride && stride == anyStride)
      stride = shape.symbols[i];
  }
}

static Status evaluateResults(const Plan &plan, CallShape &shape) {
  for (const TensorSpec &spec : plan.results) {
    fusion_tensor result = evaluate(spec, shape.symbols);
    for (int32_t dim = 0; dim < result.rank; ++dim)
      if (result.sizes[dim] < 0)
        return Status::error(
            "argument",
            "the sizes of the arguments make dimension " + std::to_string(dim) +
                " of result " + std::to_string(shape.results.size()) +
                " of @main " + std::to_string(result.sizes[dim]),
            "pass larger arguments");
    shape.results.push_back(result);
  }
  return Status::success();
}

static void layOutTemporaries(const Plan &plan, CallShape &shape) {
  std::vector<ArenaBuffer> buffers;
  for (const Temporary &temporary : plan.temporaries)
    buffers.push_back({temporary.bytes.evaluate(shape.symbols),
                       temporary.firstUse, temporary.lastUse});
  shape.arena = layOut(buffers);
}

/// Bytes of a buffer and of one element of it.
static std::pair<int64_t, int64_t>
measure(const Plan &plan, const CallShape &shape, BufferRef ref) {
  switch (ref.kind) {
  case BufferRef::Kind::Argument:
    return {getBytes(shape.arguments[ref.index]),
            getSize(plan.arguments[ref.index].dtype)};
  case BufferRef::Kind::Result:
    return {getBytes(shape.results[ref.index]),
            getSize(plan.results[ref.index].dtype)};
  case BufferRef::Kind::Constant:
    return {plan.constants[ref.index].data.size(), 1};
  case BufferRef::Kind::Temporary:
    break;
  }
  const Temporary &temporary = plan.temporaries[ref.index];
  return {std::max<int64_t>(temporary.bytes.evaluate(shape.symbols), 0),
          temporary.elementBytes};
}

static Status evaluateLaunch(const Plan &plan, const Launch &launch,
                             CallShape &shape) {
  LaunchShape result;
  const Kernel &kernel = plan.kernels[launch.kernel];
  int64_t largest = 0;
  for (const SizeExpr &size : launch.sizes) {
    result.sizes.push_back(size.evaluate(shape.symbols));
    largest = std::max(largest, result.sizes.back());
  }
  for (BufferRef ref : launch.buffers) {
    auto [bytes, elementBytes] = measure(plan, shape, ref);
    result.bytes.push_back(bytes);
    result.work = add(result.work, bytes);
    largest = std::max(largest, bytes / elementBytes);
  }
  if (!launch.work.items.empty())
    result.work = launch.work.evaluate(shape.symbols);
  result.grid = launch.grid.evaluate(shape.symbols);
  if (kernel.indexBits == 32 && largest > maximumIndex32)
    return Status::error("unsupported",
                         "kernel '" + kernel.name +
                             "' counts in 32 bits, and "
                             "this call has " +
                             std::to_string(largest) + " elements in a buffer",
                         "compile for the sizes of these arguments",
                         launch.location);
  shape.launches.push_back(std::move(result));
  return Status::success();
}

Status fusion::runtime::evaluate(const Plan &plan,
                                 const fusion_tensor *arguments,
                                 CallShape &shape) {
  evaluateArguments(plan, shape);
  // Before anything else is computed from sizes that may be wrong.
  Status status = checkArguments(plan, shape, arguments);
  if (!status.failed())
    status = evaluateResults(plan, shape);
  if (status.failed())
    return status;
  layOutTemporaries(plan, shape);
  for (const Launch &launch : plan.launches)
    if (status = evaluateLaunch(plan, launch, shape); status.failed())
      return status;
  return Status::success();
}

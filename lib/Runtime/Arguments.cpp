//===- Arguments.cpp - checks of a call's tensors -------------------------===//
//
// A kernel trusts its arguments, so a call checks all that the plan relies on.
// The checks run at every call and compare numbers only; words are put together
// when one fails.
//
//===----------------------------------------------------------------------===//

#include "CallShape.h"

using namespace fusion::runtime;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// "argument 1 ('w') of @main".
static std::string describe(const char *what, size_t index,
                            const TensorSpec &spec) {
  std::string text = std::string(what) + " " + std::to_string(index);
  if (!spec.name.empty())
    text += " ('" + spec.name + "')";
  return text + " of @main";
}

/// "4x8", or "scalar" for no dimensions.
static std::string describeSizes(const fusion_tensor &tensor) {
  std::string text;
  for (int32_t dim = 0; dim < tensor.rank; ++dim)
    text += (dim ? "x" : "") + std::to_string(tensor.sizes[dim]);
  return text.empty() ? "scalar" : text;
}

static std::string describeStrides(const fusion_tensor &tensor) {
  std::string text = "(";
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    text += dim ? ", " : "";
    text += tensor.strides[dim] == anyStride
                ? "any"
                : std::to_string(tensor.strides[dim]);
  }
  return text + ")";
}

static Status argumentError(std::string message, std::string remedy) {
  return Status::error("argument", std::move(message), std::move(remedy));
}

static Status wrongCount(const char *verb, const char *noun, size_t expected,
                         size_t given) {
  return argumentError(
      std::string("@main ") + verb + " " + std::to_string(expected) + " " +
          noun + (expected == 1 ? "" : "s") + ", got " + std::to_string(given),
      std::string("pass one tensor for each ") + noun);
}

static Status wrongSizes(const char *what, size_t index, const Plan &plan,
                         const TensorSpec &spec, const fusion_tensor &given,
                         const fusion_tensor &expected) {
  std::string message = describe(what, index, spec) + " has shape " +
                        describeSizes(given) + ", expected " +
                        describeSizes(expected);
  for (int32_t dim = 0; dim < given.rank; ++dim) {
    const SizeExpr &size = spec.sizes[dim];
    if (given.sizes[dim] == expected.sizes[dim] || size.items.size() != 1 ||
        size.items[0].op != SizeExpr::Op::Symbol)
      continue;
    const SymbolSource &source = plan.symbols[size.items[0].value];
    message +=
        std::string(": its dimension ") + std::to_string(dim) + " must equal " +
        (source.stride ? "stride " : "dimension ") +
        std::to_string(source.dim) + " of " +
        describe("argument", source.argument, plan.arguments[source.argument]);
    break;
  }
  return argumentError(message,
                       "pass a tensor of that shape or recompile for it");
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Type, rank and sign of sizes and strides.
static Status checkForm(const char *what, size_t index, const TensorSpec &spec,
                        const fusion_tensor &tensor) {
  if (tensor.dtype != static_cast<int32_t>(spec.dtype)) {
    bool known = tensor.dtype >= 0 && tensor.dtype <= FUSION_BOOL;
    std::string given = known ? getName(static_cast<DType>(tensor.dtype))
                              : "number " + std::to_string(tensor.dtype);
    return argumentError(describe(what, index, spec) + " has dtype " + given +
                             ", expected " + getName(spec.dtype),
                         "convert it or recompile for this dtype");
  }
  if (tensor.rank != static_cast<int32_t>(spec.sizes.size()))
    return argumentError(
        describe(what, index, spec) + " has " + std::to_string(tensor.rank) +
            " dimensions, expected " + std::to_string(spec.sizes.size()),
        "reshape it or recompile for this rank");
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    if (tensor.sizes[dim] < 0)
      return argumentError(describe(what, index, spec) +
                               " has a negative size in shape " +
                               describeSizes(tensor),
                           "pass a tensor of valid shape");
    if (tensor.sizes[dim] > 1 && tensor.strides[dim] < 0)
      return argumentError(describe(what, index, spec) +
                               " has a negative stride in " +
                               describeStrides(tensor),
                           "pass a copy of the reversed view");
  }
  return Status::success();
}

Status fusion::runtime::readSymbols(const Plan &plan,
                                    const fusion_tensor *arguments,
                                    size_t numArguments,
                                    std::vector<int64_t> &symbols) {
  if (numArguments != plan.arguments.size())
    return wrongCount("takes", "argument", plan.arguments.size(), numArguments);
  for (size_t i = 0; i < numArguments; ++i)
    if (Status status =
            checkForm("argument", i, plan.arguments[i], arguments[i]);
        status.failed())
      return status;
  symbols.reserve(plan.symbols.size());
  for (const SymbolSource &source : plan.symbols) {
    const fusion_tensor &argument = arguments[source.argument];
    symbols.push_back(source.stride ? argument.strides[source.dim]
                                    : argument.sizes[source.dim]);
  }
  return Status::success();
}

static bool isEmpty(const fusion_tensor &tensor) {
  for (int32_t dim = 0; dim < tensor.rank; ++dim)
    if (tensor.sizes[dim] == 0)
      return true;
  return false;
}

/// Sizes and strides of a tensor of the right form. Strides that no two
/// elements are apart by don't matter.
static Status checkShape(const char *what, size_t index, const Plan &plan,
                         const TensorSpec &spec, const fusion_tensor &tensor,
                         const fusion_tensor &expected) {
  for (int32_t dim = 0; dim < tensor.rank; ++dim)
    if (tensor.sizes[dim] != expected.sizes[dim])
      return wrongSizes(what, index, plan, spec, tensor, expected);
  if (isEmpty(tensor))
    return Status::success();
  for (int32_t dim = 0; dim < tensor.rank; ++dim)
    if (tensor.strides[dim] != expected.strides[dim] &&
        tensor.sizes[dim] != 1 && expected.strides[dim] != anyStride)
      return argumentError(describe(what, index, spec) + " has strides " +
                               describeStrides(tensor) + ", expected " +
                               describeStrides(expected),
                           "pass a copy in that layout or recompile for it");
  return Status::success();
}

static Status checkData(const char *what, size_t index, const TensorSpec &spec,
                        const fusion_tensor &tensor) {
  if (isEmpty(tensor))
    return Status::success();
  if (!tensor.data)
    return argumentError(describe(what, index, spec) + " has no data",
                         "pass a tensor that holds memory");
  if (reinterpret_cast<uintptr_t>(tensor.data) % spec.align != 0)
    return argumentError(describe(what, index, spec) + " is not aligned to " +
                             std::to_string(spec.align) + " bytes",
                         "pass a copy or recompile for this alignment");
  return Status::success();
}

Status fusion::runtime::checkArguments(const Plan &plan, const CallShape &shape,
                                       const fusion_tensor *arguments) {
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    if (Status status = checkShape("argument", i, plan, plan.arguments[i],
                                   arguments[i], shape.arguments[i]);
        status.failed())
      return status;
  return Status::success();
}

Status fusion::runtime::checkArgumentData(const Plan &plan,
                                          const fusion_tensor *arguments) {
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    if (Status status =
            checkData("argument", i, plan.arguments[i], arguments[i]);
        status.failed())
      return status;
  return Status::success();
}

static bool overlap(const fusion_tensor &a, const fusion_tensor &b) {
  auto begin = [](const fusion_tensor &tensor) {
    return static_cast<const char *>(tensor.data);
  };
  auto end = [&](const fusion_tensor &tensor) {
    return begin(tensor) +
           getExtent(tensor) * getSize(static_cast<DType>(tensor.dtype));
  };
  bool empty = begin(a) == end(a) || begin(b) == end(b);
  return !empty && begin(a) < end(b) && begin(b) < end(a);
}

Status fusion::runtime::checkResults(const Plan &plan, const CallShape &shape,
                                     const fusion_tensor *arguments,
                                     const fusion_tensor *results,
                                     size_t numResults) {
  if (numResults != plan.results.size())
    return wrongCount("has", "result", plan.results.size(), numResults);
  for (size_t i = 0; i < numResults; ++i) {
    const TensorSpec &spec = plan.results[i];
    Status status = checkForm("result", i, spec, results[i]);
    if (!status.failed())
      status =
          checkShape("result", i, plan, spec, results[i], shape.results[i]);
    if (!status.failed())
      status = checkData("result", i, spec, results[i]);
    if (status.failed())
      return status;
    auto overlapError = [&](std::string other) {
      return argumentError(describe("result", i, spec) + " overlaps " + other,
                           "give it memory of its own");
    };
    for (size_t j = 0; j < plan.arguments.size(); ++j)
      if (overlap(results[i], arguments[j]))
        return overlapError(describe("argument", j, plan.arguments[j]));
    for (size_t j = 0; j < i; ++j)
      if (overlap(results[i], results[j]))
        return overlapError(describe("result", j, plan.results[j]));
  }
  return Status::success();
}

//===- Reference.cpp - the reference evaluator in the C ABI ---------------===//
//
// Each call parses the graph in a context of its own, so that calls on several
// threads share nothing.
//
//===----------------------------------------------------------------------===//

#include "Wrap.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::interpreter;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// "file:line:column", or nothing where the location has no such form.
static std::string formatLocation(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
         std::to_string(file.getColumn());
}

namespace {
/// A parsed module and what was reported about it.
class Graph {
public:
  Graph() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<FusionDialect, func::FuncDialect>();
    // The first error is the cause; later ones follow from it.
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
          message.empty()) {
        message = diagnostic.str();
        location = formatLocation(diagnostic.getLocation());
      }
      return success();
    });
  }

  /// Parses and verifies `text`, which must define `@main`.
  Status parse(llvm::StringRef text) {
    ParserConfig config(&context, /*verifyAfterParse=*/false);
    module = parseSourceString<ModuleOp>(text, config, "graph");
    if (!module)
      return getReport("parse");
    if (failed(verify(*module)))
      return getReport("verify");
    function = module->lookupSymbol<func::FuncOp>("main");
    if (!function || function.isExternal())
      return Status::error("verify", "the module defines no func.func @main",
                           "name the function to run @main");
    return Status::success();
  }

  /// What was reported, as an error of this kind.
  Status getReport(const char *kind) const {
    return Status::error(kind, message, /*remedy=*/"", location);
  }

  func::FuncOp getMain() const { return function; }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::string message, location;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Checks that a tensor of the caller can be read at all.
static Status checkForm(const fusion_tensor &tensor, const std::string &name) {
  if (tensor.dtype < FUSION_F64 || tensor.dtype > FUSION_BOOL)
    return Status::error("argument",
                         name + " has the unknown dtype " +
                             std::to_string(tensor.dtype),
                         "use a value of fusion_dtype");
  if (tensor.rank < 0 || tensor.rank > FUSION_MAX_RANK)
    return Status::error(
        "argument", name + " has rank " + std::to_string(tensor.rank),
        "use at most " + std::to_string(FUSION_MAX_RANK) + " dimensions");
  int64_t bytes = sizeof(double);
  for (int64_t size : llvm::ArrayRef(tensor.sizes, tensor.rank))
    if (size < 0 || llvm::MulOverflow(bytes, size, bytes))
      return Status::error("argument", name + " has the impossible size " +
                                           std::to_string(size));
  return Status::success();
}

static Status readArgument(const fusion_tensor &tensor, size_t number,
                           Tensor &argument) {
  std::string name = "argument " + std::to_string(number);
  Status status = checkForm(tensor, name);
  if (status.failed())
    return status;
  llvm::ArrayRef sizes(tensor.sizes, tensor.rank);
  if (!tensor.data && getNumElements(sizes) != 0)
    return Status::error("argument", name + " has no data");
  argument =
      Tensor::read(static_cast<DType>(tensor.dtype), sizes,
                   llvm::ArrayRef(tensor.strides, tensor.rank), tensor.data);
  return Status::success();
}

static Status writeResult(const Tensor &result, size_t number,
                          fusion_tensor &tensor) {
  llvm::ArrayRef<int64_t> sizes = result.getSizes();
  std::string name = "result " + std::to_string(number);
  if (sizes.size() > FUSION_MAX_RANK)
    return Status::error("unsupported",
                         name + " has rank " + std::to_string(sizes.size()),
                         "return a tensor of at most " +
                             std::to_string(FUSION_MAX_RANK) + " dimensions");
  if (!tensor.data) {
    tensor.dtype = static_cast<int32_t>(result.getDType());
    tensor.rank = sizes.size();
    llvm::copy(sizes, tensor.sizes);
    llvm::copy(getRowMajorStrides(sizes), tensor.strides);
    int64_t bytes = result.getNumElements() * getByteSize(result.getDType());
    tensor.data = fusion_cpu_allocate(std::max<int64_t>(bytes, 1));
    if (!tensor.data)
      return Status::error("memory", "no memory for " + name + " of " +
                                         std::to_string(bytes) + " bytes");
  }
  Status status = checkForm(tensor, name);
  if (status.failed())
    return status;
  llvm::ArrayRef given(tensor.sizes, tensor.rank);
  if (static_cast<DType>(tensor.dtype) != result.getDType() || given != sizes)
    return Status::error("argument",
                         name + " is " + getName(result.getDType()).str() +
                             " " + formatSizes(sizes) +
                             ", but there is room for " +
                             getName(static_cast<DType>(tensor.dtype)).str() +
                             " " + formatSizes(given),
                         "leave `data` null to have it allocated");
  result.write(tensor.data, llvm::ArrayRef(tensor.strides, tensor.rank));
  return Status::success();
}

static Status run(llvm::StringRef text, llvm::ArrayRef<fusion_tensor> arguments,
                  llvm::MutableArrayRef<fusion_tensor> results) {
  Graph graph;
  Status status = graph.parse(text);
  if (status.failed())
    return status;
  if (results.size() != graph.getMain().getNumResults())
    return Status::error(
        "argument",
        "@main has " + std::to_string(graph.getMain().getNumResults()) +
            " results, room is given for " + std::to_string(results.size()));
  llvm::SmallVector<Tensor> values(arguments.size());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    status = readArgument(argument, i, values[i]);
    if (status.failed())
      return status;
  }
  FailureOr<llvm::SmallVector<Tensor>> outputs =
      evaluate(graph.getMain(), values);
  if (failed(outputs))
    return graph.getReport("argument");
  for (auto [i, output] : llvm::enumerate(*outputs)) {
    status = writeResult(output, i, results[i]);
    if (status.failed())
      return status;
  }
  return Status::success();
}

fusion_error *fusion_reference_run(const char *text, size_t length,
                                   const fusion_tensor *arguments,
                                   size_t num_arguments, fusion_tensor *results,
                                   size_t num_results) {
  return wrap(
      run({text, length}, {arguments, num_arguments}, {results, num_results}));
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static llvm::json::Value describe(RankedTensorType type, DType dtype) {
  LayoutAttr layout = getLayout(type);
  llvm::json::Array shape, order;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    llvm::StringRef symbol = layout && !layout.getSymbols().empty()
                                 ? layout.getSymbols()[dim].getValue()
                                 : "";
    if (!ShapedType::isDynamic(size))
      shape.push_back(size);
    else
      shape.push_back(symbol.empty() ? "?" : symbol);
    order.push_back(layout && !layout.getOrder().empty()
                        ? layout.getOrder()[dim]
                        : static_cast<int64_t>(dim));
  }
  return llvm::json::Object{{"dtype", getName(dtype)},
                            {"shape", std::move(shape)},
                            {"order", std::move(order)}};
}

static Status describe(llvm::StringRef text, std::string &json) {
  Graph graph;
  Status status = graph.parse(text);
  if (status.failed())
    return status;
  auto describeAll = [&](TypeRange types, llvm::json::Array &list) {
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      std::optional<DType> dtype;
      if (tensor)
        dtype = getDType(tensor.getElementType());
      if (!dtype) {
        graph.getMain().emitError()
            << "@main takes or returns a value of type " << type
            << ", which is no tensor of the fusion dialect";
        return false;
      }
      list.push_back(describe(tensor, *dtype));
    }
    return true;
  };
  llvm::json::Array arguments, results;
  if (!describeAll(graph.getMain().getArgumentTypes(), arguments) ||
      !describeAll(graph.getMain().getResultTypes(), results))
    return graph.getReport("verify");
  llvm::json::Value value = llvm::json::Object{
      {"arguments", std::move(arguments)}, {"results", std::move(results)}};
  json = llvm::formatv("{0}", value).str();
  return Status::success();
}

fusion_error *fusion_signature(const char *text, size_t length, char **json) {
  std::string description;
  Status status = describe({text, length}, description);
  if (!status.failed())
    *json = copyString(description);
  return wrap(std::move(status));
}

//===- Interpreter.cpp - reference evaluator of the fusion dialect --------===//
//
// Runs the ops of a function in order. Values are dropped after their last use;
// every value is checked against its type, which also binds symbolic sizes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Interpreter/Interpreter.h"
#include "Evaluate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::interpreter;

DType interpreter::getResultDType(Operation *op) {
  return *getDType(getElementTypeOrSelf(op->getResult(0).getType()));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Checks sizes against a type and binds its symbols. `report` emits the start
/// of a message that says whose sizes they are.
static LogicalResult
checkSizes(ArrayRef<int64_t> sizes, RankedTensorType type, Symbols &symbols,
           llvm::function_ref<InFlightDiagnostic()> report) {
  if (static_cast<int64_t>(sizes.size()) != type.getRank())
    return report() << "has shape " << formatSizes(sizes) << ", but its type "
                    << type << " has rank " << type.getRank();
  LayoutAttr layout = getLayout(type);
  ArrayRef<StringAttr> names =
      layout ? layout.getSymbols() : ArrayRef<StringAttr>();
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (!type.isDynamicDim(dim)) {
      if (size != type.getDimSize(dim))
        return report() << "has shape " << formatSizes(sizes)
                        << ", but its type is " << type << ": size "
                        << type.getDimSize(dim) << " of dimension " << dim
                        << " is fixed";
      continue;
    }
    if (names.empty() || names[dim].getValue().empty())
      continue;
    auto [symbol, isNew] = symbols.try_emplace(names[dim].getValue(), size);
    if (!isNew && symbol->second != size)
      return report() << "has shape " << formatSizes(sizes) << ", but symbol '"
                      << symbol->first() << "', its dimension " << dim
                      << ", is " << symbol->second
                      << " elsewhere; all dimensions of one name have one size";
  }
  return success();
}

static LogicalResult bindArguments(func::FuncOp function,
                                   ArrayRef<Tensor> arguments,
                                   Symbols &symbols) {
  StringRef name = function.getName();
  if (arguments.size() != function.getNumArguments())
    return function.emitError()
           << "@" << name << " takes " << function.getNumArguments()
           << " arguments, got " << arguments.size();
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto report = [&, i = i] {
      return function.emitError() << "argument " << i << " of @" << name << " ";
    };
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!type || !getDType(type.getElementType()))
      return report() << "has type " << function.getArgumentTypes()[i]
                      << ", which is no tensor of the fusion dialect";
    if (*getDType(type.getElementType()) != argument.getDType())
      return report() << "has element type " << getName(argument.getDType())
                      << ", expected " << type
                      << "; convert the data, nothing is converted silently";
    if (failed(checkSizes(argument.getSizes(), type, symbols, report)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {
class Evaluator {
public:
  explicit Evaluator(Symbols &symbols) : symbols(symbols) {}

  /// Values of the terminator's operands, with `arguments` for the block's.
  FailureOr<SmallVector<Tensor>> run(Block &block,
                                     SmallVector<Tensor> arguments);

private:
  /// Evaluates one op and stores its results.
  LogicalResult visit(Operation *op);
  FailureOr<SmallVector<Tensor>> evaluateOp(Operation *op, Operands operands);
  /// Stores a value with the number of its uses, unless there is none.
  void store(Value value, Tensor tensor);
  /// Counts a use of each operand as done.
  void release(Operation *op);

  struct Entry {
    Tensor tensor;
    unsigned remainingUses;
  };
  DenseMap<Value, std::unique_ptr<Entry>> values;
  Symbols &symbols;
};
} // namespace

void Evaluator::store(Value value, Tensor tensor) {
  unsigned uses = std::distance(value.use_begin(), value.use_end());
  if (uses)
    values[value] = std::make_unique<Entry>(Entry{std::move(tensor), uses});
}

void Evaluator::release(Operation *op) {
  for (Value operand : op->getOperands())
    if (--values[operand]->remainingUses == 0)
      values.erase(operand);
}

FailureOr<SmallVector<Tensor>> Evaluator::evaluateOp(Operation *op,
                                                     Operands operands) {
  if (auto group = dyn_cast<GroupOp>(op)) {
    SmallVector<Tensor> inputs;
    for (const Tensor *operand : operands)
      inputs.push_back(*operand);
    return Evaluator(symbols).run(group.getBody().front(), std::move(inputs));
  }
  Result result =
      llvm::TypeSwitch<Operation *, Result>(op)
          .Case([&](ReshapeOp reshape) {
            return evaluate(reshape, operands, symbols);
          })
          .Case<ConstantOp, IotaOp, BroadcastOp, TransposeOp, SliceOp,
                ReverseOp, PadOp, ConcatOp, GatherOp, ReduceOp, ArgReduceOp,
                PoolOp, MatmulOp, ConvOp, SoftmaxOp, LogSoftmaxOp, LayerNormOp,
                RmsNormOp, GroupNormOp, BatchNormOp>([&](auto other) {
            return interpreter::evaluate(other, operands);
          })
          .Default(
              [&](Operation *) { return evaluateElementwise(op, operands); });
  if (failed(result))
    return failure();
  SmallVector<Tensor> results;
  results.push_back(std::move(*result));
  return results;
}

LogicalResult Evaluator::visit(Operation *op) {
  SmallVector<const Tensor *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(&values[operand]->tensor);
  FailureOr<SmallVector<Tensor>> results = evaluateOp(op, operands);
  if (failed(results))
    return failure();
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), *results)) {
    if (failed(checkSizes(tensor.getSizes(),
                          cast<RankedTensorType>(value.getType()), symbols,
                          [&] { return op->emitOpError("result "); })))
      return failure();
    store(value, std::move(tensor));
  }
  release(op);
  return success();
}

FailureOr<SmallVector<Tensor>> Evaluator::run(Block &block,
                                              SmallVector<Tensor> arguments) {
  for (auto [value, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    store(value, std::move(tensor));
  for (Operation &op : block.without_terminator())
    if (failed(visit(&op)))
      return failure();
  SmallVector<Tensor> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(values[value]->tensor);
  return results;
}

LogicalResult interpreter::checkArguments(func::FuncOp function,
                                          ArrayRef<Tensor> arguments) {
  Symbols symbols;
  return bindArguments(function, arguments, symbols);
}

FailureOr<SmallVector<Tensor>>
interpreter::evaluate(func::FuncOp function, ArrayRef<Tensor> arguments) {
  Symbols symbols;
  if (failed(bindArguments(function, arguments, symbols)))
    return failure();
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "@" << function.getName()
                                << " has no body of one block to evaluate";
  return Evaluator(symbols).run(function.getBody().front(),
                                SmallVector<Tensor>(arguments));
}

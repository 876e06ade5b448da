//===- CutGraph.cpp - reduction of a graph to what fails ------------------===//
//
// Upstream's reduction tree erases ops and leaves their users without operands;
// a graph by value needs another step. An op is cut out by making its results
// arguments of the function, a result of the function is dropped or gives way
// to what it is made of, and what is dead goes, as long as the script still
// sees the failure.
//
//===----------------------------------------------------------------------===//

#include "CutGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The function's type after its block or its return has changed.
static void updateType(func::FuncOp function) {
  Block &block = function.getBody().front();
  function.setType(FunctionType::get(function.getContext(),
                                     block.getArgumentTypes(),
                                     block.getTerminator()->getOperandTypes()));
}

/// Removes dead ops and unused arguments.
static void removeDead(func::FuncOp function) {
  Block &block = function.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  llvm::BitVector unused(block.getNumArguments());
  for (BlockArgument argument : block.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  // Attributes of arguments are not kept apart from the arguments.
  function.setAllArgAttrs(ArrayRef<DictionaryAttr>(
      SmallVector<DictionaryAttr>(function.getNumArguments())));
  block.eraseArguments(unused);
  updateType(function);
}

/// Makes the results of op number `index` arguments.
static void cutOp(func::FuncOp function, unsigned index) {
  Block &block = function.getBody().front();
  Operation &op = *std::next(block.begin(), index);
  for (Value result : op.getResults())
    result.replaceAllUsesWith(block.addArgument(result.getType(), op.getLoc()));
  updateType(function);
  op.erase();
  removeDead(function);
}

/// Returns one value less.
static void dropResult(func::FuncOp function, unsigned index) {
  function.getBody().front().getTerminator()->eraseOperand(index);
  function.setAllResultAttrs(ArrayRef<DictionaryAttr>(
      SmallVector<DictionaryAttr>(function.getNumResults())));
  updateType(function);
  removeDead(function);
}

/// Returns operand number `operand` of the op that makes result `index` in its
/// place.
static void returnOperand(func::FuncOp function, unsigned index,
                          unsigned operand) {
  Operation *exit = function.getBody().front().getTerminator();
  exit->setOperand(
      index, exit->getOperand(index).getDefiningOp()->getOperand(operand));
  removeDead(function);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
class CutGraphPass : public PassWrapper<CutGraphPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CutGraphPass)

  CutGraphPass() = default;
  CutGraphPass(const CutGraphPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "fusion-cut-graph"; }
  StringRef getDescription() const final {
    return "cuts ops and results off the functions of a module as long as a "
           "script sees the failure";
  }

  void runOnOperation() override {
    Tester tester(test, {});
    if (!isFailing(tester, getOperation())) {
      getOperation().emitError()
          << "the script '" << test
          << "' does not see the failure in the input; it must exit with 1 "
             "where the failure is";
      return signalPassFailure();
    }
    while (shrink(tester))
      ;
  }

private:
  static bool isFailing(const Tester &tester, ModuleOp module) {
    return tester.isInteresting(module).first == Tester::Interestingness::True;
  }

  /// Applies `step` to function `number` of a copy, which replaces the module
  /// if it still fails.
  bool tryStep(const Tester &tester, unsigned number,
               llvm::function_ref<void(func::FuncOp)> step) {
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    auto functions = copy->getOps<func::FuncOp>();
    step(*std::next(functions.begin(), number));
    // What a step breaks is no smaller failure.
    ScopedDiagnosticHandler quiet(&getContext(),
                                  [](Diagnostic &) { return success(); });
    if (failed(verify(*copy)) || !isFailing(tester, *copy))
      return false;
    getOperation().getBodyRegion().takeBody(copy->getBodyRegion());
    return true;
  }

  /// Drops a result, or returns an operand of its op.
  bool shrinkResult(const Tester &tester, unsigned number,
                    func::FuncOp function, unsigned index) {
    if (tryStep(tester, number,
                [&](func::FuncOp copy) { dropResult(copy, index); }))
      return true;
    Operation *exit = function.getBody().front().getTerminator();
    Operation *op = exit->getOperand(index).getDefiningOp();
    for (unsigned i = 0; op && i < op->getNumOperands(); ++i)
      if (tryStep(tester, number,
                  [&](func::FuncOp copy) { returnOperand(copy, index, i); }))
        return true;
    return false;
  }

  /// Makes one successful step, larger ones first: results of functions, then
  /// ops from the end, which take what leads to them along.
  bool shrink(const Tester &tester) {
    for (auto [number, function] :
         llvm::enumerate(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (shrinkResult(tester, number, function, i))
          return true;
      unsigned numOps = function.getBody().front().getOperations().size() - 1;
      for (unsigned i = numOps; i-- > 0;)
        if (tryStep(tester, number, [&](func::FuncOp copy) { cutOp(copy, i); }))
          return true;
    }
    return false;
  }

  Option<std::string> test{*this, "test",
                           llvm::cl::desc("script that gets a file and exits "
                                          "with 1 where the failure is")};
};
} // namespace

void fusion::tools::registerCutGraphPass() { PassRegistration<CutGraphPass>(); }

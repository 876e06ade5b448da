//===- Report.cpp - what was compiled, as JSON ----------------------------===//

#include "Report.h"
#include "PlanBuilder.h"
#include "fusion/Analysis/IndexMath.h"

using namespace mlir;
namespace json = llvm::json;

namespace fusion {

namespace {

/// A size or a number of bytes: a number, or text where it is symbolic.
json::Value toJson(AffineExpr expr) {
  if (std::optional<int64_t> value = evaluate(expr, {}))
    return *value;
  std::string text;
  llvm::raw_string_ostream os(text);
  expr.print(os);
  return text;
}

AffineExpr getBytes(Value value, const DimAnalysis &dims) {
  int64_t bits =
      cast<RankedTensorType>(value.getType()).getElementTypeBitWidth();
  return dims.getNumElements(value) * (int64_t)llvm::divideCeil(bits, 8);
}

AffineExpr sumBytes(ValueRange values, const DimAnalysis &dims,
                    MLIRContext *context) {
  AffineExpr sum = getAffineConstantExpr(0, context);
  llvm::SetVector<Value> distinct(values.begin(), values.end());
  for (Value value : distinct)
    sum = sum + getBytes(value, dims);
  return sum;
}

std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type;
  return text;
}

json::Object describe(Value value, const DimAnalysis &dims) {
  auto type = cast<RankedTensorType>(value.getType());
  json::Array shape, order;
  for (AffineExpr size : dims.getDims(value))
    shape.push_back(toJson(size));
  if (LayoutAttr layout = getLayout(type))
    for (int64_t dim : layout.getOrder())
      order.push_back(dim);
  return json::Object{{"dtype", toText(type.getElementType())},
                      {"shape", std::move(shape)},
                      {"order", std::move(order)}};
}

json::Value fromAttribute(Attribute attribute) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getInt();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    json::Array values;
    for (Attribute element : array)
      values.push_back(fromAttribute(element));
    return values;
  }
  json::Object object;
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute))
    for (NamedAttribute entry : dictionary)
      object[entry.getName().strref()] = fromAttribute(entry.getValue());
  return object;
}

/// The heroes among the ops of a launch, or "elementwise".
std::string getHero(ArrayAttr ops) {
  for (StringRef hero : {"matmul", "conv", "pool", "arg_reduce", "reduce"})
    if (llvm::any_of(ops.getAsRange<StringAttr>(),
                     [&](StringAttr op) { return op == hero; }))
      return hero.str();
  return "elementwise";
}

/// The most memory that temporaries take at once, where sizes are static, if
/// each lives from its launch to its last reader.
int64_t getPeakBytes(func::FuncOp function, const DimAnalysis &dims) {
  int64_t live = 0, peak = 0;
  DenseMap<Operation *, SmallVector<int64_t>> freed;
  Operation *ret = function.getBody().front().getTerminator();
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<tile::LaunchOp>(op))
      for (Value result : op.getResults()) {
        int64_t bytes = evaluate(getBytes(result, dims), {}).value_or(0);
        live += bytes;
        Operation *last = nullptr;
        SmallVector<Value> names{result};
        while (!names.empty())
          for (Operation *user : names.pop_back_val().getUsers()) {
            if (isa<ReshapeOp>(user))
              names.push_back(user->getResult(0));
            if (!last || last->isBeforeInBlock(user))
              last = user;
          }
        if (last && last != ret)
          freed[last].push_back(bytes);
      }
    peak = std::max(peak, live);
    for (int64_t bytes : freed.lookup(&op))
      live -= bytes;
  }
  return peak;
}

/// The launches whose results a launch reads, by their numbers.
json::Array getProducers(tile::LaunchOp launch,
                         const DenseMap<Operation *, int64_t> &numbers) {
  llvm::SmallSetVector<int64_t, 4> producers;
  for (Value input : launch.getInputs()) {
    Operation *op = stripAliases(input).getDefiningOp();
    if (op && numbers.contains(op))
      producers.insert(numbers.lookup(op));
  }
  return json::Array(producers);
}

} // namespace

UnfusedCost getUnfusedCost(func::FuncOp function, const DimAnalysis &dims) {
  UnfusedCost cost;
  MLIRContext *context = function.getContext();
  auto count = [&](ValueRange values) {
    return evaluate(sumBytes(values, dims, context), {}).value_or(0);
  };
  for (Operation &op : function.getBody().front().without_terminator()) {
    auto map = dyn_cast<IndexMapInterface>(op);
    bool copies = isa<PadOp, ConcatOp>(op);
    // Eager frameworks make other views without moving an element.
    if (isa<ConstantOp>(op) || (map && map.isView() && !copies))
      continue;
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      // A broadcast operand is read at its own size.
      while (auto broadcast = operand.getDefiningOp<BroadcastOp>())
        operand = broadcast.getX();
      if (!operand.getDefiningOp<ConstantOp>())
        operands.push_back(operand);
    }
    cost.bytes += count(operands) + count(op.getResults());
    ++cost.kernels;
  }
  Operation *ret = function.getBody().front().getTerminator();
  SmallVector<Value> arguments;
  llvm::copy_if(function.getArguments(), std::back_inserter(arguments),
                [](Value value) { return !value.use_empty(); });
  cost.minimumBytes = count(arguments) + count(ret->getOperands());
  return cost;
}

std::string makeReport(func::FuncOp function, const DimAnalysis &dims,
                       const CompileOptions &options, const UnfusedCost &before,
                       const Timing &timing) {
  MLIRContext *context = function.getContext();
  json::Object report;
  report["target"] = options.target;
  report["numerics"] = options.numerics;
  json::Array arguments, results, kernels;
  for (BlockArgument arg : function.getArguments()) {
    json::Object entry = describe(arg, dims);
    auto align = function.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(),
                                                        "fusion.align");
    entry["align"] = align ? align.getInt() : 16;
    arguments.push_back(std::move(entry));
  }
  Operation *ret = function.getBody().front().getTerminator();
  for (Value value : ret->getOperands())
    results.push_back(describe(value, dims));

  AffineExpr fused = getAffineConstantExpr(0, context);
  DenseMap<Operation *, int64_t> numbers;
  for (auto launch : function.getOps<tile::LaunchOp>()) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(
        launch, launch.getCalleeAttr());
    AffineExpr read = sumBytes(launch.getInputs(), dims, context);
    AffineExpr written = sumBytes(launch.getOutputs(), dims, context);
    fused = fused + read + written;
    auto ops = launch->getAttrOfType<ArrayAttr>("fusion.ops");
    kernels.push_back(json::Object{
        {"name", kernel.getSymName()},
        {"hero", getHero(ops)},
        {"schedule",
         kernel->getAttrOfType<StringAttr>("fusion.schedule").getValue()},
        {"ops", fromAttribute(ops)},
        {"ops_before", (int64_t)ops.size()},
        {"grid", toJson(kernel.getGrid().getResult(0).replaceSymbols(
                     launch.getSizes().getResults()))},
        {"threads", (int64_t)kernel.getThreads()},
        {"bytes_read", toJson(read)},
        {"bytes_written", toJson(written)},
        {"producers", getProducers(launch, numbers)},
        {"location", toString(launch.getLoc())}});
    numbers.try_emplace(launch, numbers.size());
  }
  report["arguments"] = std::move(arguments);
  report["results"] = std::move(results);
  report["kernels"] = std::move(kernels);
  if (auto remarks = function->getAttrOfType<ArrayAttr>("fusion.remarks"))
    report["remarks"] = fromAttribute(remarks);
  else
    report["remarks"] = json::Array();
  report["traffic"] = json::Object{{"unfused_bytes", before.bytes},
                                   {"fused_bytes", toJson(fused)},
                                   {"minimum_bytes", before.minimumBytes},
                                   {"unfused_kernels", before.kernels}};
  report["peak_bytes"] = getPeakBytes(function, dims);
  json::Array phases;
  for (auto &[phase, ms] : timing)
    phases.push_back(json::Object{{"phase", phase}, {"ms", ms}});
  report["timing"] = std::move(phases);
  report["from_cache"] = false;
  return llvm::formatv("{0}", json::Value(std::move(report))).str();
}

} // namespace fusion

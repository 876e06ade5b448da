//===- PlanBuilder.cpp - launches as a plan -------------------------------===//
//
// Every value is a buffer: an argument, a result, a constant or a temporary. A
// reshape is another name for its operand's buffer.
//
//===----------------------------------------------------------------------===//

#include "PlanBuilder.h"
#include "fusion/Analysis/IndexMath.h"

using namespace mlir;

namespace fusion {

using runtime::BufferRef;
using runtime::DType;
using runtime::SizeExpr;

SizeExpr toSizeExpr(AffineExpr expr) {
  SizeExpr result;
  std::function<void(AffineExpr)> append = [&](AffineExpr e) {
    if (auto constant = dyn_cast<AffineConstantExpr>(e)) {
      result.items.push_back({SizeExpr::Op::Constant, constant.getValue()});
      return;
    }
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e)) {
      result.items.push_back({SizeExpr::Op::Symbol, symbol.getPosition()});
      return;
    }
    auto binary = cast<AffineBinaryOpExpr>(e);
    append(binary.getLHS());
    append(binary.getRHS());
    SizeExpr::Op op = SizeExpr::Op::Add;
    switch (e.getKind()) {
    case AffineExprKind::Mul:
      op = SizeExpr::Op::Mul;
      break;
    case AffineExprKind::FloorDiv:
      op = SizeExpr::Op::FloorDiv;
      break;
    case AffineExprKind::CeilDiv:
      op = SizeExpr::Op::CeilDiv;
      break;
    case AffineExprKind::Mod:
      op = SizeExpr::Op::Mod;
      break;
    default:
      break;
    }
    result.items.push_back({op, 0});
  };
  append(expr);
  return result;
}

static DType getDType(Type type) {
  if (type.isF64())
    return DType::F64;
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isUnsignedInteger(8))
    return DType::U8;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return DType::Bool;
  case 8:
    return DType::I8;
  case 16:
    return DType::I16;
  case 32:
    return DType::I32;
  default:
    return DType::I64;
  }
}

namespace {

class PlanBuilder {
public:
  PlanBuilder(func::FuncOp function, const DimAnalysis &dims,
              const llvm::StringMap<int32_t> &kernelNumbers,
              runtime::Plan &plan)
      : function(function), dims(dims), kernelNumbers(kernelNumbers),
        plan(plan) {}

  LogicalResult build();

private:
  runtime::TensorSpec getSpec(Value value, StringRef kind, unsigned number);
  void addArguments();
  void addResults();
  LogicalResult addConstant(ConstantOp constant);
  void addLaunch(tile::LaunchOp launch);
  BufferRef getBuffer(Value value);
  void use(BufferRef buffer);

  func::FuncOp function;
  const DimAnalysis &dims;
  const llvm::StringMap<int32_t> &kernelNumbers;
  runtime::Plan &plan;
  DenseMap<Value, BufferRef> buffers;
};

runtime::TensorSpec PlanBuilder::getSpec(Value value, StringRef kind,
                                         unsigned number) {
  runtime::TensorSpec spec;
  auto type = cast<RankedTensorType>(value.getType());
  spec.dtype = getDType(type.getElementType());
  for (AffineExpr size : dims.getDims(value))
    spec.sizes.push_back(toSizeExpr(size));
  for (AffineExpr stride : dims.getStrides(value))
    spec.strides.push_back(toSizeExpr(stride));
  spec.name = (function.getName() + " " + kind + " " + Twine(number)).str();
  return spec;
}

void PlanBuilder::addArguments() {
  for (const DimSymbol &symbol : dims.getSymbols())
    plan.symbols.push_back(
        {(int32_t)symbol.argument, (int32_t)symbol.dim, symbol.stride});
  for (BlockArgument arg : function.getArguments()) {
    unsigned number = arg.getArgNumber();
    runtime::TensorSpec spec = getSpec(arg, "argument", number);
    auto align = function.getArgAttrOfType<IntegerAttr>(number, "fusion.align");
    spec.align = align ? align.getInt() : 16;
    if (auto name =
            function.getArgAttrOfType<StringAttr>(number, "fusion.name"))
      spec.name += (" ('" + name.getValue() + "')").str();
    plan.arguments.push_back(std::move(spec));
    buffers[arg] = {BufferRef::Kind::Argument, (int32_t)number};
  }
}

void PlanBuilder::addResults() {
  Operation *ret = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
    plan.results.push_back(getSpec(value, "result", i));
    // Group formation gives every result a buffer of its own.
    buffers[stripAliases(value)] = {BufferRef::Kind::Result, (int32_t)i};
  }
}

LogicalResult PlanBuilder::addConstant(ConstantOp constant) {
  auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!value)
    return constant.emitOpError("holds ")
           << constant.getValue()
           << ", which is not dense; write the elements out";
  runtime::Constant data;
  Type element = value.getElementType();
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  data.data.reserve(value.getNumElements() * bytes);
  auto append = [&](APInt bits) {
    uint64_t raw = bits.getZExtValue();
    data.data.append(reinterpret_cast<const char *>(&raw), bytes);
  };
  if (isa<FloatType>(element))
    for (APFloat v : value.getValues<APFloat>())
      append(v.bitcastToAPInt());
  else
    for (APInt v : value.getValues<APInt>())
      append(v);
  buffers[constant] = {BufferRef::Kind::Constant,
                       (int32_t)plan.constants.size()};
  plan.constants.push_back(std::move(data));
  return success();
}

BufferRef PlanBuilder::getBuffer(Value value) {
  return buffers.lookup(stripAliases(value));
}

void PlanBuilder::use(BufferRef buffer) {
  if (buffer.kind == BufferRef::Kind::Temporary)
    plan.temporaries[buffer.index].lastUse = (int32_t)plan.launches.size();
}

void PlanBuilder::addLaunch(tile::LaunchOp launch) {
  runtime::Launch entry;
  entry.kernel = kernelNumbers.lookup(launch.getCallee());
  entry.location = toString(launch.getLoc());
  for (Value input : launch.getInputs()) {
    entry.buffers.push_back(getBuffer(input));
    use(entry.buffers.back());
  }
  for (Value output : launch.getOutputs()) {
    if (!buffers.contains(output)) {
      runtime::Temporary temporary;
      AffineExpr count = dims.getNumElements(output);
      int64_t bits =
          cast<RankedTensorType>(output.getType()).getElementTypeBitWidth();
      temporary.bytes = toSizeExpr(count * (int64_t)llvm::divideCeil(bits, 8));
      temporary.elementBytes = (int32_t)llvm::divideCeil(bits, 8);
      temporary.firstUse = temporary.lastUse = (int32_t)plan.launches.size();
      buffers[output] = {BufferRef::Kind::Temporary,
                         (int32_t)plan.temporaries.size()};
      plan.temporaries.push_back(std::move(temporary));
    }
    entry.buffers.push_back(getBuffer(output));
  }
  AffineMap sizes = launch.getSizes();
  for (AffineExpr size : sizes.getResults())
    entry.sizes.push_back(toSizeExpr(size));
  auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(
      launch, launch.getCalleeAttr());
  entry.grid = toSizeExpr(
      kernel.getGrid().getResult(0).replaceSymbols(sizes.getResults()));
  if (auto work = launch->getAttrOfType<AffineMapAttr>(kWorkAttrName))
    entry.work = toSizeExpr(work.getValue().getResult(0));
  plan.launches.push_back(std::move(entry));
}

LogicalResult PlanBuilder::build() {
  addArguments();
  addResults();
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (failed(addConstant(constant)))
        return failure();
    } else if (auto launch = dyn_cast<tile::LaunchOp>(op)) {
      addLaunch(launch);
    } else if (!isa<ReshapeOp>(op)) {
      return op.emitOpError("is left over after scheduling; only launches, "
                            "reshapes and constants can be planned");
    }
  }
  return success();
}

} // namespace

LogicalResult buildPlan(func::FuncOp function,
                        const llvm::StringMap<int32_t> &kernelNumbers,
                        runtime::Plan &plan) {
  FailureOr<DimAnalysis> dims = DimAnalysis::create(function);
  if (failed(dims))
    return failure();
  return PlanBuilder(function, *dims, kernelNumbers, plan).build();
}

} // namespace fusion

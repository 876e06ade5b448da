//===- Dims.cpp - sizes of every value of a function ----------------------===//
//
// One walk in program order. Static sizes are constants; the others come from
// the op's own rule (DimsInterface) or from the name in the result's layout.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Dims.h"
#include "fusion/Analysis/IndexMath.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace fusion {

AffineExpr DimAnalysis::addSymbol(DimSymbol symbol) {
  symbols.push_back(symbol);
  return getAffineSymbolExpr(symbols.size() - 1, context);
}

/// The expression that the name of dimension `dim` stands for, or null.
AffineExpr DimAnalysis::getSymbol(Type type, unsigned dim) {
  LayoutAttr layout = getLayout(type);
  if (!layout || layout.getSymbols().empty() ||
      layout.getSymbols()[dim].empty())
    return nullptr;
  return named.lookup(layout.getSymbols()[dim]);
}

LogicalResult DimAnalysis::setResult(OpResult result,
                                     ArrayRef<AffineExpr> inferred) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i)) {
      exprs.push_back(getAffineConstantExpr(type.getDimSize(i), context));
      continue;
    }
    AffineExpr expr = i < (int64_t)inferred.size() ? inferred[i] : nullptr;
    if (!expr)
      expr = getSymbol(type, i);
    if (!expr)
      return result.getOwner()->emitOpError()
             << "has a result " << type << " whose size " << i
             << " follows from no argument; name it in the type's layout like "
                "the argument's size that it equals";
    exprs.push_back(expr);
  }
  dims[result] = std::move(exprs);
  return success();
}

LogicalResult DimAnalysis::visit(Operation *op) {
  if (auto group = dyn_cast<GroupOp>(op)) {
    for (auto [arg, input] :
         llvm::zip_equal(group.getBody().getArguments(), group.getInputs())) {
      dims[arg] = dims.lookup(input);
      strides[arg] = strides.lookup(input);
    }
    for (Operation &inner : group.getBody().front())
      if (failed(visit(&inner)))
        return failure();
    Operation *yield = group.getBody().front().getTerminator();
    for (auto [result, value] :
         llvm::zip_equal(group.getResults(), yield->getOperands()))
      dims[result] = dims.lookup(value);
    return success();
  }
  if (auto launch = dyn_cast<tile::LaunchOp>(op)) {
    auto maps = launch->getAttrOfType<ArrayAttr>(kResultDimsAttrName);
    for (OpResult result : launch->getResults()) {
      SmallVector<AffineExpr> inferred;
      if (maps && result.getResultNumber() < maps.size())
        inferred =
            llvm::to_vector(cast<AffineMapAttr>(maps[result.getResultNumber()])
                                .getValue()
                                .getResults());
      if (failed(setResult(result, inferred)))
        return failure();
    }
    return success();
  }
  auto interface = dyn_cast<DimsInterface>(op);
  SmallVector<SmallVector<AffineExpr>> operands;
  if (interface)
    for (Value operand : op->getOperands())
      operands.push_back(dims.lookup(operand));
  for (OpResult result : op->getResults()) {
    SmallVector<AffineExpr> inferred;
    if (interface)
      inferred = interface.inferDims(result.getResultNumber(), operands);
    if (isa<RankedTensorType>(result.getType()) &&
        failed(setResult(result, inferred)))
      return failure();
  }
  return success();
}

FailureOr<DimAnalysis> DimAnalysis::create(func::FuncOp function) {
  DimAnalysis analysis;
  analysis.context = function.getContext();
  for (BlockArgument arg : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type) {
      function.emitError() << "argument " << arg.getArgNumber() << " of '"
                           << function.getName() << "' is " << arg.getType()
                           << "; a graph takes ranked tensors only";
      return failure();
    }
    LayoutAttr layout = getLayout(type);
    SmallVector<AffineExpr> sizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) {
        sizes.push_back(
            getAffineConstantExpr(type.getDimSize(i), analysis.context));
        continue;
      }
      AffineExpr expr = analysis.getSymbol(type, i);
      if (!expr)
        expr = analysis.addSymbol({arg.getArgNumber(), (unsigned)i, false});
      if (layout && !layout.getSymbols().empty() &&
          !layout.getSymbols()[i].empty())
        analysis.named.try_emplace(layout.getSymbols()[i], expr);
      sizes.push_back(expr);
    }
    if (layout && !layout.getStrides().empty()) {
      SmallVector<AffineExpr> exprs;
      for (auto [i, stride] : llvm::enumerate(layout.getStrides()))
        exprs.push_back(
            stride >= 0
                ? getAffineConstantExpr(stride, analysis.context)
                : analysis.addSymbol({arg.getArgNumber(), (unsigned)i, true}));
      analysis.strides[arg] = std::move(exprs);
    }
    analysis.dims[arg] = std::move(sizes);
  }
  for (Operation &op : function.getBody().front())
    if (failed(analysis.visit(&op)))
      return failure();
  return analysis;
}

ArrayRef<AffineExpr> DimAnalysis::getDims(Value value) const {
  auto it = dims.find(value);
  return it == dims.end() ? ArrayRef<AffineExpr>() : it->second;
}

SmallVector<AffineExpr> getDenseStrides(RankedTensorType type,
                                        ArrayRef<AffineExpr> dims) {
  MLIRContext *context = type.getContext();
  SmallVector<AffineExpr> strides(dims.size());
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (LayoutAttr layout = getLayout(type); layout && !layout.getOrder().empty())
    order = llvm::to_vector(layout.getOrder());
  AffineExpr stride = getAffineConstantExpr(1, context);
  for (int64_t dim : llvm::reverse(order)) {
    strides[dim] = stride;
    stride = stride * dims[dim];
  }
  return strides;
}

SmallVector<AffineExpr> DimAnalysis::getStrides(Value value) const {
  auto it = strides.find(value);
  if (it != strides.end() && !it->second.empty())
    return it->second;
  return getDenseStrides(cast<RankedTensorType>(value.getType()),
                         getDims(value));
}

AffineExpr DimAnalysis::getNumElements(Value value) const {
  return product(getDims(value), context);
}

ArrayAttr DimAnalysis::getDimsAttr(ValueRange values) const {
  Builder builder(context);
  SmallVector<AffineMap> maps;
  for (Value value : values)
    maps.push_back(AffineMap::get(0, symbols.size(), getDims(value), context));
  return builder.getAffineMapArrayAttr(maps);
}

ArrayAttr DimAnalysis::getSymbolsAttr(Builder &builder) const {
  SmallVector<Attribute> entries;
  for (const DimSymbol &symbol : symbols)
    entries.push_back(builder.getDenseI64ArrayAttr({(int64_t)symbol.argument,
                                                    (int64_t)symbol.dim,
                                                    symbol.stride ? 1 : 0}));
  return builder.getArrayAttr(entries);
}

static bool isRowMajor(Type type) {
  LayoutAttr layout = getLayout(type);
  return !layout || (layout.getOrder().empty() && layout.getStrides().empty());
}

bool isAlias(ReshapeOp reshape) {
  return isRowMajor(reshape.getX().getType()) && isRowMajor(reshape.getType());
}

Value stripAliases(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    if (!isAlias(reshape))
      break;
    value = reshape.getX();
  }
  return value;
}

std::string toString(Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  return "";
}

} // namespace fusion

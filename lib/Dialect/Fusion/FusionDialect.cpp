//===- FusionDialect.cpp - registration and helpers of the dialect --------===//
//
// Registers the ops and attributes and defines the free helpers of
// FusionDialect.h. What an op means is in the files named after its family.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fusion;

#include "fusion/Dialect/Fusion/FusionDialect.cpp.inc"
#include "fusion/Dialect/Fusion/FusionEnums.cpp.inc"
#include "fusion/Dialect/Fusion/FusionInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fusion/Dialect/Fusion/FusionAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "fusion/Dialect/Fusion/FusionOps.cpp.inc"

void FusionDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fusion/Dialect/Fusion/FusionAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fusion/Dialect/Fusion/FusionOps.cpp.inc"
      >();
}

Operation *FusionDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

SmallVector<OperandAccess> fusion::identityAccesses(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<AffineExpr> index;
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    index.push_back(getAffineDimExpr(dim, op->getContext()));
  SmallVector<OperandAccess> accesses;
  for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
    accesses.push_back({operand, index, {}});
  return accesses;
}

LayoutAttr fusion::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_if_present<LayoutAttr>(tensor.getEncoding())
                : nullptr;
}

RankedTensorType fusion::withElementType(RankedTensorType type,
                                         Type elementType) {
  return RankedTensorType::get(type.getShape(), elementType,
                               type.getEncoding());
}

Type fusion::getStorageType(Type elementType) {
  if (elementType.isUnsignedInteger())
    return IntegerType::get(elementType.getContext(),
                            elementType.getIntOrFloatBitWidth());
  return elementType;
}

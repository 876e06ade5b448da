//===- GraphBuilder.cpp - builds fusion ops with inferred types -----------===//
//
// See the header. Results of reductions carry no layout: they are small, and
// their sizes follow from the operand.
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fusion;

RankedTensorType fusion::getComputedType(Type type, Type elementType) {
  auto tensor = cast<RankedTensorType>(type);
  LayoutAttr layout = getLayout(type);
  if (!layout || layout.getStrides().empty())
    return withElementType(tensor, elementType);
  Attribute encoding;
  if (!layout.getSymbols().empty())
    encoding = LayoutAttr::get(type.getContext(), {}, {}, layout.getSymbols());
  return RankedTensorType::get(tensor.getShape(), elementType, encoding);
}

SmallVector<int64_t> fusion::getOtherDims(int64_t rank,
                                          ArrayRef<int64_t> dims) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  return others;
}

Value GraphBuilder::convert(Value x, Type elementType) {
  if (getElementTypeOrSelf(x.getType()) == elementType)
    return x;
  return ConvertOp::create(builder, loc,
                           getComputedType(x.getType(), elementType), x);
}

Value GraphBuilder::convertTo(Value x, Type type) {
  return x.getType() == type ? x : ConvertOp::create(builder, loc, type, x);
}

Value GraphBuilder::splat(double value, Type elementType, Value like) {
  TypedAttr attr = isa<FloatType>(elementType)
                       ? TypedAttr(builder.getFloatAttr(elementType, value))
                       : TypedAttr(builder.getIntegerAttr(
                             elementType, static_cast<int64_t>(value)));
  return splat(attr, like);
}

Value GraphBuilder::splat(TypedAttr value, Value like) {
  auto shape = cast<RankedTensorType>(like.getType());
  auto type = RankedTensorType::get(
      shape.hasStaticShape() ? shape.getShape() : ArrayRef<int64_t>(),
      value.getType());
  Value constant = ConstantOp::create(
      builder, loc, type, DenseElementsAttr::get(type, Attribute(value)));
  return shape.hasStaticShape() ? constant : broadcast(constant, {}, like);
}

Value GraphBuilder::broadcast(Value x, ArrayRef<int64_t> dims, Value like) {
  auto type =
      getComputedType(like.getType(), getElementTypeOrSelf(x.getType()));
  return BroadcastOp::create(builder, loc, type, x,
                             type.hasStaticShape() ? Value() : like, dims);
}

Value GraphBuilder::repeat(Value x, ArrayRef<int64_t> dims, Type type) {
  return BroadcastOp::create(builder, loc, type, x, Value(), dims);
}

Value GraphBuilder::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : getOtherDims(type.getRank(), dims))
    shape.push_back(type.getDimSize(dim));
  auto resultType = RankedTensorType::get(shape, type.getElementType());
  return ReduceOp::create(builder, loc, resultType, kind, x, dims);
}

Value GraphBuilder::reshape(Value x, Type type) {
  return x.getType() == type ? x : ReshapeOp::create(builder, loc, type, x);
}

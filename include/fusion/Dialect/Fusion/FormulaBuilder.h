//===- FormulaBuilder.h - scalar and vector arithmetic in short form ------===//
//
// Formulas over `arith` and `math` ops, written as formulas. Every method takes
// scalars or vectors alike, and a literal operand becomes a constant of the
// other operand's type. No fast-math flag is ever set: what is written is what
// is computed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FORMULABUILDER_H
#define FUSION_DIALECT_FUSION_FORMULABUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

namespace fusion {

class FormulaBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using CmpF = mlir::arith::CmpFPredicate;
  using CmpI = mlir::arith::CmpIPredicate;

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  FormulaBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : ImplicitLocOpBuilder(loc, builder) {}

  /// `element` in the shape of `like`: a vector type or the element itself.
  static Type shaped(Type element, Type like) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(like))
      return vector.clone(element);
    return element;
  }
  static Type elementType(Value value) {
    return mlir::getElementTypeOrSelf(value.getType());
  }
  static bool isFloat(Value value) {
    return llvm::isa<mlir::FloatType>(elementType(value));
  }

  //===--------------------------------------------------------------------===//
  // Constants, in the type of a value
  //===--------------------------------------------------------------------===//

  Value constant(Value like, const llvm::APFloat &value) {
    return splat(like, getFloatAttr(elementType(like), value));
  }
  /// `value` rounded to the element type.
  Value constant(Value like, double value) {
    return splat(like, getFloatAttr(elementType(like), value));
  }
  Value integer(Value like, int64_t value) {
    return splat(like, getIntegerAttr(elementType(like), value));
  }

  //===--------------------------------------------------------------------===//
  // Floats and integers; integers wrap
  //===--------------------------------------------------------------------===//

  Value add(Value a, Value b) {
    return either<mlir::arith::AddFOp, mlir::arith::AddIOp>(a, b);
  }
  Value sub(Value a, Value b) {
    return either<mlir::arith::SubFOp, mlir::arith::SubIOp>(a, b);
  }
  Value mul(Value a, Value b) {
    return either<mlir::arith::MulFOp, mlir::arith::MulIOp>(a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return create<mlir::arith::SelectOp>(condition, a, b);
  }

  //===--------------------------------------------------------------------===//
  // Floats
  //===--------------------------------------------------------------------===//

  Value add(Value a, double b) { return add(a, constant(a, b)); }
  Value sub(Value a, double b) { return sub(a, constant(a, b)); }
  Value mul(Value a, double b) { return mul(a, constant(a, b)); }
  Value div(Value a, Value b) { return create<mlir::arith::DivFOp>(a, b); }
  Value div(Value a, double b) { return div(a, constant(a, b)); }
  Value div(double a, Value b) { return div(constant(b, a), b); }
  Value neg(Value a) { return create<mlir::arith::NegFOp>(a); }
  Value abs(Value a) { return create<mlir::math::AbsFOp>(a); }
  Value fma(Value a, Value b, Value c) {
    return create<mlir::math::FmaOp>(a, b, c);
  }
  Value fma(Value a, Value b, double c) { return fma(a, b, constant(a, c)); }
  Value fma(Value a, double b, Value c) { return fma(a, constant(a, b), c); }
  /// IEEE minimum and maximum: NaN wins, and -0.0 is less than 0.0.
  Value minimum(Value a, Value b) {
    return create<mlir::arith::MinimumFOp>(a, b);
  }
  Value maximum(Value a, Value b) {
    return create<mlir::arith::MaximumFOp>(a, b);
  }
  Value minimum(Value a, double b) { return minimum(a, constant(a, b)); }
  Value maximum(Value a, double b) { return maximum(a, constant(a, b)); }
  Value copysign(Value magnitude, Value sign) {
    return create<mlir::math::CopySignOp>(magnitude, sign);
  }
  Value cmp(CmpF predicate, Value a, Value b) {
    return create<mlir::arith::CmpFOp>(predicate, a, b);
  }
  Value cmp(CmpF predicate, Value a, double b) {
    return cmp(predicate, a, constant(a, b));
  }
  Value isNaN(Value a) { return cmp(CmpF::UNO, a, a); }
  /// A unary `math` op.
  template <typename MathOp> Value math(Value a) { return create<MathOp>(a); }

  //===--------------------------------------------------------------------===//
  // Integers and booleans
  //===--------------------------------------------------------------------===//

  Value cmp(CmpI predicate, Value a, Value b) {
    return create<mlir::arith::CmpIOp>(predicate, a, b);
  }
  Value cmp(CmpI predicate, Value a, int64_t b) {
    return cmp(predicate, a, integer(a, b));
  }
  Value bitAnd(Value a, Value b) { return create<mlir::arith::AndIOp>(a, b); }
  Value bitAnd(Value a, int64_t b) { return bitAnd(a, integer(a, b)); }
  Value bitOr(Value a, Value b) { return create<mlir::arith::OrIOp>(a, b); }
  Value bitOr(Value a, int64_t b) { return bitOr(a, integer(a, b)); }
  Value bitXor(Value a, Value b) { return create<mlir::arith::XOrIOp>(a, b); }
  Value bitXor(Value a, int64_t b) { return bitXor(a, integer(a, b)); }
  Value shl(Value a, Value b) { return create<mlir::arith::ShLIOp>(a, b); }
  Value shl(Value a, int64_t b) { return shl(a, integer(a, b)); }
  Value ashr(Value a, Value b) { return create<mlir::arith::ShRSIOp>(a, b); }
  Value ashr(Value a, int64_t b) { return ashr(a, integer(a, b)); }
  Value lshr(Value a, Value b) { return create<mlir::arith::ShRUIOp>(a, b); }
  Value lshr(Value a, int64_t b) { return lshr(a, integer(a, b)); }

  //===--------------------------------------------------------------------===//
  // Conversions to an element type
  //===--------------------------------------------------------------------===//

  template <typename CastOp> Value cast(Value a, Type element) {
    return create<CastOp>(shaped(element, a.getType()), a);
  }
  Value bitcast(Value a, Type element) {
    return cast<mlir::arith::BitcastOp>(a, element);
  }
  Value extf(Value a, Type element) {
    return cast<mlir::arith::ExtFOp>(a, element);
  }
  Value truncf(Value a, Type element) {
    return cast<mlir::arith::TruncFOp>(a, element);
  }

private:
  Value splat(Value like, mlir::TypedAttr element) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(like.getType()))
      element = mlir::DenseElementsAttr::get(
          vector, llvm::ArrayRef<mlir::Attribute>(element));
    return create<mlir::arith::ConstantOp>(element);
  }
  template <typename FloatOp, typename IntOp> Value either(Value a, Value b) {
    if (isFloat(a))
      return create<FloatOp>(a, b);
    return create<IntOp>(a, b);
  }
};

} // namespace fusion

#endif // FUSION_DIALECT_FUSION_FORMULABUILDER_H

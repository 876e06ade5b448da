//===- Combiner.cpp - how hero ops combine elements -----------------------===//
//
// f16 and bf16 accumulate in f32, narrow integers of a product in 32 bits; the
// result is rounded once. Sums run in the order the schedule gives: no
// reassociation is left to LLVM.
//
//===----------------------------------------------------------------------===//

#include "fusion/Schedule/Combiner.h"
#include "fusion/Dialect/Fusion/FormulaBuilder.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion {

namespace {

enum class Rule { Add, Multiply, Min, Max, Or, And };

Rule getRule(Operation *hero) {
  if (auto reduce = dyn_cast<ReduceOp>(hero)) {
    switch (reduce.getKind()) {
    case ReduceKind::sum:
      return Rule::Add;
    case ReduceKind::prod:
      return Rule::Multiply;
    case ReduceKind::min:
      return Rule::Min;
    case ReduceKind::max:
      return Rule::Max;
    case ReduceKind::any:
      return Rule::Or;
    case ReduceKind::all:
      return Rule::And;
    }
  }
  if (auto reduce = dyn_cast<ArgReduceOp>(hero))
    return reduce.getKind() == ArgReduceKind::min ? Rule::Min : Rule::Max;
  if (auto pool = dyn_cast<PoolOp>(hero))
    return pool.getKind() == PoolKind::max ? Rule::Max : Rule::Add;
  return Rule::Add;
}

Type getElement(Type type) { return cast<ShapedType>(type).getElementType(); }

} // namespace

Combiner::Combiner(Operation *hero) : hero(hero) {
  Type element = getElement(hero->getOperand(0).getType());
  isSigned = !element.isUnsignedInteger();
  Builder builder(hero->getContext());
  Type type = getStorageType(element);
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    type = builder.getF32Type();
  if (isa<MatmulOp, ConvOp>(hero) && type.isInteger() &&
      type.getIntOrFloatBitWidth() < 32)
    type = builder.getI32Type();
  types.push_back(type);
  if (isArgReduce())
    types.push_back(builder.getI64Type());
}

Combiner::Combiner(ArrayRef<Operation *> heroes) : Combiner(heroes.front()) {
  if (heroes.size() == 1)
    return;
  assert(heroes.size() == 2 && isExponentialSum(heroes[1], heroes[0]));
  exponentialSum = heroes[1];
  types.push_back(types[0]);
}

bool Combiner::isExponentialSum(Operation *hero, Operation *maximum) {
  auto sum = dyn_cast<ReduceOp>(hero);
  auto max = dyn_cast<ReduceOp>(maximum);
  if (!sum || !max || sum.getKind() != ReduceKind::sum ||
      max.getKind() != ReduceKind::max)
    return false;
  auto exponential = sum->getOperand(0).getDefiningOp<ExpOp>();
  auto shifted =
      exponential ? exponential->getOperand(0).getDefiningOp<SubOp>() : nullptr;
  // Narrower types round the difference and the exponential.
  Type element = getElement(hero->getOperand(0).getType());
  if (!shifted || shifted->getOperand(0) != max->getOperand(0) ||
      !(element.isF32() || element.isF64()))
    return false;
  Value row = shifted->getOperand(1);
  while (Operation *view = row.getDefiningOp()) {
    if (view == maximum)
      return true;
    if (!isa<BroadcastOp, ReshapeOp>(view))
      return false;
    row = view->getOperand(0);
  }
  return false;
}

bool Combiner::isArgReduce() const { return isa<ArgReduceOp>(hero); }

SmallVector<Type> Combiner::getTypes(int64_t lanes) const {
  return llvm::map_to_vector(types, [&](Type type) -> Type {
    return lanes > 1 ? VectorType::get({lanes}, type) : type;
  });
}

/// The value that `rule` never prefers to another.
static Attribute getNeutral(Builder &builder, Rule rule, Type type,
                            bool isSigned) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    switch (rule) {
    case Rule::Min:
    case Rule::Max:
      return builder.getFloatAttr(
          type, APFloat::getInf(semantics, rule == Rule::Max));
    case Rule::Multiply:
      return builder.getFloatAttr(type, 1.0);
    default:
      return builder.getFloatAttr(type, 0.0);
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  switch (rule) {
  case Rule::Min:
    return builder.getIntegerAttr(type, isSigned
                                            ? APInt::getSignedMaxValue(width)
                                            : APInt::getMaxValue(width));
  case Rule::Max:
    return builder.getIntegerAttr(type, isSigned
                                            ? APInt::getSignedMinValue(width)
                                            : APInt::getMinValue(width));
  case Rule::Multiply:
    return builder.getIntegerAttr(type, APInt(width, 1));
  case Rule::And:
    return builder.getIntegerAttr(type, APInt::getAllOnes(width));
  default:
    return builder.getIntegerAttr(type, APInt(width, 0));
  }
}

static Value makeConstant(OpBuilder &builder, Location loc, Attribute value,
                          Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(vector, {value}));
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(value));
}

SmallVector<Value> Combiner::getIdentity(OpBuilder &builder, Location loc,
                                         int64_t lanes) const {
  SmallVector<Type> full = getTypes(lanes);
  SmallVector<Value> result{makeConstant(
      builder, loc, getNeutral(builder, getRule(hero), types[0], isSigned),
      full[0])};
  if (exponentialSum)
    result.push_back(
        makeConstant(builder, loc, builder.getZeroAttr(types[1]), full[1]));
  // No index is larger: an element equal to the neutral value still wins.
  if (isArgReduce())
    result.push_back(makeConstant(
        builder, loc, builder.getI64IntegerAttr(INT64_MAX), full[1]));
  return result;
}

Value Combiner::convertToAccumulator(OpBuilder &builder, Location loc,
                                     Value element) const {
  FormulaBuilder b(builder, loc);
  Type to = FormulaBuilder::shaped(types[0], element.getType());
  if (element.getType() == to)
    return element;
  if (isa<FloatType>(types[0]))
    return arith::ExtFOp::create(builder, loc, to, element);
  return isSigned ? Value(arith::ExtSIOp::create(builder, loc, to, element))
                  : Value(arith::ExtUIOp::create(builder, loc, to, element));
}

SmallVector<Value> Combiner::wrap(OpBuilder &builder, Location loc,
                                  const Contribution &point) const {
  SmallVector<Value> result{convertToAccumulator(builder, loc, point.element)};
  if (isArgReduce())
    result.push_back(arith::IndexCastOp::create(
        builder, loc, FormulaBuilder::shaped(types[1], point.element.getType()),
        point.position));
  return result;
}

SmallVector<Value> Combiner::absorb(OpBuilder &builder, Location loc,
                                    ValueRange accumulator,
                                    ArrayRef<Contribution> points) const {
  if (exponentialSum)
    return absorbExponentials(builder, loc, accumulator, points);
  SmallVector<Value> current(accumulator);
  for (const Contribution &point : points) {
    SmallVector<Value> next =
        combine(builder, loc, current, wrap(builder, loc, point));
    for (auto [now, before] : llvm::zip_equal(next, current))
      if (point.exists)
        now = arith::SelectOp::create(builder, loc, point.exists, now, before);
    current = std::move(next);
  }
  return current;
}

/// exp(from - to), what a sum relative to `from` is multiplied by to be one
/// relative to `to`. Equal infinities give 1.
static Value getRescale(FormulaBuilder &e, Value from, Value to) {
  Value equal = e.cmp(FormulaBuilder::CmpF::OEQ, from, to);
  return e.select(equal, e.constant(from, 1.0),
                  e.math<math::ExpOp>(e.sub(from, to)));
}

/// The maximum first, of all points together, so that the sum is rescaled once.
/// Where it is still -inf every point counts as one; `finish` makes it NaN.
SmallVector<Value>
Combiner::absorbExponentials(OpBuilder &builder, Location loc,
                             ValueRange accumulator,
                             ArrayRef<Contribution> points) const {
  FormulaBuilder e(builder, loc);
  Value lowest = e.constant(accumulator[0], -FormulaBuilder::infinity);
  SmallVector<Value> elements;
  Value maximum = accumulator[0];
  for (const Contribution &point : points) {
    Value element = point.element;
    if (point.exists)
      element = e.select(point.exists, element, lowest);
    elements.push_back(element);
    maximum = e.maximum(maximum, element);
  }
  Value none = e.cmp(FormulaBuilder::CmpF::OEQ, maximum, lowest);
  Value base = e.select(none, e.constant(maximum, 0.0), maximum);
  Value sum = e.mul(accumulator[1], getRescale(e, accumulator[0], maximum));
  for (Value element : elements)
    sum = e.add(sum, e.math<math::ExpOp>(e.sub(element, base)));
  return {maximum, e.select(none, e.constant(sum, 1.0), sum)};
}

SmallVector<Value> Combiner::combine(OpBuilder &builder, Location loc,
                                     ValueRange a, ValueRange b) const {
  FormulaBuilder e(builder, loc);
  using CmpF = FormulaBuilder::CmpF;
  using CmpI = FormulaBuilder::CmpI;
  bool isFloat = FormulaBuilder::isFloat(a[0]);
  Rule rule = getRule(hero);
  if (isArgReduce()) {
    // A NaN beats every number; of equals, NaNs included, the first index wins.
    Value better, equal;
    if (isFloat) {
      Value aNaN = e.isNaN(a[0]), bNaN = e.isNaN(b[0]);
      Value ordered =
          e.cmp(rule == Rule::Max ? CmpF::OGT : CmpF::OLT, a[0], b[0]);
      Value bNumber =
          arith::CmpFOp::create(builder, loc, CmpF::ORD, b[0], b[0]);
      better = arith::OrIOp::create(
          builder, loc, ordered,
          arith::AndIOp::create(builder, loc, aNaN, bNumber));
      equal =
          arith::OrIOp::create(builder, loc, e.cmp(CmpF::OEQ, a[0], b[0]),
                               arith::AndIOp::create(builder, loc, aNaN, bNaN));
    } else {
      CmpI less = isSigned ? CmpI::slt : CmpI::ult;
      CmpI greater = isSigned ? CmpI::sgt : CmpI::ugt;
      better = e.cmp(rule == Rule::Max ? greater : less, a[0], b[0]);
      equal = e.cmp(CmpI::eq, a[0], b[0]);
    }
    Value first = e.cmp(CmpI::slt, a[1], b[1]);
    Value takeA =
        arith::OrIOp::create(builder, loc, better,
                             arith::AndIOp::create(builder, loc, equal, first));
    return {e.select(takeA, a[0], b[0]), e.select(takeA, a[1], b[1])};
  }
  if (exponentialSum) {
    Value maximum = e.maximum(a[0], b[0]);
    return {maximum, e.add(e.mul(a[1], getRescale(e, a[0], maximum)),
                           e.mul(b[1], getRescale(e, b[0], maximum)))};
  }
  switch (rule) {
  case Rule::Add:
    return {e.add(a[0], b[0])};
  case Rule::Multiply:
    return {e.mul(a[0], b[0])};
  case Rule::Or:
    return {arith::OrIOp::create(builder, loc, a[0], b[0])};
  case Rule::And:
    return {arith::AndIOp::create(builder, loc, a[0], b[0])};
  case Rule::Min:
    if (isFloat)
      return {e.minimum(a[0], b[0])};
    return {isSigned ? Value(arith::MinSIOp::create(builder, loc, a[0], b[0]))
                     : Value(arith::MinUIOp::create(builder, loc, a[0], b[0]))};
  case Rule::Max:
    if (isFloat)
      return {e.maximum(a[0], b[0])};
    return {isSigned ? Value(arith::MaxSIOp::create(builder, loc, a[0], b[0]))
                     : Value(arith::MaxUIOp::create(builder, loc, a[0], b[0]))};
  }
  llvm_unreachable("every rule is handled");
}

SmallVector<Value> Combiner::multiplyAdd(OpBuilder &builder, Location loc,
                                         ValueRange accumulator, Value a,
                                         Value b) const {
  a = convertToAccumulator(builder, loc, a);
  b = convertToAccumulator(builder, loc, b);
  FormulaBuilder e(builder, loc);
  if (FormulaBuilder::isFloat(a))
    return {e.fma(a, b, accumulator[0])};
  return {e.add(accumulator[0], e.mul(a, b))};
}

/// An accumulated value, rounded to the type of the hero's result.
static Value roundResult(OpBuilder &builder, Location loc, Operation *hero,
                         Value value) {
  Type from = FormulaBuilder::elementType(value);
  Type to = getStorageType(getElement(hero->getResult(0).getType()));
  if (from == to)
    return value;
  Type full = FormulaBuilder::shaped(to, value.getType());
  if (isa<FloatType>(to))
    return to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth()
               ? Value(arith::TruncFOp::create(builder, loc, full, value))
               : Value(arith::ExtFOp::create(builder, loc, full, value));
  return to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth()
             ? Value(arith::TruncIOp::create(builder, loc, full, value))
             : Value(arith::ExtSIOp::create(builder, loc, full, value));
}

SmallVector<Value> Combiner::finish(OpBuilder &builder, Location loc,
                                    ValueRange accumulator) const {
  SmallVector<Value> results{
      roundResult(builder, loc, hero, accumulator[isArgReduce() ? 1 : 0])};
  if (exponentialSum) {
    // exp(x - m) of an infinite or NaN maximum is NaN, as m - m is; a row
    // without elements has the sum 0.
    FormulaBuilder e(builder, loc);
    Value sum = accumulator[1], maximum = accumulator[0];
    Value empty = e.cmp(FormulaBuilder::CmpF::OEQ, sum, 0.0);
    results.push_back(
        e.select(empty, sum, e.add(sum, e.sub(maximum, maximum))));
  }
  return results;
}

SmallVector<Value> Combiner::reduceLanes(OpBuilder &builder, Location loc,
                                         ValueRange accumulator) const {
  SmallVector<Value> current(accumulator);
  auto type = dyn_cast<VectorType>(current[0].getType());
  if (!type)
    return current;
  int64_t lanes = type.getDimSize(0);
  while (lanes > 1) {
    int64_t half = lanes / 2;
    SmallVector<Value> low, high;
    for (Value value : current) {
      if (half == 1) {
        low.push_back(vector::ExtractOp::create(builder, loc, value, 0));
        high.push_back(vector::ExtractOp::create(builder, loc, value, 1));
        continue;
      }
      auto slice = [&](int64_t offset) -> Value {
        return vector::ExtractStridedSliceOp::create(
            builder, loc, value, ArrayRef<int64_t>{offset},
            ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
      };
      low.push_back(slice(0));
      high.push_back(slice(half));
    }
    current = combine(builder, loc, low, high);
    lanes = half;
  }
  return current;
}

} // namespace fusion

//===- ElementEmitter.cpp - code for an element of a group's value --------===//
//
// The recursion through views and elementwise ops. Loads, guards and stores are
// in ElementMemory.cpp, heroes in ElementHero.cpp.
//
//===----------------------------------------------------------------------===//

#include "fusion/Schedule/ElementEmitter.h"
#include "fusion/Dialect/Fusion/FormulaBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion {

ElementEmitter::ElementEmitter(const GroupModel &model, OpBuilder &builder,
                               ValueRange buffers, ValueRange sizes)
    : model(model), builder(builder), loc(model.getGroup().getLoc()),
      buffers(buffers), sizes(sizes.begin(), sizes.end()) {
  llvm::append_range(divisors.symbols, model.getSymbols().getDivisors());
  frames.emplace_back();
}

AffineExpr ElementEmitter::addDim(Value value, int64_t divisor) {
  dimValues.push_back(value);
  divisors.dims.push_back(divisor);
  return getAffineDimExpr(dimValues.size() - 1, builder.getContext());
}

Value ElementEmitter::emitIndex(AffineExpr expr) {
  for (Frame &frame : llvm::reverse(frames))
    if (Value known = frame.indices.lookup(expr))
      return known;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dimValues[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return sizes[symbol.getPosition()];
  Value result;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    result = arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value lhs = emitIndex(binary.getLHS()), rhs = emitIndex(binary.getRHS());
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      result = arith::AddIOp::create(builder, loc, lhs, rhs);
      break;
    case AffineExprKind::Mul:
      result = arith::MulIOp::create(builder, loc, lhs, rhs);
      break;
    // Indices that are read are not negative, and those that a guard excludes
    // are never used: unsigned division serves and is cheaper.
    case AffineExprKind::FloorDiv:
      result = arith::DivUIOp::create(builder, loc, lhs, rhs);
      break;
    case AffineExprKind::Mod:
      result = arith::RemUIOp::create(builder, loc, lhs, rhs);
      break;
    default:
      result = arith::CeilDivUIOp::create(builder, loc, lhs, rhs);
    }
  }
  frames.back().indices[expr] = result;
  return result;
}

void ElementEmitter::setLanes(AffineExpr dim, int64_t newLanes, Value newMask) {
  laneDim = newLanes > 1 ? dim : AffineExpr();
  lanes = newLanes;
  mask = newMask;
  guarded = false;
}

void ElementEmitter::setLaneState(const LaneState &state) {
  laneDim = state.dim;
  lanes = state.lanes;
  mask = state.mask;
  guarded = state.guarded;
}

bool ElementEmitter::dependsOnLane(ArrayRef<AffineExpr> index) const {
  if (!laneDim)
    return false;
  unsigned dim = cast<AffineDimExpr>(laneDim).getPosition();
  return llvm::any_of(index,
                      [&](AffineExpr e) { return e.isFunctionOfDim(dim); });
}

Value ElementEmitter::splat(Value element) {
  if (lanes == 1 || isa<VectorType>(element.getType()))
    return element;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get({lanes}, element.getType()), element);
}

Type ElementEmitter::getElementType(Value value, bool vector) {
  Type type =
      getStorageType(cast<RankedTensorType>(value.getType()).getElementType());
  return vector ? VectorType::get({lanes}, type) : type;
}

Value ElementEmitter::lookup(Value value, ArrayRef<AffineExpr> index) {
  for (Frame &frame : llvm::reverse(frames)) {
    auto it = frame.elements.find(value);
    if (it == frame.elements.end())
      continue;
    for (auto &[known, element] : it->second)
      if (ArrayRef<AffineExpr>(known) == index)
        return element;
  }
  return nullptr;
}

void ElementEmitter::seed(Value value, ArrayRef<AffineExpr> index,
                          Value element) {
  frames.back().elements[value].emplace_back(Index(index), element);
}

Value ElementEmitter::emit(Value value, ArrayRef<AffineExpr> index) {
  if (Value known = lookup(value, index))
    return known;
  Value element = emitUncached(value, index);
  seed(value, index, element);
  return element;
}

Value ElementEmitter::emitFull(Value value, ArrayRef<AffineExpr> index) {
  return splat(emit(value, index));
}

Value ElementEmitter::emitUncached(Value value, ArrayRef<AffineExpr> index) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return fromStored(arg, loadStored(arg, index));
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    // Group formation keeps every other constant outside, as an input.
    Attribute element =
        cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>();
    Type type = getElementType(value, /*vector=*/false);
    if (auto integer = dyn_cast<IntegerAttr>(element))
      element = IntegerAttr::get(type, integer.getValue());
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(element));
  }
  if (auto iota = dyn_cast<IotaOp>(op))
    return emitIota(op, index[iota.getDim()]);
  if (auto gather = dyn_cast<GatherOp>(op))
    return emitGather(gather, index);
  if (isHero(op))
    return emitHero(op, {Index(index)}).front();
  if (cast<IndexMapInterface>(op).isView())
    return emitView(op, index);
  return emitElementwise(op, index);
}

Value ElementEmitter::emitLaneIndex(AffineExpr expr) {
  Value base = emitIndex(expr);
  if (!dependsOnLane({expr}))
    return base;
  unsigned dim = cast<AffineDimExpr>(laneDim).getPosition();
  AffineExpr stride = getLaneStride(expr, dim, lanes, divisors);
  if (stride) {
    SmallVector<int64_t> steps = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
    auto type = VectorType::get({lanes}, builder.getIndexType());
    Value step = arith::ConstantOp::create(
        builder, loc, DenseIntElementsAttr::get(type, steps));
    if (stride != getAffineConstantExpr(1, builder.getContext()))
      step =
          arith::MulIOp::create(builder, loc, step, splat(emitIndex(stride)));
    return arith::AddIOp::create(builder, loc, splat(base), step);
  }
  SmallVector<Value> elements;
  LaneState state = getLaneState();
  for (int64_t lane = 0; lane < state.lanes; ++lane)
    elements.push_back(emitIndex(expr.replace(laneDim, laneDim + lane)));
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({lanes}, builder.getIndexType()), elements);
}

Value ElementEmitter::emitIota(Operation *op, AffineExpr position) {
  Value index = emitLaneIndex(position);
  Type type = getStorageType(
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
  Type integer = isa<FloatType>(type) ? builder.getI64Type() : type;
  Value value = arith::IndexCastOp::create(
      builder, loc, FormulaBuilder::shaped(integer, index.getType()), index);
  if (integer == type)
    return value;
  return arith::SIToFPOp::create(
      builder, loc, FormulaBuilder::shaped(type, index.getType()), value);
}

Value ElementEmitter::emitGather(GatherOp gather, ArrayRef<AffineExpr> index) {
  Value size = emitIndex(model.getDims(gather.getX())[gather.getDim()]);
  Value at = emit(gather.getIndices(), index);
  // The element at position `position`, which may lie outside.
  auto read = [&](Value position, ArrayRef<AffineExpr> rest) {
    Index from(rest);
    from[gather.getDim()] = getAffineConstantExpr(0, builder.getContext());
    bool vector = dependsOnLane(from);
    Type type = getElementType(gather.getX(), vector);
    // In 64 bits: a kernel's own indices may have fewer.
    Type wide = builder.getI64Type();
    Type narrow = gather.getIndices().getType().getElementType();
    if (position.getType() != wide)
      position =
          narrow.isUnsignedInteger()
              ? Value(arith::ExtUIOp::create(builder, loc, wide, position))
              : Value(arith::ExtSIOp::create(builder, loc, wide, position));
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, position,
        arith::IndexCastOp::create(builder, loc, wide, size));
    position = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                          position);
    return emitIf(
        exists, type,
        [&] {
          from[gather.getDim()] = addDim(position);
          Value element = emit(gather.getX(), from);
          return vector ? splat(element) : element;
        },
        [&] { return makeMissing(type); });
  };
  if (!isa<VectorType>(at.getType()))
    return read(at, index);
  // Lane by lane.
  LaneState state = getLaneState();
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < state.lanes; ++lane) {
    // A dim of its own: what is known at the lane dim are vectors.
    AffineExpr own = addDim(emitIndex(state.dim + lane));
    Index point = llvm::map_to_vector(
        index, [&](AffineExpr expr) { return expr.replace(state.dim, own); });
    Value position = vector::ExtractOp::create(builder, loc, at, lane);
    auto readLane = [&] {
      setLaneState({AffineExpr(), 1, Value(), false});
      Value element = read(position, point);
      setLaneState(state);
      return element;
    };
    if (!state.mask) {
      elements.push_back(readLane());
      continue;
    }
    Value exists = vector::ExtractOp::create(builder, loc, state.mask, lane);
    Type type = getElementType(gather.getX(), /*vector=*/false);
    elements.push_back(
        emitIf(exists, type, readLane, [&] { return makeMissing(type); }));
  }
  return vector::FromElementsOp::create(
      builder, loc, getElementType(gather.getX(), /*vector=*/true), elements);
}

/// What an index outside gives.
Value ElementEmitter::makeMissing(Type type) {
  TypedAttr value = builder.getZeroAttr(type);
  if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type))) {
    Attribute nan = builder.getFloatAttr(
        element, APFloat::getQNaN(element.getFloatSemantics()));
    value = cast<TypedAttr>(nan);
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, nan);
  }
  return arith::ConstantOp::create(builder, loc, value);
}

Value ElementEmitter::emitElementwise(Operation *op,
                                      ArrayRef<AffineExpr> index) {
  SmallVector<Value> operands;
  bool anyVector = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(emit(operand, index));
    anyVector |= isa<VectorType>(operands.back().getType());
  }
  if (anyVector)
    for (Value &operand : operands)
      operand = splat(operand);
  return cast<ElementInterface>(op).emitElement(builder, op->getLoc(),
                                                operands);
}

Value ElementEmitter::emitView(Operation *op, ArrayRef<AffineExpr> index) {
  SmallVector<SmallVector<AffineExpr>> operandDims;
  for (Value operand : op->getOperands())
    operandDims.push_back(llvm::to_vector(model.getDims(operand)));
  SmallVector<OperandAccess> accesses = cast<IndexMapInterface>(op).getAccesses(
      operandDims, model.getDims(op->getResult(0)));
  for (OperandAccess &access : accesses) {
    access.index = substituteDims(access.index, index);
    access.guard = substituteDims(access.guard, index);
  }
  return emitAccesses(op, accesses, dependsOnLane(index));
}

Value ElementEmitter::emitAccesses(Operation *op,
                                   ArrayRef<OperandAccess> accesses,
                                   bool vector) {
  const OperandAccess &access = accesses.front();
  Value operand = op->getOperand(access.operand);
  if (access.guard.empty())
    return emit(operand, access.index);
  ArrayRef<OperandAccess> rest = accesses.drop_front();
  auto full = [&](Value element) { return vector ? splat(element) : element; };
  if (isUniform(access.guard))
    return emitIf(
        emitScalarGuard(access.guard), getElementType(op->getResult(0), vector),
        [&] { return full(emit(operand, access.index)); },
        [&] { return full(emitAccesses(op, rest, vector)); });
  // Lanes differ: read each side where its lanes hold, then choose by lane.
  Value holds = emitLaneGuard(access.guard);
  LaneState state = getLaneState();
  auto emitUnder = [&](Value condition, auto body) {
    Scope scope(*this);
    mask =
        mask ? arith::AndIOp::create(builder, loc, mask, condition) : condition;
    guarded = true;
    Value element = splat(body());
    setLaneState(state);
    return element;
  };
  Value chosen = emitUnder(holds, [&] { return emit(operand, access.index); });
  Value ones = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(cast<VectorType>(holds.getType()), true));
  Value fails = arith::XOrIOp::create(builder, loc, holds, ones);
  Value other =
      emitUnder(fails, [&] { return emitAccesses(op, rest, /*vector=*/true); });
  return arith::SelectOp::create(builder, loc, holds, chosen, other);
}

Value ElementEmitter::emitIf(Value condition, Type type,
                             llvm::function_ref<Value()> body,
                             llvm::function_ref<Value()> otherwise) {
  auto ifOp = scf::IfOp::create(builder, loc, TypeRange{type}, condition,
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard insertion(builder);
  auto fill = [&](Block *block, llvm::function_ref<Value()> emitBody) {
    Scope scope(*this);
    builder.setInsertionPointToStart(block);
    Value result = emitBody();
    scf::YieldOp::create(builder, loc, result);
  };
  fill(ifOp.thenBlock(), body);
  fill(ifOp.elseBlock(), otherwise);
  return ifOp.getResult(0);
}

} // namespace fusion

//===- ElementMemory.cpp - loads, guards and stores of elements -----------===//
//
// Buffers are flat. A vector of consecutive elements is one access; one that
// varies otherwise is read lane by lane. Bools are bytes in memory.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FormulaBuilder.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include "fusion/Schedule/ElementEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;

namespace fusion {

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

bool ElementEmitter::isUniform(ArrayRef<AffineExpr> guard) const {
  if (!dependsOnLane(guard))
    return true;
  unsigned dim = cast<AffineDimExpr>(laneDim).getPosition();
  return llvm::all_of(guard, [&](AffineExpr e) {
    return isLaneUniformGuard(e, dim, lanes, divisors);
  });
}

Value ElementEmitter::emitScalarGuard(ArrayRef<AffineExpr> guard) {
  Value result;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  for (AffineExpr expr : guard) {
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        emitIndex(expr), zero);
    result =
        result ? arith::AndIOp::create(builder, loc, result, holds) : holds;
  }
  return result;
}

Value ElementEmitter::emitLaneGuard(ArrayRef<AffineExpr> guard) {
  Value result;
  for (AffineExpr expr : guard) {
    Value index = splat(emitLaneIndex(expr));
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(index.getType()));
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        index, zero);
    result =
        result ? arith::AndIOp::create(builder, loc, result, holds) : holds;
  }
  return result;
}

Value ElementEmitter::emitOrZero(Value value, ArrayRef<AffineExpr> index,
                                 ArrayRef<AffineExpr> guard) {
  bool vector = dependsOnLane(index) || dependsOnLane(guard);
  auto zero = [&]() -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(getElementType(value, vector)));
  };
  auto full = [&] {
    Value element = emit(value, index);
    return vector ? splat(element) : element;
  };
  SmallVector<AffineExpr> uniform, byLane;
  for (AffineExpr expr : guard)
    (isUniform({expr}) ? uniform : byLane).push_back(expr);
  auto inner = [&]() -> Value {
    if (byLane.empty())
      return full();
    Value holds = emitLaneGuard(byLane);
    LaneState state = getLaneState();
    Scope scope(*this);
    mask = mask ? arith::AndIOp::create(builder, loc, mask, holds) : holds;
    guarded = true;
    Value element = splat(full());
    setLaneState(state);
    return arith::SelectOp::create(builder, loc, holds, element, splat(zero()));
  };
  if (uniform.empty())
    return inner();
  return emitIf(emitScalarGuard(uniform), getElementType(value, vector), inner,
                zero);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

int64_t ElementEmitter::getAccessAlignment(Value buffer, AffineExpr offset) {
  auto arg = cast<BlockArgument>(buffer);
  auto kernel = cast<tile::KernelOp>(arg.getOwner()->getParentOp());
  auto align =
      kernel.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), "tile.align");
  int64_t bytes = llvm::divideCeil(cast<MemRefType>(buffer.getType())
                                       .getElementType()
                                       .getIntOrFloatBitWidth(),
                                   8);
  int64_t base = align ? align.getInt() : bytes;
  // A divisor of zero means offset zero, which any alignment divides.
  int64_t divisor = getKnownDivisor(offset, divisors);
  int64_t known = std::gcd(base, divisor * bytes);
  return std::max(bytes, known & -known);
}

Value ElementEmitter::fromStored(BlockArgument arg, Value stored) {
  if (!getElementType(arg, /*vector=*/false).isInteger(1))
    return stored;
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(stored.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, stored,
                               zero);
}

Value ElementEmitter::loadStored(BlockArgument arg,
                                 ArrayRef<AffineExpr> index) {
  Value buffer = buffers[arg.getArgNumber()];
  AffineExpr offset =
      linearize(index, model.getStrides(arg), builder.getContext());
  if (dependsOnLane({offset}))
    return loadLanes(buffer, offset);
  auto loadScalar = [&]() -> Value {
    return memref::LoadOp::create(builder, loc, buffer, emitIndex(offset));
  };
  if (!guarded)
    return loadScalar();
  // The address is one for all lanes, but good only if some lane is.
  Value any = vector::ReductionOp::create(builder, loc,
                                          vector::CombiningKind::OR, mask);
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  return emitIf(any, type, loadScalar, [&]() -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  });
}

/// Reads a vector whose elements lie at `offset` for each lane.
Value ElementEmitter::loadLanes(Value buffer, AffineExpr offset) {
  unsigned dim = cast<AffineDimExpr>(laneDim).getPosition();
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  auto type = VectorType::get({lanes}, element);
  AffineExpr stride = getLaneStride(offset, dim, lanes, divisors);
  Value zeros =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  if (stride == getAffineConstantExpr(1, builder.getContext())) {
    Value position = emitIndex(offset);
    llvm::MaybeAlign align(getAccessAlignment(buffer, offset));
    if (mask)
      return vector::MaskedLoadOp::create(builder, loc, type, buffer, position,
                                          mask, zeros, align);
    return vector::LoadOp::create(builder, loc, type, buffer, position,
                                  /*nontemporal=*/false, align);
  }
  if (stride == getAffineConstantExpr(-1, builder.getContext()) && !mask) {
    // A reversed run: one access at the last lane, then the lanes turned round.
    AffineExpr last = offset.replace(laneDim, laneDim + (lanes - 1));
    Value run = vector::LoadOp::create(
        builder, loc, type, buffer, emitIndex(last), /*nontemporal=*/false,
        llvm::MaybeAlign(
            std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8)));
    SmallVector<int64_t> order;
    for (int64_t lane = lanes - 1; lane >= 0; --lane)
      order.push_back(lane);
    return vector::ShuffleOp::create(builder, loc, run, run, order);
  }
  if (mask && stride) {
    auto positions = VectorType::get({lanes}, builder.getIndexType());
    Value steps = vector::StepOp::create(builder, loc, positions);
    Value offsets =
        arith::MulIOp::create(builder, loc, steps, splat(emitIndex(stride)));
    return vector::GatherOp::create(builder, loc, type, buffer,
                                    emitIndex(offset), offsets, mask, zeros);
  }
  SmallVector<Value> elements;
  Value base, step;
  if (stride) {
    base = emitIndex(offset);
    step = emitIndex(stride);
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value position;
    if (!stride) {
      position = emitIndex(offset.replace(laneDim, laneDim + lane));
    } else {
      if (lane > 0)
        base = arith::AddIOp::create(builder, loc, base, step);
      position = base;
    }
    auto loadOne = [&]() -> Value {
      return memref::LoadOp::create(builder, loc, buffer, position);
    };
    if (!mask) {
      elements.push_back(loadOne());
      continue;
    }
    Value holds = vector::ExtractOp::create(builder, loc, mask, lane);
    elements.push_back(emitIf(holds, element, loadOne, [&]() -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getZeroAttr(element));
    }));
  }
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

void ElementEmitter::store(unsigned output, ArrayRef<AffineExpr> index,
                           Value element) {
  Value buffer = buffers[model.getBody().getNumArguments() + output];
  SmallVector<AffineExpr> strides = getDenseStrides(
      model.getOutputType(output), model.getDims(model.getOutput(output)));
  AffineExpr offset = linearize(index, strides, builder.getContext());
  Type memory = cast<MemRefType>(buffer.getType()).getElementType();
  if (FormulaBuilder::elementType(element).isInteger(1))
    element = arith::ExtUIOp::create(
        builder, loc, FormulaBuilder::shaped(memory, element.getType()),
        element);
  if (!dependsOnLane({offset})) {
    memref::StoreOp::create(builder, loc, element, buffer, emitIndex(offset));
    return;
  }
  element = splat(element);
  unsigned dim = cast<AffineDimExpr>(laneDim).getPosition();
  AffineExpr stride = getLaneStride(offset, dim, lanes, divisors);
  if (stride == getAffineConstantExpr(1, builder.getContext())) {
    Value position = emitIndex(offset);
    llvm::MaybeAlign align(getAccessAlignment(buffer, offset));
    if (mask)
      vector::MaskedStoreOp::create(builder, loc, buffer, position, mask,
                                    element, align);
    else
      vector::StoreOp::create(builder, loc, element, buffer, position,
                              /*nontemporal=*/false, align);
    return;
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value position = emitIndex(offset.replace(laneDim, laneDim + lane));
    Value scalar = vector::ExtractOp::create(builder, loc, element, lane);
    if (!mask) {
      memref::StoreOp::create(builder, loc, scalar, buffer, position);
      continue;
    }
    Value holds = vector::ExtractOp::create(builder, loc, mask, lane);
    auto ifOp = scf::IfOp::create(builder, loc, holds, /*withElse=*/false);
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(ifOp.thenBlock());
    memref::StoreOp::create(builder, loc, scalar, buffer, position);
  }
}

} // namespace fusion

//===- ElementHero.cpp - reductions and contractions, point by point ------===//
//
// A nest of serial loops over the reduced space with accumulators in registers,
// for one or several result elements at once. It serves as the general path
// (any hero, anywhere) and, with several points, as the register tile of a
// schedule.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FormulaBuilder.h"
#include "fusion/Schedule/Combiner.h"
#include "fusion/Schedule/ElementEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion {

namespace {

/// Dims of a hero's expressions bound to one point and the reduced indices.
SmallVector<AffineExpr> bind(const Index &point, ArrayRef<AffineExpr> reduced) {
  SmallVector<AffineExpr> dims(point);
  llvm::append_range(dims, reduced);
  return dims;
}

/// Everything that guards a read of `spec`, bound to `dims`.
SmallVector<AffineExpr> getGuard(const HeroSpec &spec,
                                 ArrayRef<AffineExpr> dims) {
  SmallVector<AffineExpr> guard;
  for (const HeroRead &read : spec.reads)
    llvm::append_range(guard, substituteDims(read.guard, dims));
  return guard;
}

} // namespace

/// Accumulators of all points follow each other; with an average, each point's
/// count follows its sum.
struct HeroAccumulators {
  Combiner combiner;
  bool counts;
  unsigned perPoint;

  HeroAccumulators(Operation *op, const HeroSpec &spec)
      : combiner(op), counts(!spec.counted.empty()),
        perPoint(combiner.getNumValues() + counts) {}

  ValueRange get(ArrayRef<Value> all, unsigned point) const {
    return all.slice(point * perPoint, combiner.getNumValues());
  }
};

void ElementEmitter::accumulate(Operation *hero, const HeroSpec &spec,
                                ArrayRef<AffineExpr> reduced,
                                ArrayRef<Index> points,
                                SmallVectorImpl<Value> &accumulators) {
  HeroAccumulators layout(hero, spec);
  const Combiner &combiner = layout.combiner;
  auto addPoint = [&](unsigned point) {
    SmallVector<AffineExpr> dims = bind(points[point], reduced);
    bool vector = dependsOnLane(points[point]);
    auto read = [&](const HeroRead &from) {
      Value element = emit(from.operand, substituteDims(from.index, dims));
      return vector ? splat(element) : element;
    };
    ValueRange old = layout.get(accumulators, point);
    SmallVector<Value> next;
    if (spec.kind == HeroKind::Contraction) {
      Value a = read(spec.reads[0]), b = read(spec.reads[1]);
      next = combiner.multiplyAdd(builder, loc, old, a, b);
    } else {
      Combiner::Contribution made{read(spec.reads[0]), nullptr, nullptr};
      if (combiner.isArgReduce()) {
        made.position = emitLaneIndex(reduced.front());
        if (vector)
          made.position = splat(made.position);
      }
      next = combiner.absorb(builder, loc, old, made);
    }
    llvm::copy(next, accumulators.begin() + point * layout.perPoint);
  };
  // Emits `points` where `guard` holds; elsewhere the accumulators stay.
  auto addGuarded = [&](ArrayRef<unsigned> chosen, ArrayRef<AffineExpr> guard) {
    if (guard.empty()) {
      for (unsigned point : chosen)
        addPoint(point);
      return;
    }
    SmallVector<Value> before(accumulators.begin(), accumulators.end());
    if (isUniform(guard)) {
      auto ifOp = scf::IfOp::create(builder, loc, ValueRange(before).getTypes(),
                                    emitScalarGuard(guard), true, true);
      OpBuilder::InsertionGuard insertion(builder);
      builder.setInsertionPointToStart(ifOp.thenBlock());
      {
        Scope scope(*this);
        for (unsigned point : chosen)
          addPoint(point);
      }
      scf::YieldOp::create(builder, loc, accumulators);
      builder.setInsertionPointToStart(ifOp.elseBlock());
      scf::YieldOp::create(builder, loc, before);
      llvm::copy(ifOp.getResults(), accumulators.begin());
      return;
    }
    Value holds = emitLaneGuard(guard);
    LaneState state = getLaneState();
    {
      Scope scope(*this);
      mask = mask ? arith::AndIOp::create(builder, loc, mask, holds) : holds;
      guarded = true;
      for (unsigned point : chosen)
        addPoint(point);
      setLaneState(state);
    }
    for (auto [now, old] : llvm::zip_equal(accumulators, before))
      if (now != old)
        now = arith::SelectOp::create(builder, loc, holds, now, old);
  };

  SmallVector<SmallVector<AffineExpr>> guards;
  for (const Index &point : points)
    guards.push_back(getGuard(spec, bind(point, reduced)));
  SmallVector<unsigned> all =
      llvm::to_vector(llvm::seq<unsigned>(0, points.size()));
  if (llvm::all_equal(guards))
    addGuarded(all, guards.front());
  else
    for (unsigned point : all)
      addGuarded({point}, guards[point]);

  if (!layout.counts)
    return;
  for (unsigned point : all) {
    Value &count = accumulators[point * layout.perPoint + layout.perPoint - 1];
    SmallVector<AffineExpr> counted =
        substituteDims(spec.counted, bind(points[point], reduced));
    FormulaBuilder f(builder, loc);
    Value one = f.add(count, 1.0);
    bool vector = isa<VectorType>(count.getType());
    Value holds = vector ? emitLaneGuard(counted) : emitScalarGuard(counted);
    count = arith::SelectOp::create(builder, loc, vector ? splat(holds) : holds,
                                    one, count);
  }
}

SmallVector<Value> ElementEmitter::emitHero(Operation *hero,
                                            ArrayRef<Index> points) {
  HeroSpec spec =
      getHeroSpec(hero, [&](Value value) { return model.getDims(value); });
  HeroAccumulators layout(hero, spec);
  const Combiner &combiner = layout.combiner;

  SmallVector<Value> initial;
  for (const Index &point : points) {
    int64_t width = dependsOnLane(point) ? lanes : 1;
    llvm::append_range(initial, combiner.getIdentity(builder, loc, width));
    if (layout.counts) {
      FormulaBuilder f(builder, loc);
      initial.push_back(f.constant(initial.back(), 0.0));
    }
  }
  SmallVector<Value> lower, upper, step;
  for (AffineExpr extent : spec.reduced) {
    lower.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    upper.push_back(emitIndex(extent));
    step.push_back(arith::ConstantIndexOp::create(builder, loc, 1));
  }
  scf::LoopNest nest = scf::buildLoopNest(
      builder, loc, lower, upper, step, initial,
      [&](OpBuilder &inner, Location, ValueRange indices,
          ValueRange arguments) -> scf::ValueVector {
        OpBuilder::InsertionGuard insertion(builder);
        builder.setInsertionPoint(inner.getInsertionBlock(),
                                  inner.getInsertionPoint());
        Scope scope(*this);
        SmallVector<AffineExpr> reduced;
        for (Value index : indices)
          reduced.push_back(addDim(index));
        SmallVector<Value> accumulators(arguments);
        accumulate(hero, spec, reduced, points, accumulators);
        inner.setInsertionPoint(builder.getInsertionBlock(),
                                builder.getInsertionPoint());
        return scf::ValueVector(accumulators.begin(), accumulators.end());
      });

  SmallVector<Value> sums(nest.results), results;
  for (auto [i, point] : llvm::enumerate(points)) {
    Value count;
    if (layout.counts)
      count = sums[(i + 1) * layout.perPoint - 1];
    llvm::append_range(
        results, finishHero(hero, spec, point, layout.get(sums, i), count));
  }
  return results;
}

SmallVector<Value> ElementEmitter::finishHero(Operation *hero,
                                              const HeroSpec &spec,
                                              ArrayRef<AffineExpr> point,
                                              ValueRange accumulated,
                                              Value count) {
  Combiner combiner(hero);
  FormulaBuilder f(builder, loc);
  SmallVector<Value> sum(accumulated);
  if (spec.bias) {
    Value bias =
        emit(spec.bias->operand, substituteDims(spec.bias->index, point));
    bias = isa<VectorType>(sum[0].getType()) ? splat(bias) : bias;
    sum[0] = f.add(sum[0], combiner.convertToAccumulator(builder, loc, bias));
  }
  auto pool = dyn_cast<PoolOp>(hero);
  if (pool && pool.getKind() == PoolKind::avg) {
    double window = 1;
    for (int64_t size : pool.getWindow())
      window *= size;
    sum[0] = count ? f.div(sum[0], count) : f.div(sum[0], window);
  }
  return combiner.finish(builder, loc, sum);
}

} // namespace fusion

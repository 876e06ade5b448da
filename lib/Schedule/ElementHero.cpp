//===- ElementHero.cpp - reductions and contractions, point by point ------===//
//
// A nest of serial loops over the reduced space with accumulators in registers,
// for one or several result elements at once; a small window is unrolled, so
// that points share what they read. It serves as the general path (any hero,
// anywhere) and, with several points, as the register tile of a schedule.
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

namespace {

/// Steps under one condition.
struct GuardedSteps {
  SmallVector<AffineExpr> guard;
  SmallVector<const HeroStep *> steps;
};

/// The steps of each guard, guards in the order in which they first occur.
SmallVector<GuardedSteps> groupByGuard(
    ArrayRef<const HeroStep *> steps,
    llvm::function_ref<SmallVector<AffineExpr>(const HeroStep &)> getGuard) {
  SmallVector<GuardedSteps> groups;
  for (const HeroStep *step : steps) {
    SmallVector<AffineExpr> guard = getGuard(*step);
    auto group = llvm::find_if(
        groups, [&](const GuardedSteps &g) { return g.guard == guard; });
    if (group == groups.end())
      group = &groups.emplace_back(GuardedSteps{guard, {}});
    group->steps.push_back(step);
  }
  return groups;
}

} // namespace

void ElementEmitter::addStep(Operation *hero, const HeroSpec &spec,
                             const HeroStep &step,
                             MutableArrayRef<Value> accumulators) {
  HeroAccumulators layout(hero, spec);
  const Combiner &combiner = layout.combiner;
  SmallVector<AffineExpr> dims = bind(step.index, step.reduced);
  bool vector = dependsOnLane(step.index);
  auto read = [&](const HeroRead &from) {
    Value element = emit(from.operand, substituteDims(from.index, dims));
    return vector ? splat(element) : element;
  };
  ValueRange old = layout.get(accumulators, step.point);
  SmallVector<Value> next;
  if (spec.kind == HeroKind::Contraction) {
    Value a = read(spec.reads[0]), b = read(spec.reads[1]);
    next = combiner.multiplyAdd(builder, loc, old, a, b);
  } else {
    Combiner::Contribution made{read(spec.reads[0]), nullptr, nullptr};
    if (combiner.isArgReduce()) {
      made.position = emitLaneIndex(step.reduced.front());
      if (vector)
        made.position = splat(made.position);
    }
    next = combiner.absorb(builder, loc, old, made);
  }
  llvm::copy(next, accumulators.begin() + step.point * layout.perPoint);
}

void ElementEmitter::countStep(Operation *hero, const HeroSpec &spec,
                               const HeroStep &step,
                               MutableArrayRef<Value> accumulators) {
  HeroAccumulators layout(hero, spec);
  Value &count = accumulators[(step.point + 1) * layout.perPoint - 1];
  SmallVector<AffineExpr> counted =
      substituteDims(spec.counted, bind(step.index, step.reduced));
  FormulaBuilder f(builder, loc);
  Value one = f.add(count, 1.0);
  bool vector = isa<VectorType>(count.getType());
  Value holds = vector ? emitLaneGuard(counted) : emitScalarGuard(counted);
  count = arith::SelectOp::create(builder, loc, vector ? splat(holds) : holds,
                                  one, count);
}

/// Steps whose condition is one for all lanes share a branch, those whose lanes
/// differ in the same way a mask; either way they share what they read.
void ElementEmitter::accumulate(Operation *hero, const HeroSpec &spec,
                                ArrayRef<HeroStep> steps,
                                SmallVectorImpl<Value> &accumulators) {
  auto split = [&](const HeroStep &step, bool uniform) {
    SmallVector<AffineExpr> guard =
        getGuard(spec, bind(step.index, step.reduced));
    llvm::erase_if(guard,
                   [&](AffineExpr e) { return isUniform({e}) != uniform; });
    return guard;
  };
  SmallVector<const HeroStep *> all;
  for (const HeroStep &step : steps)
    all.push_back(&step);
  auto byLane = [&](const HeroStep &step) { return split(step, false); };
  SmallVector<std::pair<SmallVector<AffineExpr>, Value>> masks;
  for (const GuardedSteps &group : groupByGuard(all, byLane))
    if (!group.guard.empty())
      masks.emplace_back(group.guard, emitLaneGuard(group.guard));

  auto addMasked = [&](const GuardedSteps &group) {
    auto add = [&] {
      Scope scope(*this);
      for (const HeroStep *step : group.steps)
        addStep(hero, spec, *step, accumulators);
    };
    if (group.guard.empty())
      return add();
    Value holds = llvm::find_if(masks, [&](auto &entry) {
                    return entry.first == group.guard;
                  })->second;
    // What has no guard of its own exists for all lanes.
    for (const HeroStep *step : group.steps)
      for (const HeroRead &read : spec.reads)
        if (read.guard.empty())
          emit(read.operand,
               substituteDims(read.index, bind(step->index, step->reduced)));
    SmallVector<Value> before(accumulators.begin(), accumulators.end());
    LaneState state = getLaneState();
    mask = mask ? arith::AndIOp::create(builder, loc, mask, holds) : holds;
    guarded = true;
    add();
    setLaneState(state);
    for (auto [now, old] : llvm::zip_equal(accumulators, before))
      if (now != old)
        now = arith::SelectOp::create(builder, loc, holds, now, old);
  };
  auto addGroups = [&](ArrayRef<const HeroStep *> chosen) {
    for (const GuardedSteps &group : groupByGuard(chosen, byLane))
      addMasked(group);
  };
  auto uniform = [&](const HeroStep &step) { return split(step, true); };
  for (const GuardedSteps &group : groupByGuard(all, uniform)) {
    if (group.guard.empty()) {
      addGroups(group.steps);
      continue;
    }
    SmallVector<Value> before(accumulators.begin(), accumulators.end());
    auto ifOp = scf::IfOp::create(builder, loc, ValueRange(before).getTypes(),
                                  emitScalarGuard(group.guard), true, true);
    OpBuilder::InsertionGuard insertion(builder);
    {
      Scope scope(*this);
      builder.setInsertionPointToStart(ifOp.thenBlock());
      addGroups(group.steps);
      scf::YieldOp::create(builder, loc, accumulators);
    }
    builder.setInsertionPointToStart(ifOp.elseBlock());
    scf::YieldOp::create(builder, loc, before);
    llvm::copy(ifOp.getResults(), accumulators.begin());
  }
  if (!spec.counted.empty())
    for (const HeroStep &step : steps)
      countStep(hero, spec, step, accumulators);
}

std::optional<int64_t> getNumTaps(const HeroSpec &spec) {
  int64_t taps = 1;
  for (AffineExpr extent : spec.reduced) {
    auto constant = dyn_cast<AffineConstantExpr>(extent);
    if (!constant)
      return std::nullopt;
    taps *= constant.getValue();
  }
  return taps;
}

SmallVector<HeroStep> getAllSteps(const HeroSpec &spec,
                                  ArrayRef<Index> points) {
  MLIRContext *context = spec.reads.front().operand.getContext();
  SmallVector<HeroStep> steps;
  int64_t taps = *getNumTaps(spec);
  for (int64_t tap = 0; tap < taps; ++tap) {
    SmallVector<AffineExpr> reduced(spec.reduced.size());
    int64_t rest = tap;
    for (int64_t i = (int64_t)reduced.size() - 1; i >= 0; --i) {
      int64_t extent = cast<AffineConstantExpr>(spec.reduced[i]).getValue();
      reduced[i] = getAffineConstantExpr(rest % extent, context);
      rest /= extent;
    }
    for (auto [i, point] : llvm::enumerate(points))
      steps.push_back({(unsigned)i, point, reduced});
  }
  return steps;
}

/// A nest of loops over the reduced space, one step of each point inside.
SmallVector<Value> ElementEmitter::accumulateInLoops(Operation *hero,
                                                     const HeroSpec &spec,
                                                     ArrayRef<Index> points,
                                                     ValueRange initial) {
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
        SmallVector<HeroStep> steps;
        for (auto [i, point] : llvm::enumerate(points))
          steps.push_back({(unsigned)i, point, reduced});
        SmallVector<Value> accumulators(arguments);
        accumulate(hero, spec, steps, accumulators);
        inner.setInsertionPoint(builder.getInsertionBlock(),
                                builder.getInsertionPoint());
        return scf::ValueVector(accumulators.begin(), accumulators.end());
      });
  return llvm::to_vector_of<Value>(nest.results);
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
  SmallVector<Value> sums;
  std::optional<int64_t> taps = getNumTaps(spec);
  if (taps && *taps <= maxTaps && *taps * points.size() <= kMaxSteps) {
    sums = initial;
    accumulate(hero, spec, getAllSteps(spec, points), sums);
  } else {
    sums = accumulateInLoops(hero, spec, points, initial);
  }
  SmallVector<Value> results;
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

//===- Contraction.cpp - products, convolutions and windows as tiles ------===//
//
// Each thread makes a register tile of the hero's result, `unroll` points of
// one dim by a vector of another, in one nest of loops over the reduced space,
// and then the epilogue for the tile. The lane dim is the contiguous one of the
// output; the unrolled dim is one that the vector operand does not depend on,
// so that a vector read serves the whole tile; for a window one along which
// neighbours' windows overlap. Operands come through the prologue straight from
// memory and the caches: it takes any types, views and sizes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Accesses.h"
#include "fusion/Schedule/KernelFrame.h"

using namespace mlir;

namespace fusion {

namespace {

/// The hero, and the dims of its result in their roles.
struct ContractionSpace {
  Operation *hero = nullptr;
  SmallVector<AffineExpr> sizes;
  unsigned lane = 0;
  std::optional<unsigned> unrolled;
  /// Points of the unrolled dim whose windows overlap best, 0 for no window.
  int64_t windowPoints = 0;
  SmallVector<unsigned> others;

  static ContractionSpace get(const GroupModel &model,
                              const MachineModel &machine);
  void findWindow(const HeroSpec &spec, int64_t maxTaps);

  AffineExpr getUnrolledSize(MLIRContext *context) const {
    return unrolled ? sizes[*unrolled] : getAffineConstantExpr(1, context);
  }
  SmallVector<AffineExpr> getOtherSizes() const {
    return llvm::map_to_vector(others, [&](unsigned i) { return sizes[i]; });
  }
};

/// The largest window to unroll: a GPU's thread has few registers for it.
int64_t getMaxTaps(const MachineModel &machine) {
  return machine.isGPU ? 16 : 64;
}

ContractionSpace ContractionSpace::get(const GroupModel &model,
                                       const MachineModel &machine) {
  ContractionSpace space;
  space.hero = model.getView().getHeroes().front();
  space.sizes = llvm::to_vector(model.getDims(space.hero->getResult(0)));
  space.lane = getPhysicalOrder(model.getOutputType(0)).back();

  // The dim to unroll: one read depends on it and the other on the lane dim
  // only. The longest, for a window any.
  HeroSpec spec = getHeroSpec(
      space.hero, [&](Value value) { return model.getDims(value); });
  auto depends = [&](const HeroRead &read, unsigned dim) {
    return llvm::any_of(read.index,
                        [&](AffineExpr e) { return e.isFunctionOfDim(dim); });
  };
  space.findWindow(spec, getMaxTaps(machine));
  int64_t longest = 1;
  for (unsigned dim = 0; dim < space.sizes.size() && !space.windowPoints;
       ++dim) {
    if (dim == space.lane)
      continue;
    bool reuses =
        spec.reads.size() == 2 &&
        ((depends(spec.reads[0], space.lane) && !depends(spec.reads[0], dim)) ||
         (depends(spec.reads[1], space.lane) && !depends(spec.reads[1], dim)));
    int64_t hint = model.getSymbols().getHint(space.sizes[dim]).value_or(256);
    if (reuses && hint > longest) {
      space.unrolled = dim;
      longest = hint;
    }
  }
  for (unsigned dim = 0; dim < space.sizes.size(); ++dim)
    if (dim != space.lane && dim != space.unrolled)
      space.others.push_back(dim);
  return space;
}

/// Looks for the dim, and the number of points along it, that read the fewest
/// elements for each step of a window.
void ContractionSpace::findWindow(const HeroSpec &spec, int64_t maxTaps) {
  std::optional<int64_t> taps = getNumTaps(spec);
  if (!taps || *taps < 2 || *taps > maxTaps)
    return;
  MLIRContext *context = hero->getContext();
  double best = 0.75; // less is gained than the points at the edge cost
  for (unsigned dim = 0; dim < sizes.size(); ++dim) {
    if (dim == lane)
      continue;
    for (int64_t points : {2, 4, 8}) {
      if (points * *taps > kMaxSteps)
        break;
      llvm::SmallDenseSet<Attribute> reads;
      SmallVector<Index> indices;
      for (int64_t i = 0; i < points; ++i) {
        Index index = getIdentityIndex(sizes.size(), context);
        index[dim] = index[dim] * points + i;
        indices.push_back(std::move(index));
      }
      for (const HeroStep &step : getAllSteps(spec, indices)) {
        SmallVector<AffineExpr> dims(step.index);
        llvm::append_range(dims, step.reduced);
        reads.insert(AffineMapAttr::get(AffineMap::get(
            sizes.size(), 1 << 10,
            substituteDims(spec.reads.front().index, dims), context)));
      }
      double share = (double)reads.size() / (points * *taps);
      if (share < best) {
        best = share;
        unrolled = dim;
        windowPoints = points;
      }
    }
  }
}

class ContractionSchedule : public Schedule {
public:
  StringRef getName() const override { return "contraction"; }

  bool matches(const GroupModel &model, const MachineModel &) const override {
    return classify(model.getView()).kind == GroupKind::Contraction &&
           !model.getDims(model.getOutput(0)).empty();
  }

  SmallVector<Config> getConfigs(const GroupModel &model,
                                 const MachineModel &machine) const override {
    ContractionSpace space = ContractionSpace::get(model, machine);
    MLIRContext *context = model.getOutput(0).getContext();
    auto hint = [&](AffineExpr size) {
      return model.getSymbols().getHint(size).value_or(256);
    };
    Config config;
    int64_t lane = hint(space.sizes[space.lane]);
    int64_t unrolled = hint(space.getUnrolledSize(context));
    if (!machine.isGPU) {
      config.lanes = getLanes(model, machine.vectorBytes);
      while (config.lanes > 1 && config.lanes / 2 >= lane)
        config.lanes /= 2;
      config.unroll = std::clamp<int64_t>(unrolled, 1, 8);
      if (space.windowPoints) {
        config.unroll = space.windowPoints;
        config.rows = 8;
        return {config};
      }
      // Few rows: an operand streams by, several lines of each of its rows.
      for (int64_t vectors = config.unroll;
           vectors <= 4 && config.lanes * 2 <= lane && unrolled < 4;
           vectors *= 2)
        config.lanes *= 2;
      config.rows = unrolled < 4 ? 1 : 8;
      return {config};
    }
    Divisors divisors;
    llvm::append_range(divisors.symbols, model.getSymbols().getDivisors());
    config.lanes = 4;
    while (config.lanes > 1 &&
           !isKnownMultiple(space.sizes[space.lane], config.lanes, divisors))
      config.lanes /= 2;
    config.unroll = space.windowPoints ? space.windowPoints
                                       : std::clamp<int64_t>(unrolled, 1, 4);
    config.threads = 128;
    config.rows = config.threads;
    return {config};
  }

  void emit(const GroupModel &model, const MachineModel &machine,
            const Config &config, tile::KernelOp kernel,
            OpBuilder &builder) const override {
    ContractionSpace space = ContractionSpace::get(model, machine);
    MLIRContext *context = builder.getContext();
    AffineExpr unrolledSize = space.getUnrolledSize(context);
    AffineExpr laneSize = space.sizes[space.lane];
    // Tiles in the order others, unrolled, lane: neighbours share the operand
    // that does not depend on the lane.
    SmallVector<AffineExpr> tileSizes = space.getOtherSizes();
    tileSizes.push_back(unrolledSize.ceilDiv(config.unroll));
    tileSizes.push_back(laneSize.ceilDiv(config.lanes));
    AffineExpr tiles = product(tileSizes, context);
    setGrid(kernel, model, tiles.ceilDiv(config.rows), config.threads);

    KernelFrame frame(model, kernel, builder);
    ElementEmitter &emitter = frame.emitter;
    emitter.setMaxTaps(getMaxTaps(machine));
    Value count = emitter.emitIndex(tiles);
    Value first = frame.mul(frame.blockId(), frame.constant(config.rows));
    auto emitTile = [&](Value tile) {
      SmallVector<Value> position = delinearize(emitter, tile, tileSizes);
      Value column =
          frame.mul(position.pop_back_val(), frame.constant(config.lanes));
      Value row =
          frame.mul(position.pop_back_val(), frame.constant(config.unroll));
      SmallVector<AffineExpr> others = frame.addDims(position);
      AffineExpr laneDim = emitter.addDim(column, config.lanes);
      emitVector(frame, model, config, space, others, row, laneDim);
    };
    if (machine.isGPU) {
      Value tile = frame.add(first, frame.threadId());
      frame.ifThen(frame.less(tile, count), [&] { emitTile(tile); });
      return;
    }
    Value end = frame.min(frame.add(first, frame.constant(config.rows)), count);
    frame.loop(first, end, frame.constant(1), emitTile);
  }

private:
  /// Emits the tile for whole vectors, and once more for a masked one where the
  /// lanes may not divide the dim.
  void emitVector(KernelFrame &frame, const GroupModel &model,
                  const Config &config, const ContractionSpace &space,
                  ArrayRef<AffineExpr> others, Value row,
                  AffineExpr laneDim) const {
    ElementEmitter &emitter = frame.emitter;
    AffineExpr laneSize = space.sizes[space.lane];
    auto part = [&](Value mask) {
      emitter.setLanes(laneDim, config.lanes, mask);
      emitPoints(frame, model, config, space, others, row, laneDim);
      emitter.setLanes(laneDim, 1);
    };
    if (config.lanes == 1 ||
        isKnownMultiple(laneSize, config.lanes, emitter.getDivisors()))
      return part(nullptr);
    Value left =
        frame.sub(emitter.emitIndex(laneSize), emitter.emitIndex(laneDim));
    Value lanes = frame.constant(config.lanes);
    frame.ifThen(frame.less(left, lanes),
                 [&] { part(frame.laneMask(left, config.lanes)); });
    Value whole = arith::CmpIOp::create(frame.builder, frame.loc,
                                        arith::CmpIPredicate::sge, left, lanes);
    frame.ifThen(whole, [&] { part(nullptr); });
  }

  void emitPoints(KernelFrame &frame, const GroupModel &model,
                  const Config &config, const ContractionSpace &space,
                  ArrayRef<AffineExpr> others, Value row,
                  AffineExpr laneDim) const {
    ElementEmitter &emitter = frame.emitter;
    Index origin(space.sizes.size(),
                 getAffineConstantExpr(0, frame.builder.getContext()));
    for (auto [dim, expr] : llvm::zip_equal(space.others, others))
      origin[dim] = expr;
    origin[space.lane] = laneDim;
    auto emitRows = [&](ArrayRef<AffineExpr> rows) {
      SmallVector<Index> points;
      for (AffineExpr at : rows) {
        Index point = origin;
        point[*space.unrolled] = at;
        points.push_back(std::move(point));
      }
      store(frame, space, points);
    };
    if (!space.unrolled)
      return store(frame, space, origin);
    AffineExpr size = space.sizes[*space.unrolled];
    Value end = emitter.emitIndex(size);
    // Whole tiles count from a multiple of their rows, so that what rows share
    // is seen; the last rows go one by one.
    Value tile = frame.div(row, frame.constant(config.unroll));
    AffineExpr first = emitter.addDim(tile) * config.unroll;
    SmallVector<AffineExpr> whole;
    for (int64_t i = 0; i < config.unroll; ++i)
      whole.push_back(first + i);
    if (isKnownMultiple(size, config.unroll, emitter.getDivisors()))
      return emitRows(whole);
    Value next = frame.add(row, frame.constant(config.unroll));
    frame.ifThen(frame.less(end, next), [&] {
      frame.loop(row, end, frame.constant(1),
                 [&](Value at) { emitRows(emitter.addDim(at)); });
    });
    frame.ifThen(arith::CmpIOp::create(frame.builder, frame.loc,
                                       arith::CmpIPredicate::sge, end, next),
                 [&] { emitRows(whole); });
  }

  /// Makes the hero at `points` and stores the outputs there.
  static void store(KernelFrame &frame, const ContractionSpace &space,
                    ArrayRef<Index> points) {
    SmallVector<Value> results = frame.emitter.emitHero(space.hero, points);
    for (auto [point, result] : llvm::zip_equal(points, results)) {
      frame.emitter.seed(space.hero->getResult(0), point, result);
      frame.storeOutputs(point);
    }
  }
};

} // namespace

std::unique_ptr<Schedule> createContractionSchedule() {
  return std::make_unique<ContractionSchedule>();
}

} // namespace fusion

//===- ReductionKernel.cpp - the body of a reduction's kernel -------------===//

#include "ReductionKernel.h"
#include "ReductionLoops.h"
#include "fusion/Schedule/Combiner.h"
#include "fusion/Schedule/KernelFrame.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion {

namespace {

class ReductionKernel {
public:
  ReductionKernel(const GroupModel &model, const MachineModel &machine,
                  const Config &config, tile::KernelOp kernel,
                  OpBuilder &builder)
      : model(model), machine(machine), config(config), kernel(kernel),
        context(builder.getContext()), loops(model), space(loops.space),
        frame(model, kernel, builder), emitter(frame.emitter),
        laneSize(loops.getLaneSize()) {}

  void emit();

private:
  /// One accumulator and the reductions that it makes in the same walk.
  struct Accumulation {
    unsigned level;
    SmallVector<Operation *> heroes;
    Combiner combiner;
  };
  /// What one point adds to each accumulation.
  using Contributions = SmallVector<Combiner::Contribution>;
  /// Emits a point of the slot; `exists`, where not null, tells if it is one.
  using Visit =
      llvm::function_ref<Contributions(const Index &full, Value exists)>;
  /// The carried values after these points.
  using Absorb = llvm::function_ref<SmallVector<Value>(
      ArrayRef<Contributions> points, ValueRange carried)>;
  /// A vector of the slot's row, numbered along the outer reduced dims too.
  struct Piece {
    SmallVector<AffineExpr> outer;
    AffineExpr lane;
    Value exists;
  };

  void emitSlot(Value slot, Value valid);
  void emitLevels(Value valid);
  SmallVector<Accumulation> getAccumulations() const;
  void accumulate(ArrayRef<Accumulation> accumulations);
  void emitSlotValues(unsigned level);
  void storeFullOutputs(Value valid);
  void storeSlotOutputs(Value valid);

  Index getIndex(ArrayRef<AffineExpr> outer, AffineExpr lane) const;
  Index getSlotPoint() const;
  AffineExpr getNumPieces() const;
  Piece makePiece(Value number);
  Contributions visitPiece(const Piece &piece, Visit visit);

  /// Visits every point of the slot that this thread has, carrying `values`.
  SmallVector<Value> walk(ValueRange values, Visit visit, Absorb absorb);
  SmallVector<Value> walkNest(unsigned depth, SmallVector<AffineExpr> outer,
                              ValueRange values, Visit visit, Absorb absorb);
  SmallVector<Value> walkColumn(ValueRange values, Visit visit, Absorb absorb);

  /// Combines the lanes and the threads that share a slot.
  SmallVector<Value> combineThreads(const Combiner &combiner,
                                    ValueRange values);
  SmallVector<Value> reduceAcross(const Combiner &combiner, ValueRange scalars);

  const GroupModel &model;
  const MachineModel &machine;
  const Config &config;
  tile::KernelOp kernel;
  MLIRContext *context;
  ReductionLoops loops;
  const ReductionSpace &space;
  KernelFrame frame;
  ElementEmitter &emitter;
  AffineExpr laneSize;
  SmallVector<AffineExpr> slotDims; // of loops.slots
  AffineExpr columnLane;            // the lane dim where a slot is columns
  Value thread;                     // number among those that share the slot
  SmallVector<Piece> pieces;        // of a row that is kept in registers
};

Index ReductionKernel::getIndex(ArrayRef<AffineExpr> outer,
                                AffineExpr lane) const {
  SmallVector<AffineExpr> values(loops.domain.getMerged().size());
  for (auto [i, dim] : llvm::enumerate(loops.slots))
    values[dim] = slotDims[i];
  for (auto [i, dim] : llvm::enumerate(loops.reduced))
    values[dim] = outer[i];
  if (loops.lane)
    values[*loops.lane] = lane;
  return loops.domain.getIndex(values, context);
}

void ReductionKernel::emit() {
  AffineExpr slots = product(loops.getSizes(loops.slots), context);
  if (!loops.rows)
    slots = slots * laneSize.ceilDiv(config.lanes);
  setGrid(kernel, model, slots.ceilDiv(config.rows), config.threads);
  Value count = emitter.emitIndex(slots);
  Value first = frame.mul(frame.blockId(), frame.constant(config.rows));
  if (!machine.isGPU) {
    thread = frame.constant(0);
    Value end = frame.min(frame.add(first, frame.constant(config.rows)), count);
    frame.loop(first, end, frame.constant(1),
               [&](Value slot) { emitSlot(slot, nullptr); });
    return;
  }
  Value id = frame.threadId(), width = frame.constant(config.width);
  thread = frame.rem(id, width);
  Value slot = frame.add(first, frame.div(id, width));
  // All threads meet at the reductions: those beyond the end repeat the last
  // slot.
  Value valid = frame.less(slot, count);
  emitSlot(frame.min(slot, frame.sub(count, frame.constant(1))), valid);
}

void ReductionKernel::emitSlot(Value slot, Value valid) {
  if (loops.rows) {
    slotDims =
        frame.addDims(delinearize(emitter, slot, loops.getSizes(loops.slots)));
    emitLevels(valid);
    return;
  }
  AffineExpr vectors = laneSize.ceilDiv(config.lanes);
  Value perRow = emitter.emitIndex(vectors);
  slotDims = frame.addDims(delinearize(emitter, frame.div(slot, perRow),
                                       loops.getSizes(loops.slots)));
  Value column =
      frame.mul(frame.rem(slot, perRow), frame.constant(config.lanes));
  columnLane = emitter.addDim(column, config.lanes);
  bool divides = isKnownMultiple(laneSize, config.lanes, emitter.getDivisors());
  if (divides || config.lanes == 1) {
    emitter.setLanes(columnLane, config.lanes);
    emitLevels(valid);
    emitter.setLanes(columnLane, 1);
    return;
  }
  // On a CPU: whole vectors without a mask, the last one of a row with.
  Value left = frame.sub(emitter.emitIndex(laneSize), column);
  Value lanes = frame.constant(config.lanes);
  auto part = [&](Value mask) {
    emitter.setLanes(columnLane, config.lanes, mask);
    emitLevels(valid);
    emitter.setLanes(columnLane, 1);
  };
  Value partial = frame.less(left, lanes);
  frame.ifThen(partial, [&] { part(frame.laneMask(left, config.lanes)); });
  Value whole = arith::CmpIOp::create(frame.builder, frame.loc,
                                      arith::CmpIPredicate::sge, left, lanes);
  frame.ifThen(whole, [&] { part(nullptr); });
}

SmallVector<ReductionKernel::Accumulation>
ReductionKernel::getAccumulations() const {
  SmallVector<Accumulation> result;
  // A row that is read from memory in every walk is walked once less where the
  // sum of exponentials can follow the maximum.
  bool join = machine.isGPU && loops.rows && config.unroll == 0;
  auto findMaximum = [&](Operation *hero) {
    return llvm::find_if(result, [&](const Accumulation &other) {
      return other.heroes.size() == 1 &&
             Combiner::isExponentialSum(hero, other.heroes.front());
    });
  };
  for (auto [hero, level] : llvm::zip_equal(space.heroes, space.levels)) {
    Accumulation *maximum = join ? findMaximum(hero) : result.end();
    if (maximum == result.end()) {
      result.push_back({level, {hero}, Combiner(hero)});
      continue;
    }
    maximum->heroes.push_back(hero);
    maximum->combiner = Combiner(maximum->heroes);
  }
  return result;
}

void ReductionKernel::emitLevels(Value valid) {
  pieces.clear();
  if (loops.rows && loops.lane)
    for (int64_t i = 0; i < config.unroll; ++i)
      pieces.push_back(
          makePiece(frame.add(thread, frame.constant(i * config.width))));
  SmallVector<Accumulation> all = getAccumulations();
  unsigned depth = *llvm::max_element(space.levels) + 1;
  for (unsigned level = 0; level < depth; ++level) {
    SmallVector<Accumulation> now;
    llvm::copy_if(all, std::back_inserter(now),
                  [&](const Accumulation &one) { return one.level == level; });
    if (!now.empty())
      accumulate(now);
    emitSlotValues(level);
  }
  storeFullOutputs(valid);
  storeSlotOutputs(valid);
}

/// Walks the slot for these accumulations and states the results of their
/// heroes.
void ReductionKernel::accumulate(ArrayRef<Accumulation> accumulations) {
  OpBuilder &builder = frame.builder;
  Location loc = frame.loc;
  SmallVector<Value> values;
  for (const Accumulation &one : accumulations)
    llvm::append_range(values,
                       one.combiner.getIdentity(builder, loc, config.lanes));
  auto visit = [&](const Index &full, Value exists) {
    if (!exists && loops.rows)
      exists = emitter.getMask();
    return llvm::map_to_vector(accumulations, [&](const Accumulation &one) {
      Combiner::Contribution made;
      made.element = emitter.emitFull(one.heroes.front()->getOperand(0), full);
      if (one.combiner.isArgReduce())
        made.position = emitter.emitPosition(full[space.reduced.front()]);
      made.exists = exists;
      return made;
    });
  };
  auto absorb = [&](ArrayRef<Contributions> points, ValueRange carried) {
    SmallVector<Value> next;
    for (unsigned i = 0; i < accumulations.size(); ++i) {
      const Combiner &combiner = accumulations[i].combiner;
      SmallVector<Combiner::Contribution> added = llvm::map_to_vector(
          points, [i](const Contributions &all) { return all[i]; });
      llvm::append_range(
          next,
          combiner.absorb(builder, loc,
                          carried.slice(next.size(), combiner.getNumValues()),
                          added));
    }
    return next;
  };
  SmallVector<Value> sums = walk(values, visit, absorb);

  unsigned next = 0;
  Index slot = space.getSlotIndex(getSlotPoint());
  for (const Accumulation &one : accumulations) {
    SmallVector<Value> total = combineThreads(
        one.combiner, ArrayRef(sums).slice(next, one.combiner.getNumValues()));
    next += one.combiner.getNumValues();
    for (auto [hero, value] :
         llvm::zip_equal(one.heroes, one.combiner.finish(builder, loc, total)))
      emitter.seed(hero->getResult(0), slot, value);
  }
}

void ReductionKernel::storeFullOutputs(Value valid) {
  SmallVector<unsigned> full;
  for (unsigned i = 0; i < model.getNumOutputs(); ++i)
    if (*space.isFull(model.getDims(model.getOutput(i))))
      full.push_back(i);
  if (full.empty())
    return;
  auto store = [&](const Index &index, Value exists) {
    if (valid)
      exists = exists ? frame.logicalAnd(exists, valid) : valid;
    auto storeAll = [&] {
      for (unsigned output : full)
        emitter.emit(model.getOutput(output), index);
      for (unsigned output : full)
        emitter.store(output, index,
                      emitter.emit(model.getOutput(output), index));
    };
    if (exists)
      frame.ifThen(exists, storeAll);
    else
      storeAll();
    return Contributions();
  };
  walk(ValueRange(), store, [](ArrayRef<Contributions>, ValueRange) {
    return SmallVector<Value>();
  });
}

/// The first point of the slot.
Index ReductionKernel::getSlotPoint() const {
  AffineExpr zero = getAffineConstantExpr(0, context);
  return getIndex(SmallVector<AffineExpr>(loops.reduced.size(), zero),
                  loops.rows ? zero : columnLane);
}

/// Emits what depends on the slot alone and on the reductions done so far, once
/// for the slot rather than at every point that uses it.
void ReductionKernel::emitSlotValues(unsigned level) {
  Index full = getSlotPoint();
  DenseMap<Value, unsigned> depth; // 1 + level of the deepest hero below
  for (auto [hero, heroLevel] : llvm::zip_equal(space.heroes, space.levels))
    depth[hero->getResult(0)] = heroLevel + 1;
  for (Operation &op : model.getBody().without_terminator()) {
    if (isHero(&op) || op.getNumResults() != 1)
      continue;
    Value value = op.getResult(0);
    for (Value operand : op.getOperands())
      depth[value] = std::max(depth.lookup(value), depth.lookup(operand));
    ArrayRef<AffineExpr> dims = model.getDims(value);
    if (depth.lookup(value) == level + 1 && isa<ElementInterface>(op) &&
        space.isFull(dims) == false)
      emitter.emit(value, space.getOutputIndex(dims, full));
  }
}

void ReductionKernel::storeSlotOutputs(Value valid) {
  if (machine.isGPU) {
    Value leader = frame.equal(thread, frame.constant(0));
    valid = valid ? frame.logicalAnd(valid, leader) : leader;
  }
  Index full = getSlotPoint();
  auto storeAll = [&] {
    for (unsigned i = 0; i < model.getNumOutputs(); ++i)
      if (!*space.isFull(model.getDims(model.getOutput(i)))) {
        Index index =
            space.getOutputIndex(model.getDims(model.getOutput(i)), full);
        emitter.store(i, index, emitter.emit(model.getOutput(i), index));
      }
  };
  if (valid)
    frame.ifThen(valid, storeAll);
  else
    storeAll();
}

//===----------------------------------------------------------------------===//
// Walking the reduced space
//===----------------------------------------------------------------------===//

AffineExpr ReductionKernel::getNumPieces() const {
  return product(loops.getSizes(loops.reduced), context) *
         laneSize.floorDiv(config.lanes);
}

/// The piece with this number; one beyond the end reads what the first one does
/// and counts for nothing.
ReductionKernel::Piece ReductionKernel::makePiece(Value number) {
  Piece piece;
  piece.exists = frame.less(number, emitter.emitIndex(getNumPieces()));
  Value safe = arith::SelectOp::create(frame.builder, frame.loc, piece.exists,
                                       number, frame.constant(0));
  SmallVector<AffineExpr> sizes = loops.getSizes(loops.reduced);
  sizes.push_back(laneSize.floorDiv(config.lanes));
  SmallVector<Value> position = delinearize(emitter, safe, sizes);
  Value lane = frame.mul(position.pop_back_val(), frame.constant(config.lanes));
  piece.outer = frame.addDims(position);
  piece.lane = emitter.addDim(lane, config.lanes);
  return piece;
}

ReductionKernel::Contributions ReductionKernel::visitPiece(const Piece &piece,
                                                           Visit visit) {
  emitter.setLanes(piece.lane, config.lanes);
  Contributions made = visit(getIndex(piece.outer, piece.lane), piece.exists);
  emitter.setLanes(piece.lane, 1);
  return made;
}

SmallVector<Value> ReductionKernel::walk(ValueRange values, Visit visit,
                                         Absorb absorb) {
  if (!loops.rows)
    return walkColumn(values, visit, absorb);
  if (!pieces.empty()) {
    SmallVector<Value> carried(values);
    for (const Piece &piece : pieces)
      carried = absorb(visitPiece(piece, visit), carried);
    return carried;
  }
  if (!machine.isGPU || !loops.lane)
    return walkNest(0, {}, values, visit, absorb);
  // Several pieces an iteration keep several reads in flight.
  return frame.loop(
      thread, emitter.emitIndex(getNumPieces()),
      frame.constant(config.width * config.columns), values,
      [&](Value first, ValueRange carried) {
        SmallVector<Contributions> points;
        for (int64_t i = 0; i < config.columns; ++i)
          points.push_back(visitPiece(
              makePiece(frame.add(first, frame.constant(i * config.width))),
              visit));
        return absorb(points, carried);
      });
}

/// Loops over the other reduced dims around vectors along the row.
SmallVector<Value> ReductionKernel::walkNest(unsigned depth,
                                             SmallVector<AffineExpr> outer,
                                             ValueRange values, Visit visit,
                                             Absorb absorb) {
  if (depth < loops.reduced.size()) {
    AffineExpr size = loops.domain.getMerged()[loops.reduced[depth]].size;
    return frame.loop(
        frame.constant(0), emitter.emitIndex(size), frame.constant(1), values,
        [&](Value index, ValueRange carried) {
          SmallVector<AffineExpr> more = outer;
          more.push_back(emitter.addDim(index));
          return walkNest(depth + 1, more, carried, visit, absorb);
        });
  }
  bool divides = isKnownMultiple(laneSize, config.lanes, emitter.getDivisors());
  return frame.vectorLoop(frame.constant(0), emitter.emitIndex(laneSize),
                          config.lanes, config.lanes, divides, config.lanes,
                          values, [&](AffineExpr dim, ValueRange carried) {
                            return absorb(visit(getIndex(outer, dim), nullptr),
                                          carried);
                          });
}

SmallVector<Value> ReductionKernel::walkColumn(ValueRange values, Visit visit,
                                               Absorb absorb) {
  SmallVector<AffineExpr> sizes = loops.getSizes(loops.reduced);
  Value count = emitter.emitIndex(product(sizes, context));
  return frame.loop(thread, count, frame.constant(config.width), values,
                    [&](Value linear, ValueRange carried) {
                      SmallVector<AffineExpr> outer =
                          frame.addDims(delinearize(emitter, linear, sizes));
                      return absorb(visit(getIndex(outer, columnLane), nullptr),
                                    carried);
                    });
}

SmallVector<Value> ReductionKernel::combineThreads(const Combiner &combiner,
                                                   ValueRange values) {
  OpBuilder &builder = frame.builder;
  Location loc = frame.loc;
  if (loops.rows)
    return reduceAcross(combiner, combiner.reduceLanes(builder, loc, values));
  auto type = dyn_cast<VectorType>(values[0].getType());
  if (!type || config.width == 1)
    return reduceAcross(combiner, values);
  // Each lane on its own, all in one exchange: values of a lane side by side.
  SmallVector<Value> scalars;
  for (int64_t lane = 0; lane < type.getDimSize(0); ++lane)
    for (Value value : values)
      scalars.push_back(vector::ExtractOp::create(builder, loc, value, lane));
  SmallVector<Value> reduced = reduceAcross(combiner, scalars);
  SmallVector<Value> result;
  for (auto [i, value] : llvm::enumerate(values)) {
    SmallVector<Value> lanes;
    for (unsigned at = i; at < reduced.size(); at += values.size())
      lanes.push_back(reduced[at]);
    result.push_back(vector::FromElementsOp::create(
        builder, loc, cast<VectorType>(value.getType()), lanes));
  }
  return result;
}

/// Combines accumulators, one or several one after the other, over the threads
/// that share the slot.
SmallVector<Value> ReductionKernel::reduceAcross(const Combiner &combiner,
                                                 ValueRange scalars) {
  if (config.width == 1)
    return llvm::to_vector_of<Value>(scalars);
  OpBuilder &builder = frame.builder;
  Location loc = frame.loc;
  auto reduce =
      tile::ReduceOp::create(builder, loc, scalars.getTypes(), scalars,
                             builder.getI64IntegerAttr(config.width));
  OpBuilder::InsertionGuard insertion(builder);
  Block *block = builder.createBlock(&reduce.getCombiner());
  for (unsigned side = 0; side < 2; ++side)
    for (Value value : scalars)
      block->addArgument(value.getType(), loc);
  unsigned count = scalars.size(), each = combiner.getNumValues();
  SmallVector<Value> results;
  for (unsigned at = 0; at < count; at += each) {
    auto side = [&](unsigned offset) {
      return llvm::to_vector_of<Value>(
          block->getArguments().slice(offset + at, each));
    };
    llvm::append_range(results,
                       combiner.combine(builder, loc, side(0), side(count)));
  }
  tile::YieldOp::create(builder, loc, results);
  return llvm::to_vector_of<Value>(reduce.getResults());
}

} // namespace

void emitReductionKernel(const GroupModel &model, const MachineModel &machine,
                         const Config &config, tile::KernelOp kernel,
                         OpBuilder &builder) {
  ReductionKernel(model, machine, config, kernel, builder).emit();
}

} // namespace fusion

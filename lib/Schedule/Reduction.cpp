//===- Reduction.cpp - reductions over one space, with all around them ----===//
//
// One kernel for any number of reductions of the same dims, also when one needs
// the result of another: softmax and the norms are one kernel each. `width`
// threads share a slot, the part of the space that makes one result:
//
// - rows: the contiguous dim is reduced. A slot is one row; lanes run along it
//   and are combined at the end. On a GPU a row that fits is read once and kept
//   in registers (`unroll` vectors a thread), since the emitter recognises an
//   element that it has made before; a longer row is walked once for each level
//   of dependence.
// - columns: the contiguous dim is kept. A slot is a vector of results, its
//   threads take turns at the reduced dims.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Accesses.h"
#include "fusion/Schedule/Combiner.h"
#include "fusion/Schedule/KernelFrame.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion {

namespace {

ReductionSpace getSpace(const GroupModel &model) {
  std::string reason;
  return *ReductionSpace::get(model.getView(), reason);
}

bool isFull(const GroupModel &model, const ReductionSpace &space,
            unsigned output) {
  return *space.isFull(model.getDims(model.getOutput(output)));
}

/// Memory is walked in the order of the largest input.
SmallVector<int64_t> getOrder(const GroupModel &model,
                              const ReductionSpace &space) {
  for (BlockArgument arg : model.getBody().getArguments())
    if (ArrayRef(space.sizes) == model.getDims(arg))
      return getPhysicalOrder(cast<RankedTensorType>(arg.getType()));
  return llvm::to_vector(llvm::seq<int64_t>(0, space.sizes.size()));
}

/// The merged loop space with its dims sorted into roles.
struct ReductionLoops {
  Domain domain;
  bool rows; // lanes run along a reduced dim
  std::optional<unsigned> lane;
  SmallVector<unsigned> slots, reduced; // merged dims without the lane dim

  ReductionLoops(const GroupModel &model, const ReductionSpace &space);

  AffineExpr getLaneSize(MLIRContext *context) const {
    return lane ? domain.getMerged()[*lane].size
                : getAffineConstantExpr(1, context);
  }
  SmallVector<AffineExpr> getSizes(ArrayRef<unsigned> dims) const {
    return llvm::map_to_vector(
        dims, [&](unsigned i) { return domain.getMerged()[i].size; });
  }
};

ReductionLoops::ReductionLoops(const GroupModel &model,
                               const ReductionSpace &space)
    : domain(space.sizes, getOrder(model, space), space.reduced,
             collectAccessExprs(model)) {
  ArrayRef<MergedDim> merged = domain.getMerged();
  rows = true;
  // The innermost dim carries the lanes, unless it is too short to.
  for (int64_t i = (int64_t)merged.size() - 1; i >= 0; --i) {
    if (isa<AffineConstantExpr>(merged[i].size) && i > 0 &&
        cast<AffineConstantExpr>(merged[i].size).getValue() < 4)
      continue;
    lane = i;
    rows = merged[i].reduced;
    break;
  }
  if (!lane && !merged.empty()) {
    lane = merged.size() - 1;
    rows = merged.back().reduced;
  }
  for (auto [i, dim] : llvm::enumerate(merged))
    if (lane != i)
      (dim.reduced ? reduced : slots).push_back(i);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

class ReductionKernel {
public:
  ReductionKernel(const GroupModel &model, const MachineModel &machine,
                  const Config &config, tile::KernelOp kernel,
                  OpBuilder &builder)
      : model(model), machine(machine), config(config), kernel(kernel),
        context(builder.getContext()), space(getSpace(model)),
        loops(model, space), frame(model, kernel, builder),
        emitter(frame.emitter), laneSize(loops.getLaneSize(context)) {}

  void emit();

private:
  using Body = llvm::function_ref<SmallVector<Value>(const Index &full,
                                                     ValueRange carried)>;
  void emitSlot(Value slot, Value valid);
  void emitLevels(Value valid);
  /// Runs `body` at every point of the reduced space that this thread has,
  /// carrying `values`; `inBounds`, where not null, tells if the point exists.
  SmallVector<Value> walk(ValueRange values, Body body);
  SmallVector<Value> walkNest(unsigned depth, SmallVector<AffineExpr> outer,
                              ValueRange values, Body body);
  SmallVector<Value> walkColumn(ValueRange values, Body body);
  Index getIndex(ArrayRef<AffineExpr> outer, AffineExpr lane);
  /// Combines the lanes and the threads that share a slot.
  SmallVector<Value> combineThreads(const Combiner &combiner,
                                    ValueRange values);
  SmallVector<Value> reduceAcross(const Combiner &combiner, ValueRange scalars);
  void emitSlotValues(unsigned level);
  void storeSlotOutputs(Value valid);

  const GroupModel &model;
  const MachineModel &machine;
  const Config &config;
  tile::KernelOp kernel;
  MLIRContext *context;
  ReductionSpace space;
  ReductionLoops loops;
  KernelFrame frame;
  ElementEmitter &emitter;
  AffineExpr laneSize;
  SmallVector<AffineExpr> slotDims; // of loops.slots
  AffineExpr columnLane;            // the lane dim where a slot is columns
  Value thread;                     // number among those that share the slot
  /// A vector of the slot's row, numbered along the outer reduced dims too.
  struct Piece {
    SmallVector<AffineExpr> outer;
    AffineExpr lane;
    Value exists;
  };
  Piece makePiece(Value number);
  SmallVector<Value> walkPiece(const Piece &piece, ValueRange values,
                               Body body);
  AffineExpr getNumPieces() const;
  SmallVector<Piece> pieces; // of a row that is kept in registers
  Value pointExists;         // of the piece being walked
};

Index ReductionKernel::getIndex(ArrayRef<AffineExpr> outer, AffineExpr lane) {
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

void ReductionKernel::emitLevels(Value valid) {
  pieces.clear();
  if (loops.rows && loops.lane)
    for (int64_t i = 0; i < config.unroll; ++i)
      pieces.push_back(
          makePiece(frame.add(thread, frame.constant(i * config.width))));
  unsigned depth = *llvm::max_element(space.levels) + 1;
  for (unsigned level = 0; level < depth; ++level) {
    SmallVector<Operation *> heroes;
    SmallVector<Combiner> combiners;
    SmallVector<Value> values;
    for (auto [hero, heroLevel] : llvm::zip_equal(space.heroes, space.levels))
      if (heroLevel == level) {
        heroes.push_back(hero);
        combiners.emplace_back(hero);
        llvm::append_range(values, combiners.back().getIdentity(
                                       frame.builder, frame.loc, config.lanes));
      }
    SmallVector<Value> sums =
        walk(values, [&](const Index &full, ValueRange carried) {
          SmallVector<Value> next;
          for (auto [hero, combiner] : llvm::zip_equal(heroes, combiners)) {
            ValueRange old =
                carried.slice(next.size(), combiner.getNumValues());
            Value element = emitter.emitFull(hero->getOperand(0), full);
            Value position;
            if (combiner.isArgReduce())
              position = emitter.emitPosition(full[space.reduced.front()]);
            SmallVector<Value> more = combiner.combine(
                frame.builder, frame.loc, old,
                combiner.wrap(frame.builder, frame.loc, element, position));
            Value exists = pointExists;
            for (auto [now, before] : llvm::zip_equal(more, old)) {
              if (exists)
                now = arith::SelectOp::create(frame.builder, frame.loc, exists,
                                              now, before);
              else if (Value mask = loops.rows ? emitter.getMask() : Value())
                now = arith::SelectOp::create(frame.builder, frame.loc, mask,
                                              now, before);
              next.push_back(now);
            }
          }
          return next;
        });
    unsigned next = 0;
    Index slot = space.getSlotIndex(
        getIndex(SmallVector<AffineExpr>(loops.reduced.size(),
                                         getAffineConstantExpr(0, context)),
                 loops.rows ? getAffineConstantExpr(0, context) : columnLane));
    for (auto [hero, combiner] : llvm::zip_equal(heroes, combiners)) {
      SmallVector<Value> all = combineThreads(
          combiner, ArrayRef(sums).slice(next, combiner.getNumValues()));
      next += combiner.getNumValues();
      emitter.seed(hero->getResult(0), slot,
                   combiner.finish(frame.builder, frame.loc, all));
    }
    emitSlotValues(level);
  }

  SmallVector<unsigned> full;
  for (unsigned i = 0; i < model.getNumOutputs(); ++i)
    if (isFull(model, space, i))
      full.push_back(i);
  if (!full.empty())
    walk(ValueRange(), [&](const Index &index, ValueRange) {
      Value exists = pointExists;
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
      return SmallVector<Value>();
    });
  storeSlotOutputs(valid);
}

/// Emits what depends on the slot alone and on the reductions done so far, once
/// for the slot rather than at every point that uses it.
void ReductionKernel::emitSlotValues(unsigned level) {
  AffineExpr zero = getAffineConstantExpr(0, context);
  Index full = getIndex(SmallVector<AffineExpr>(loops.reduced.size(), zero),
                        loops.rows ? zero : columnLane);
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
  AffineExpr zero = getAffineConstantExpr(0, context);
  Index full = getIndex(SmallVector<AffineExpr>(loops.reduced.size(), zero),
                        loops.rows ? zero : columnLane);
  auto storeAll = [&] {
    for (unsigned i = 0; i < model.getNumOutputs(); ++i)
      if (!isFull(model, space, i)) {
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

SmallVector<Value> ReductionKernel::walkPiece(const Piece &piece,
                                              ValueRange values, Body body) {
  emitter.setLanes(piece.lane, config.lanes);
  pointExists = piece.exists;
  SmallVector<Value> next = body(getIndex(piece.outer, piece.lane), values);
  pointExists = nullptr;
  emitter.setLanes(piece.lane, 1);
  return next;
}

SmallVector<Value> ReductionKernel::walk(ValueRange values, Body body) {
  if (!loops.rows)
    return walkColumn(values, body);
  if (!pieces.empty()) {
    SmallVector<Value> carried(values);
    for (const Piece &piece : pieces)
      carried = walkPiece(piece, carried, body);
    return carried;
  }
  if (!machine.isGPU || !loops.lane)
    return walkNest(0, {}, values, body);
  // Several pieces an iteration keep several reads in flight.
  return frame.loop(
      thread, emitter.emitIndex(getNumPieces()),
      frame.constant(config.width * config.columns), values,
      [&](Value first, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t i = 0; i < config.columns; ++i)
          next = walkPiece(
              makePiece(frame.add(first, frame.constant(i * config.width))),
              next, body);
        return next;
      });
}

/// Loops over the other reduced dims around vectors along the row.
SmallVector<Value> ReductionKernel::walkNest(unsigned depth,
                                             SmallVector<AffineExpr> outer,
                                             ValueRange values, Body body) {
  if (depth < loops.reduced.size()) {
    AffineExpr size = loops.domain.getMerged()[loops.reduced[depth]].size;
    return frame.loop(frame.constant(0), emitter.emitIndex(size),
                      frame.constant(1), values,
                      [&](Value index, ValueRange carried) {
                        SmallVector<AffineExpr> more = outer;
                        more.push_back(emitter.addDim(index));
                        return walkNest(depth + 1, more, carried, body);
                      });
  }
  bool divides = isKnownMultiple(laneSize, config.lanes, emitter.getDivisors());
  return frame.vectorLoop(frame.constant(0), emitter.emitIndex(laneSize),
                          config.lanes, config.lanes, divides, config.lanes,
                          values, [&](AffineExpr dim, ValueRange carried) {
                            return body(getIndex(outer, dim), carried);
                          });
}

SmallVector<Value> ReductionKernel::walkColumn(ValueRange values, Body body) {
  SmallVector<AffineExpr> sizes = loops.getSizes(loops.reduced);
  Value count = emitter.emitIndex(product(sizes, context));
  return frame.loop(thread, count, frame.constant(config.width), values,
                    [&](Value linear, ValueRange carried) {
                      SmallVector<AffineExpr> outer =
                          frame.addDims(delinearize(emitter, linear, sizes));
                      return body(getIndex(outer, columnLane), carried);
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

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

class ReductionSchedule : public Schedule {
public:
  StringRef getName() const override { return "reduction"; }

  bool matches(const GroupModel &model, const MachineModel &) const override {
    return classify(model.getView()).kind == GroupKind::Reduction;
  }

  SmallVector<Config> getConfigs(const GroupModel &model,
                                 const MachineModel &machine) const override;

  void emit(const GroupModel &model, const MachineModel &machine,
            const Config &config, tile::KernelOp kernel,
            OpBuilder &builder) const override {
    ReductionKernel(model, machine, config, kernel, builder).emit();
  }
};

SmallVector<Config>
ReductionSchedule::getConfigs(const GroupModel &model,
                              const MachineModel &machine) const {
  ReductionSpace space = getSpace(model);
  ReductionLoops loops(model, space);
  MLIRContext *context = space.heroes.front()->getContext();
  const KernelSymbols &symbols = model.getSymbols();
  Divisors divisors;
  llvm::append_range(divisors.symbols, symbols.getDivisors());
  AffineExpr laneSize = loops.getLaneSize(context);
  int64_t lanesHint = symbols.getHint(laneSize).value_or(4096);
  int64_t reducedHint =
      symbols.getHint(product(loops.getSizes(loops.reduced), context))
          .value_or(1024);
  Config config;
  config.unroll = 0; // walk rows in a loop
  if (!machine.isGPU) {
    config.lanes = getLanes(model, machine.vectorBytes);
    // Whole lines of several vectors at a time, where rows are far apart.
    if (!loops.rows)
      config.lanes *= 4;
    while (config.lanes > lanesHint && config.lanes > 1)
      config.lanes /= 2;
    int64_t work =
        loops.rows ? lanesHint * reducedHint : config.lanes * reducedHint;
    config.rows = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, work));
    return {config};
  }
  int64_t narrowest = 8;
  for (BlockArgument arg : model.getBody().getArguments())
    if (auto type = cast<RankedTensorType>(arg.getType()); type.getRank() > 0)
      narrowest = std::min<int64_t>(
          narrowest, llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  config.lanes = std::min<int64_t>(8, machine.vectorBytes / narrowest);
  while (config.lanes > 1 && !isKnownMultiple(laneSize, config.lanes, divisors))
    config.lanes /= 2;
  if (!loops.rows) {
    config.threads = 256;
    config.width =
        std::clamp<int64_t>(roundUpToPowerOf2(reducedHint / 16), 1, 32);
    config.rows = config.threads / config.width;
    return {config};
  }
  int64_t vectors = std::max<int64_t>(
      1, reducedHint * llvm::divideCeil(lanesHint, config.lanes));
  // Up to four vectors a thread while a block is small, then more threads
  // before more vectors: registers hold the row.
  config.width = std::clamp<int64_t>(roundUpToPowerOf2(vectors) / 4, 32, 1024);
  if (roundUpToPowerOf2(vectors) < 32)
    config.width = roundUpToPowerOf2(vectors);
  config.threads = std::max<int64_t>(config.width, 128);
  config.rows = config.threads / config.width;
  config.columns = config.lanes >= 8 ? 4 : 8;
  int64_t pieces = llvm::divideCeil(vectors, config.width);
  bool known = symbols.getHint(laneSize).has_value() &&
               symbols.getHint(product(loops.getSizes(loops.reduced), context));
  int64_t registers = config.width > 512 ? 32 : 64; // a thread, for the row
  if (known && lanesHint * reducedHint > 0 &&
      pieces * config.lanes <= registers)
    config.unroll = pieces;
  return {config};
}

} // namespace

std::unique_ptr<Schedule> createReductionSchedule() {
  return std::make_unique<ReductionSchedule>();
}

} // namespace fusion

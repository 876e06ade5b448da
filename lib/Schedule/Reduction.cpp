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

#include "ReductionKernel.h"
#include "ReductionLoops.h"
#include "fusion/Schedule/KernelFrame.h"

using namespace mlir;

namespace fusion {

namespace {

/// Up to this cost an element is little code, in units of a multiply-add.
constexpr unsigned kSmallCost = 8;

/// What it takes to make one element of all values of the group.
unsigned getElementCost(const GroupModel &model) {
  unsigned cost = 0;
  for (Operation &op : model.getBody())
    if (auto element = dyn_cast<ElementInterface>(op))
      cost += element.getElementCost();
  return cost;
}

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
    emitReductionKernel(model, machine, config, kernel, builder);
  }
};

SmallVector<Config>
ReductionSchedule::getConfigs(const GroupModel &model,
                              const MachineModel &machine) const {
  ReductionLoops loops(model);
  MLIRContext *context = loops.getContext();
  const KernelSymbols &symbols = model.getSymbols();
  Divisors divisors;
  llvm::append_range(divisors.symbols, symbols.getDivisors());
  AffineExpr laneSize = loops.getLaneSize();
  int64_t lanesHint = symbols.getHint(laneSize).value_or(4096);
  int64_t reducedHint =
      symbols.getHint(product(loops.getSizes(loops.reduced), context))
          .value_or(1024);
  Config config;
  config.unroll = 0; // walk rows in a loop
  if (!machine.isGPU) {
    config.lanes = getLanes(model, machine.vectorBytes);
    // Whole lines of several vectors at a time, where rows are far apart; more
    // where each takes little code.
    if (!loops.rows)
      config.lanes *= getElementCost(model) <= kSmallCost ? 16 : 4;
    else if (lanesHint >= 32 * config.lanes)
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
  // before more vectors: registers hold the row. Past 512 threads too few are
  // left for a thread, and the row is walked in a loop.
  int64_t padded = roundUpToPowerOf2(vectors);
  config.width =
      padded < 32 ? padded : std::clamp<int64_t>(padded / 4, 32, 512);
  bool known = symbols.getHint(laneSize).has_value() &&
               symbols.getHint(product(loops.getSizes(loops.reduced), context));
  int64_t pieces = llvm::divideCeil(vectors, config.width);
  if (known && lanesHint * reducedHint > 0 && pieces * config.lanes <= 80)
    config.unroll = pieces;
  else
    config.width = std::min<int64_t>(1024, std::max<int64_t>(padded / 4, 32));
  config.threads = std::max<int64_t>(config.width, 128);
  config.rows = config.threads / config.width;
  config.columns = config.lanes >= 8 ? 4 : 8;
  return {config};
}

} // namespace

std::unique_ptr<Schedule> createReductionSchedule() {
  return std::make_unique<ReductionSchedule>();
}

} // namespace fusion

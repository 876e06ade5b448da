//===- General.cpp - a kernel for any group -------------------------------===//
//
// One thread for each element of each output, computed by recursion with serial
// loops for the heroes met on the way. Nothing is ever refused; the blocks of
// one output follow those of another.
//
//===----------------------------------------------------------------------===//

#include "fusion/Schedule/KernelFrame.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace fusion {

namespace {

class GeneralSchedule : public Schedule {
public:
  StringRef getName() const override { return "general"; }

  bool matches(const GroupModel &, const MachineModel &) const override {
    return true;
  }

  SmallVector<Config> getConfigs(const GroupModel &,
                                 const MachineModel &machine) const override {
    Config config;
    config.threads = machine.isGPU ? 256 : 1;
    config.columns = machine.isGPU ? 256 : 1024; // elements a block
    return {config};
  }

  void emit(const GroupModel &model, const MachineModel &machine,
            const Config &config, tile::KernelOp kernel,
            OpBuilder &builder) const override {
    MLIRContext *context = builder.getContext();
    SmallVector<AffineExpr> counts;
    AffineExpr grid = getAffineConstantExpr(0, context);
    for (unsigned i = 0; i < model.getNumOutputs(); ++i) {
      counts.push_back(product(model.getDims(model.getOutput(i)), context));
      grid = grid + counts.back().ceilDiv(config.columns);
    }
    setGrid(kernel, model, grid, config.threads);
    KernelFrame frame(model, kernel, builder);
    Value block = frame.blockId();
    for (unsigned i = 0; i < model.getNumOutputs(); ++i) {
      Value blocks = frame.emitter.emitIndex(counts[i].ceilDiv(config.columns));
      Value zero = frame.constant(0);
      Value mine = frame.logicalAnd(
          arith::CmpIOp::create(builder, frame.loc, arith::CmpIPredicate::sge,
                                block, zero),
          frame.less(block, blocks));
      frame.ifThen(mine, [&] { emitOutput(frame, machine, config, i, block); });
      block = frame.sub(block, blocks);
    }
  }

private:
  static void emitOutput(KernelFrame &frame, const MachineModel &machine,
                         const Config &config, unsigned output, Value block) {
    ElementEmitter &emitter = frame.emitter;
    const GroupModel &model = emitter.getModel();
    Value value = model.getOutput(output);
    ArrayRef<AffineExpr> sizes = model.getDims(value);
    Value count = emitter.emitIndex(product(sizes, frame.builder.getContext()));
    Value start = frame.mul(block, frame.constant(config.columns));
    auto element = [&](Value linear) {
      Index index = frame.addDims(delinearize(emitter, linear, sizes));
      emitter.store(output, index, emitter.emit(value, index));
    };
    if (machine.isGPU) {
      Value linear = frame.add(start, frame.threadId());
      frame.ifThen(frame.less(linear, count), [&] { element(linear); });
      return;
    }
    Value end =
        frame.min(frame.add(start, frame.constant(config.columns)), count);
    frame.loop(start, end, frame.constant(1), element);
  }
};

} // namespace

std::unique_ptr<Schedule> createGeneralSchedule() {
  return std::make_unique<GeneralSchedule>();
}

} // namespace fusion

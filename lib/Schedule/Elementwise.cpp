//===- Elementwise.cpp - chains of elementwise and view ops ---------------===//
//
// Every output element is computed once, where it is stored. The innermost dim
// is cut into vectors; on a GPU a block is a rectangle of vectors, one a
// thread, so that neighbours read neighbouring memory; on a CPU it is a run of
// rows.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Accesses.h"
#include "fusion/Schedule/KernelFrame.h"

using namespace mlir;

namespace fusion {

namespace {

/// Elements of a block's share of the space on a CPU: small enough to balance
/// threads, large enough to hide the cost of a block.
constexpr int64_t kCpuBlock = 16384;

class ElementwiseSchedule : public Schedule {
public:
  StringRef getName() const override { return "elementwise"; }

  bool matches(const GroupModel &model, const MachineModel &) const override {
    return classify(model.getView()).kind == GroupKind::Elementwise;
  }

  SmallVector<Config> getConfigs(const GroupModel &model,
                                 const MachineModel &machine) const override {
    Domain domain = getDomain(model);
    Config config;
    AffineExpr inner = getInnerSize(domain, model);
    int64_t hint = model.getSymbols().getHint(inner).value_or(4096);
    if (!machine.isGPU) {
      config.lanes = getLanes(model, machine.vectorBytes);
      config.columns = llvm::alignTo(
          std::clamp<int64_t>(hint, config.lanes, kCpuBlock), config.lanes);
      config.rows = std::max<int64_t>(1, kCpuBlock / config.columns);
      return {config};
    }
    config.lanes = getGpuLanes(model, inner, machine.vectorBytes);
    config.threads = 256;
    config.width = std::min<int64_t>(
        config.threads,
        roundUpToPowerOf2(llvm::divideCeil(hint, config.lanes)));
    config.rows = config.threads / config.width;
    config.columns = config.width * config.lanes;
    return {config};
  }

  void emit(const GroupModel &model, const MachineModel &machine,
            const Config &config, tile::KernelOp kernel,
            OpBuilder &builder) const override {
    Domain domain = getDomain(model);
    MLIRContext *context = builder.getContext();
    ArrayRef<MergedDim> merged = domain.getMerged();
    AffineExpr innerSize = getInnerSize(domain, model);
    SmallVector<AffineExpr> outerSizes;
    for (const MergedDim &dim : merged.empty() ? merged : merged.drop_back())
      outerSizes.push_back(dim.size);
    AffineExpr rows = product(outerSizes, context);
    AffineExpr columnBlocks = innerSize.ceilDiv(config.columns);
    setGrid(kernel, model, rows.ceilDiv(config.rows) * columnBlocks,
            config.threads);

    KernelFrame frame(model, kernel, builder);
    ElementEmitter &emitter = frame.emitter;
    bool divides =
        isKnownMultiple(innerSize, config.lanes, emitter.getDivisors());
    Value block = frame.blockId(), blocks = emitter.emitIndex(columnBlocks);
    Value rowStart =
        frame.mul(frame.div(block, blocks), frame.constant(config.rows));
    Value columnStart =
        frame.mul(frame.rem(block, blocks), frame.constant(config.columns));
    Value inner = emitter.emitIndex(innerSize);

    auto storeAll = [&](ArrayRef<AffineExpr> outer, AffineExpr column) {
      SmallVector<AffineExpr> values(outer);
      if (!merged.empty())
        values.push_back(column);
      frame.storeOutputs(domain.getIndex(values, context));
    };

    if (machine.isGPU) {
      Value thread = frame.threadId(), width = frame.constant(config.width);
      Value row = frame.add(rowStart, frame.div(thread, width));
      Value column =
          frame.add(columnStart, frame.mul(frame.rem(thread, width),
                                           frame.constant(config.lanes)));
      Value inside = frame.logicalAnd(frame.less(row, emitter.emitIndex(rows)),
                                      frame.less(column, inner));
      frame.ifThen(inside, [&] {
        SmallVector<AffineExpr> outer =
            frame.addDims(delinearize(emitter, row, outerSizes));
        AffineExpr dim = emitter.addDim(column, config.lanes);
        emitter.setLanes(dim, config.lanes);
        storeAll(outer, dim);
        emitter.setLanes(dim, 1);
      });
      return;
    }
    Value rowEnd = frame.min(frame.add(rowStart, frame.constant(config.rows)),
                             emitter.emitIndex(rows));
    Value columnEnd = frame.min(
        frame.add(columnStart, frame.constant(config.columns)), inner);
    frame.loop(rowStart, rowEnd, frame.constant(1), [&](Value row) {
      SmallVector<AffineExpr> outer =
          frame.addDims(delinearize(emitter, row, outerSizes));
      frame.vectorLoop(columnStart, columnEnd, config.lanes, config.lanes,
                       divides, config.columns, ValueRange(),
                       [&](AffineExpr column, ValueRange) {
                         storeAll(outer, column);
                         return SmallVector<Value>();
                       });
    });
  }

private:
  static Domain getDomain(const GroupModel &model) {
    return Domain(model.getDims(model.getOutput(0)),
                  getPhysicalOrder(model.getOutputType(0)), {},
                  collectAccessExprs(model));
  }

  static AffineExpr getInnerSize(const Domain &domain,
                                 const GroupModel &model) {
    return domain.getMerged().empty()
               ? getAffineConstantExpr(1, model.getOutput(0).getContext())
               : domain.getMerged().back().size;
  }

  /// The widest vector of `bytes` that the innermost size is a multiple of.
  static int64_t getGpuLanes(const GroupModel &model, AffineExpr inner,
                             int64_t bytes) {
    int64_t narrowest = 8;
    for (Type type : model.getBody().getArgumentTypes())
      if (auto tensor = cast<RankedTensorType>(type); tensor.getRank() > 0)
        narrowest = std::min<int64_t>(
            narrowest, llvm::divideCeil(tensor.getElementTypeBitWidth(), 8));
    for (unsigned i = 0; i < model.getNumOutputs(); ++i)
      narrowest = std::min<int64_t>(
          narrowest,
          llvm::divideCeil(model.getOutputType(i).getElementTypeBitWidth(), 8));
    Divisors divisors;
    llvm::append_range(divisors.symbols, model.getSymbols().getDivisors());
    int64_t lanes = std::min<int64_t>(bytes / narrowest, 8);
    while (lanes > 1 && !isKnownMultiple(inner, lanes, divisors))
      lanes /= 2;
    return lanes;
  }
};

} // namespace

std::unique_ptr<Schedule> createElementwiseSchedule() {
  return std::make_unique<ElementwiseSchedule>();
}

} // namespace fusion

//===- SchedulePass.cpp - write each group as a tiled kernel --------------===//

#include "fusion/Schedule/Passes.h"
#include "fusion/Schedule/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace fusion {

#define GEN_PASS_DEF_SCHEDULEPASS
#define GEN_PASS_DEF_RELAXROUNDINGPASS
#include "fusion/Schedule/Passes.h.inc"

namespace {

/// Alignments that the kernel may rely on, for each input of the group: what an
/// argument states, 16 bytes for what the runtime allocates.
void setAlignments(GroupOp group, func::FuncOp function) {
  SmallVector<int64_t> aligns;
  for (Value input : group.getInputs()) {
    int64_t align = 16;
    if (auto arg = dyn_cast<BlockArgument>(stripAliases(input)))
      if (auto stated = function.getArgAttrOfType<IntegerAttr>(
              arg.getArgNumber(), "fusion.align"))
        align = stated.getInt();
    aligns.push_back(align);
  }
  Builder builder(group.getContext());
  group->setAttr("fusion.align", builder.getDenseI64ArrayAttr(aligns));
}

/// 32 where every offset of every buffer is known to fit, else 64.
int64_t getIndexBits(const GroupModel &model, const DimAnalysis &dims) {
  auto fits = [&](Value value) {
    int64_t last = 0;
    for (auto [size, stride] :
         llvm::zip_equal(dims.getDims(value), dims.getStrides(value))) {
      std::optional<int64_t> n = evaluate(size, {}), s = evaluate(stride, {});
      if (!n || !s)
        return false;
      last += std::max<int64_t>(*n - 1, 0) * *s;
    }
    // Room for the overshoot of a block's last threads.
    return last < (int64_t(1) << 31) - (int64_t(1) << 20);
  };
  // The arguments, not the operands: those may be the results of launches by
  // now, which the analysis has not seen.
  for (Value value : model.getGroup().getBody().getArguments())
    if (!fits(value))
      return 64;
  // Intermediate values are indexed in their own shapes.
  for (Operation &op : model.getBody())
    for (Value value : op.getResults())
      if (!fits(value))
        return 64;
  return 32;
}

/// Multiply-adds of the group's contractions over the function's symbols; null
/// where it has none.
AffineMap getWork(GroupOp group, const DimAnalysis &dims) {
  MLIRContext *context = group.getContext();
  AffineExpr work = getAffineConstantExpr(0, context);
  bool found = false;
  for (Operation &op : group.getBody().front()) {
    if (!isHero(&op) || isa<ReduceOp, ArgReduceOp>(op))
      continue;
    HeroSpec spec =
        getHeroSpec(&op, [&](Value value) { return dims.getDims(value); });
    work = work + dims.getNumElements(op.getResult(0)) *
                      product(spec.reduced, context);
    found = true;
  }
  return found ? AffineMap::get(0, dims.getSymbols().size(), work)
               : AffineMap();
}

std::string printAnonymously(tile::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OwningOpRef<Operation *> copy = kernel->clone();
  SymbolTable::setSymbolName(*copy, "kernel");
  copy->removeAttr("fusion.ops");
  copy->print(os, OpPrintingFlags().skipRegions(false));
  return text;
}

struct SchedulePass : impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    machine = target == "cpu" ? MachineModel::getCPU(vectorBits / 8, processors)
              : target == "emulator" ? MachineModel::getGPU("sm_90a")
                                     : MachineModel::getGPU(target);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(scheduleFunction(function)))
        return signalPassFailure();
  }

  LogicalResult scheduleFunction(func::FuncOp function) {
    FailureOr<DimAnalysis> dims = DimAnalysis::create(function);
    if (failed(dims))
      return failure();
    OpBuilder builder(function);
    for (GroupOp group :
         llvm::make_early_inc_range(function.getOps<GroupOp>())) {
      setAlignments(group, function);
      GroupModel model(group, *dims);
      builder.setInsertionPoint(function);
      tile::KernelOp kernel = getKernel(model, *dims, builder);
      builder.setInsertionPoint(group);
      AffineMap sizes =
          AffineMap::get(0, dims->getSymbols().size(),
                         model.getSymbols().getHostExprs(), &getContext());
      auto launch = tile::LaunchOp::create(
          builder, group.getLoc(), group.getResultTypes(), kernel.getSymName(),
          group.getInputs(), sizes);
      launch->setAttr("fusion.ops", getOpNames(group, builder));
      if (AffineMap work = getWork(group, *dims))
        launch->setAttr(kWorkAttrName, AffineMapAttr::get(work));
      launch->setAttr(kResultDimsAttrName,
                      dims->getDimsAttr(group.getResults()));
      group.replaceAllUsesWith(launch.getResults());
      group.erase();
      ++numLaunches;
    }
    function->setAttr("fusion.symbols", dims->getSymbolsAttr(builder));
    return success();
  }

  static ArrayAttr getOpNames(GroupOp group, Builder &builder) {
    SmallVector<Attribute> names;
    for (Operation &op : group.getBody().front().without_terminator())
      if (!isa<ConstantOp>(op))
        names.push_back(builder.getStringAttr(op.getName().stripDialect()));
    return builder.getArrayAttr(names);
  }

  /// Writes the kernel, or finds the one that is the same but for its name.
  tile::KernelOp getKernel(const GroupModel &model, const DimAnalysis &dims,
                           OpBuilder &builder) {
    std::string name = model.getGroup().getName().str();
    // The name of a lone op may be that of a function of the C library.
    if (!StringRef(name).contains('_'))
      name += "_kernel";
    unsigned &number = used[name];
    if (number++ > 0)
      name += "_" + std::to_string(number - 1);
    tile::KernelOp kernel = emitKernel(model, machine, name, builder);
    if (machine.isGPU)
      kernel.setIndexBits(getIndexBits(model, dims));
    auto [it, isNew] = kernels.try_emplace(printAnonymously(kernel), kernel);
    if (!isNew) {
      kernel.erase();
      --number;
      return it->second;
    }
    ++numKernels;
    return kernel;
  }

  MachineModel machine;
  llvm::StringMap<unsigned> used;
  llvm::StringMap<tile::KernelOp> kernels;
};

/// extf(truncf(x)) -> x.
struct DropRounding : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto truncate = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (!truncate || truncate.getIn().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "does not widen a value that was "
                                             "rounded from the same type");
    rewriter.replaceOp(op, truncate.getIn());
    return success();
  }
};

struct RelaxRoundingPass : impl::RelaxRoundingPassBase<RelaxRoundingPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropRounding>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

} // namespace fusion

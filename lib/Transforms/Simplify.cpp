//===- Simplify.cpp - the pass fusion-simplify ----------------------------===//
//
// Drives the rewrites of the Simplify*.cpp files, which hold one family each,
// together with the folds of the dialect. The driver and the elimination of
// common subexpressions are upstream's.
//
//===----------------------------------------------------------------------===//

#include "fusion/Transforms/Passes.h"

#include "SimplifyUtils.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

namespace fusion {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "fusion/Transforms/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;

SmallVector<SimplifyRewrite> fusion::getSimplifyRewrites() {
  SmallVector<SimplifyRewrite> rewrites;
  for (ArrayRef<SimplifyRewrite> family :
       {getArithmeticRewrites(), getConversionRewrites(), getLogicRewrites(),
        getConstantRewrites(), getViewRewrites(), getSinkRewrites(),
        getHeroRewrites()})
    llvm::append_range(rewrites, family);
  return rewrites;
}

namespace {

/// Counts the rewrites that applied.
struct RewriteCounter : RewriterBase::Listener {
  void notifyPatternEnd(const Pattern &, LogicalResult status) override {
    count += succeeded(status);
  }
  int64_t count = 0;
};

struct SimplifyPass : ::fusion::impl::SimplifyPassBase<SimplifyPass> {
  using SimplifyPassBase::SimplifyPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet enabled(context);
    SmallVector<SimplifyRewrite> rewrites = getSimplifyRewrites();
    for (const SimplifyRewrite &rewrite : rewrites)
      if (!llvm::is_contained(disable, rewrite.name))
        rewrite.add(enabled);
    patterns = std::move(enabled);

    for (const std::string &name : disable) {
      auto isNamed = [&](const SimplifyRewrite &rewrite) {
        return rewrite.name == name;
      };
      if (llvm::any_of(rewrites, isNamed))
        continue;
      InFlightDiagnostic error = emitError(UnknownLoc::get(context))
                                 << "fusion-simplify has no rewrite '" << name
                                 << "'; it has these:";
      for (const SimplifyRewrite &rewrite : rewrites)
        error.attachNote() << rewrite.name << ": " << rewrite.summary;
      return error;
    }
    return success();
  }

  void runOnOperation() override {
    RewriteCounter counter;
    GreedyRewriteConfig config;
    config.setListener(&counter);
    // Equal values must be one value before rewrites can see that, and the
    // rewrites make new ones.
    bool changed = true;
    while (changed) {
      // A graph that is not simplified to the end is still an equal one.
      (void)applyPatternsGreedily(getOperation(), patterns, config);
      IRRewriter rewriter(&getContext());
      auto &dominance = getAnalysis<DominanceInfo>();
      eliminateCommonSubExpressions(rewriter, dominance, getOperation(),
                                    &changed);
    }
    numRewrites += counter.count;
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

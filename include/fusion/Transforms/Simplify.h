//===- Simplify.h - the rewrites of fusion-simplify -----------------------===//

#ifndef FUSION_TRANSFORMS_SIMPLIFY_H
#define FUSION_TRANSFORMS_SIMPLIFY_H

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringRef.h"

namespace fusion {

/// A rewrite that `fusion-simplify` applies unless it is disabled by name. Each
/// one by itself leaves the bits of all results unchanged.
struct SimplifyRewrite {
  llvm::StringLiteral name;
  /// What becomes what, in a line.
  llvm::StringLiteral summary;
  void (*add)(mlir::RewritePatternSet &patterns);
};

/// All rewrites, in the order of their families.
llvm::SmallVector<SimplifyRewrite> getSimplifyRewrites();

} // namespace fusion

#endif // FUSION_TRANSFORMS_SIMPLIFY_H

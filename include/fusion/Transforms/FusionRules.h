//===- FusionRules.h - may and should two sets of ops share a kernel? -----===//
//
// Legality and cost of one fusion, with the reason in words: the text of the
// remark that every edge of a graph gets.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TRANSFORMS_FUSIONRULES_H
#define FUSION_TRANSFORMS_FUSIONRULES_H

#include "fusion/Analysis/GroupShape.h"

namespace fusion {

struct FusionVerdict {
  bool fuse = false;
  /// Name of the rule that decided: "fused", "shape", "heroes", "cycle",
  /// "recompute", "parallelism", "prologue", "buffers".
  std::string rule;
  std::string reason;
};

/// Judges `merged`, the union of `producer` and `consumer`.
FusionVerdict judgeFusion(const GroupView &producer, const GroupView &consumer,
                          const GroupView &merged);

} // namespace fusion

#endif // FUSION_TRANSFORMS_FUSIONRULES_H

//===- Check.h - comparison of results with a reference -------------------===//

#ifndef FUSION_TOOLS_COMMON_CHECK_H
#define FUSION_TOOLS_COMMON_CHECK_H

#include "HostTensor.h"

namespace fusion::tools {

/// Outcome of a comparison.
struct Check {
  int64_t numWrong = 0;
  /// Row-major number of the first wrong element.
  int64_t firstWrong = -1;
  /// Largest error of a finite float, relative to the reference.
  double maxError = 0;
};

/// Largest relative error to allow for a graph in text: a few units in the last
/// place of the least precise float type that it names, more of them for the
/// types in which sums are accumulated without a wider one. Zero without
/// floats.
double getTolerance(llvm::StringRef graph);

/// Compares elements. Integers and bools are equal; NaN and infinities are
/// where the reference has them; the error of a finite float is relative to the
/// element plus the root mean square of the reference, so that a sum that
/// cancels is measured against its terms.
Check compare(const HostTensor &tensor, const HostTensor &reference,
              double tolerance);

} // namespace fusion::tools

#endif // FUSION_TOOLS_COMMON_CHECK_H

//===- ReductionKernel.h - the body of a reduction's kernel ---------------===//

#ifndef FUSION_SCHEDULE_REDUCTIONKERNEL_H
#define FUSION_SCHEDULE_REDUCTIONKERNEL_H

#include "fusion/Schedule/Schedule.h"

namespace fusion {

/// Writes the body and the grid of `kernel` for a group of reductions; see
/// Reduction.cpp for its forms. Of the configuration it reads threads, lanes,
/// width, rows, columns (vectors in flight where a long row is walked in a
/// loop) and unroll (vectors of a thread where the row stays in registers, 0
/// where it does not).
void emitReductionKernel(const GroupModel &model, const MachineModel &machine,
                         const Config &config, tile::KernelOp kernel,
                         mlir::OpBuilder &builder);

} // namespace fusion

#endif // FUSION_SCHEDULE_REDUCTIONKERNEL_H

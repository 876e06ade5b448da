//===- CpuProductKernel.h - a product by packed panels --------------------===//

#ifndef FUSION_SCHEDULE_CPUPRODUCTKERNEL_H
#define FUSION_SCHEDULE_CPUPRODUCTKERNEL_H

#include "fusion/Schedule/Schedule.h"

namespace fusion {

/// Writes the body and the grid of `kernel` for a product of matrices on a CPU.
/// Of the configuration it reads lanes and width (a panel's columns: lanes of a
/// vector, and vectors), unroll (a panel's rows), rows and columns (panels of a
/// block) and depth (the most elements of a sum between two packings).
void emitCpuProductKernel(const GroupModel &model, const Config &config,
                          tile::KernelOp kernel, mlir::OpBuilder &builder);

} // namespace fusion

#endif // FUSION_SCHEDULE_CPUPRODUCTKERNEL_H

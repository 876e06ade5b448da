//===- Passes.h - from groups to kernels ----------------------------------===//

#ifndef FUSION_SCHEDULE_PASSES_H
#define FUSION_SCHEDULE_PASSES_H

#include "fusion/Dialect/Tile/TileDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fusion {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fusion/Schedule/Passes.h.inc"

} // namespace fusion

#endif // FUSION_SCHEDULE_PASSES_H

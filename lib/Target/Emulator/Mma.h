//===- Mma.h - a warp's matrix product in plain code ----------------------===//
//
// Reads and writes fragments by the tables of the PTX manual, which it states
// anew: the compiler's FragmentLayout is tested against it, not used by it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TARGET_EMULATOR_MMA_H
#define FUSION_LIB_TARGET_EMULATOR_MMA_H

#include <cstdint>

namespace fusion::runtime::emulator {

/// Kinds of tile.mma, by their numbers in the dialect.
enum class MmaKind : int32_t { F16, BF16, TF32, S8, U8, F64 };

/// What one lane brings. The sum is C at first.
struct MmaFragments {
  const void *a = nullptr, *b = nullptr;
  void *sum = nullptr;
};

/// Adds the product of the A and B of 32 lanes to their sums. Products are
/// exact. Those of floats are added to C in the order of k in f64, and the sum
/// is rounded once to f32; for f64 each step is a fused multiply-add. Hardware
/// adds in an order and with roundings of its own, which are not modelled.
void multiplyFragments(MmaKind kind, const MmaFragments (&lanes)[32]);

} // namespace fusion::runtime::emulator

#endif // FUSION_LIB_TARGET_EMULATOR_MMA_H

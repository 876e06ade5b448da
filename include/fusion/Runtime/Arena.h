//===- Arena.h - temporaries laid out in one piece of memory --------------===//
//
// Buffers whose lifetimes don't meet share addresses. Greedy by size: the
// largest buffer first, each into the smallest gap that fits among those
// already placed that live at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_ARENA_H
#define FUSION_RUNTIME_ARENA_H

#include <cstdint>
#include <vector>

namespace fusion::runtime {

/// A buffer that holds its memory from `first` to `last`, both included.
struct ArenaBuffer {
  int64_t bytes = 0;
  int32_t first = 0, last = 0;
};

struct ArenaLayout {
  static constexpr int64_t alignment = 256;
  std::vector<int64_t> offsets; // multiples of `alignment`
  int64_t bytes = 0;            // of the whole; saturates
};

ArenaLayout layOut(const std::vector<ArenaBuffer> &buffers);

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_ARENA_H

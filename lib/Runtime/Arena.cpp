//===- Arena.cpp - temporaries laid out in one piece of memory ------------===//

#include "fusion/Runtime/Arena.h"
#include <algorithm>
#include <limits>
#include <numeric>

using namespace fusion::runtime;

namespace {
struct Placed {
  int64_t begin, end;
};
} // namespace

/// `bytes` rounded up to the alignment; what would overflow stays at the top.
static int64_t roundUp(int64_t bytes) {
  constexpr int64_t mask = ArenaLayout::alignment - 1;
  constexpr int64_t top = std::numeric_limits<int64_t>::max() & ~mask;
  return bytes > top ? top : (bytes + mask) & ~mask;
}

static int64_t addSaturating(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum)
             ? std::numeric_limits<int64_t>::max()
             : sum;
}

/// The begin of the smallest gap of at least `size` between the `taken` parts,
/// which are sorted by begin and may overlap; the end of all if there is none.
static int64_t findGap(const std::vector<Placed> &taken, int64_t size) {
  int64_t best = -1, bestSize = std::numeric_limits<int64_t>::max(), end = 0;
  for (const Placed &part : taken) {
    int64_t gap = part.begin - end;
    if (gap >= size && gap < bestSize) {
      best = end;
      bestSize = gap;
    }
    end = std::max(end, part.end);
  }
  return best < 0 ? end : best;
}

ArenaLayout fusion::runtime::layOut(const std::vector<ArenaBuffer> &buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].bytes != buffers[b].bytes
               ? buffers[a].bytes > buffers[b].bytes
               : a < b;
  });
  ArenaLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const ArenaBuffer &buffer = buffers[order[i]];
    if (buffer.bytes <= 0)
      continue;
    std::vector<Placed> taken;
    for (size_t j = 0; j < i; ++j) {
      const ArenaBuffer &other = buffers[order[j]];
      if (other.first <= buffer.last && buffer.first <= other.last) {
        int64_t begin = layout.offsets[order[j]];
        taken.push_back({begin, addSaturating(begin, roundUp(other.bytes))});
      }
    }
    std::sort(taken.begin(), taken.end(), [](const Placed &a, const Placed &b) {
      return a.begin < b.begin;
    });
    int64_t size = roundUp(buffer.bytes), begin = findGap(taken, size);
    layout.offsets[order[i]] = begin;
    layout.bytes = std::max(layout.bytes, addSaturating(begin, size));
  }
  return layout;
}

//===- AsyncCopies.h - the asynchronous copies of one thread --------------===//
//
// Copies are only noted when they are issued, and made when a wait completes
// their group: the latest that hardware may make them, so that whoever did not
// wait meets old contents.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TARGET_EMULATOR_ASYNCCOPIES_H
#define FUSION_LIB_TARGET_EMULATOR_ASYNCCOPIES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fusion::runtime::emulator {

struct AsyncCopy {
  char *destination = nullptr;
  const char *source = nullptr; // null for zeros
  int64_t bytes = 0;
};

class AsyncCopies {
public:
  void issue(const AsyncCopy &copy) {
    copies.push_back(copy);
    ++numOpen;
  }

  /// Makes a group of what was issued since the last.
  void commit() {
    groups.push_back(numOpen);
    numOpen = 0;
  }

  /// Calls `make` for the copies of all groups but the last `pending`, in the
  /// order in which they were issued, and forgets them.
  template <typename Make> void complete(size_t pending, Make make) {
    size_t numCopies = 0, numGroups = 0;
    while (groups.size() - numGroups > pending)
      numCopies += groups[numGroups++];
    for (size_t i = 0; i < numCopies; ++i)
      make(copies[i]);
    copies.erase(copies.begin(), copies.begin() + numCopies);
    groups.erase(groups.begin(), groups.begin() + numGroups);
  }

  void clear() {
    copies.clear();
    groups.clear();
    numOpen = 0;
  }

private:
  std::vector<AsyncCopy> copies; // oldest first
  std::vector<size_t> groups;    // their numbers of copies, oldest first
  size_t numOpen = 0;            // copies of no group yet
};

} // namespace fusion::runtime::emulator

#endif // FUSION_LIB_TARGET_EMULATOR_ASYNCCOPIES_H

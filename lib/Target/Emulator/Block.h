//===- Block.h - one block of emulated threads ----------------------------===//
//
// Threads are fibers. Each runs until it has to wait; the scheduler resumes
// those that wait no more, in order, until all have ended. An operation that
// threads do together gathers its participants, and the last to come does the
// work for all: barriers and shuffles are written that way, and so is whatever
// else a warp or a block does at once.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TARGET_EMULATOR_BLOCK_H
#define FUSION_LIB_TARGET_EMULATOR_BLOCK_H

#include "Fiber.h"
#include "GlobalMemory.h"

namespace fusion::runtime::emulator {

using EmulatedKernel = void (*)(void **buffers, int64_t *sizes, void *thread);

class Block;

/// Threads that meet: a block or one of its warps.
struct Group {
  uint32_t first = 0, size = 0;
  uint32_t arrived = 0;
  Meeting meeting; // where those that arrived wait
};

/// One GPU thread; the `thread` of the emulator's C functions.
struct Thread {
  Block *block = nullptr;
  uint32_t index = 0;
  Fiber fiber;
  bool ended = false;
  Group *waitsIn = nullptr;

  /// What this thread brings to a shuffle, and takes from it.
  struct Shuffle {
    int64_t bits = 0;
    int32_t mode = 0, offset = 0, width = 0;
    int64_t result = 0;
  } shuffle;
};

class Block {
public:
  /// Runs any number of blocks of one launch, one after the other.
  Block(EmulatedKernel kernel, const Kernel &info, int64_t *sizes,
        GlobalMemory &memory);

  /// Whether the constructor got its memory; call before `run`.
  Status check() const;

  /// Runs block `id` to its end or to its first error.
  const Fault &run(int64_t id);

  //===-- On a thread's fiber ---------------------------------------------===//

  void access(Thread &self, uintptr_t address, int64_t bytes, bool write,
              bool shared, int64_t alignment);
  void barrier(Thread &self, int32_t site);
  int64_t shuffle(Thread &self, const Thread::Shuffle &operand, int32_t site);
  char *getShared() { return sharedMemory; }
  int64_t getId() const { return id; }

private:
  static void runThread(void *thread);

  /// Resumes the threads that wait for nothing; false if there are none.
  bool resumeReady();

  /// Sets `fault` to why the threads that wait will wait for ever.
  void findDivergence();

  /// Waits until every thread of `group` has called this with the same meeting.
  /// The last one to come runs `combine` while the others still wait.
  template <typename Combine>
  void gather(Thread &self, Group &group, Meeting meeting, Combine combine);

  /// Gives `lane` its result of a shuffle for which all of `warp` is there.
  void receive(Thread &lane, const Group &warp, Meeting meeting);
  void accessShared(Stamp now, uintptr_t address, int64_t bytes, bool write);
  MemoryRange locateShared(uintptr_t address, int64_t bytes) const;

  /// Ends the launch by `fault`, which lacks only who made it.
  [[noreturn]] void fail(Thread &self);
  /// Leaves `self` for good; `fault` is complete.
  [[noreturn]] void stop(Thread &self);

  EmulatedKernel kernel;
  const Kernel &info;
  int64_t *sizes;
  GlobalMemory &memory;

  int64_t id = 0;
  uint32_t interval = 0; // barrier intervals, counted over the launch
  Fault fault;
  StackSet stacks;
  std::unique_ptr<Thread[]> threads;
  Group all;
  std::vector<Group> warps;
  std::unique_ptr<char[]> sharedStorage;
  char *sharedMemory = nullptr;
  ShadowMemory shadow;
};

} // namespace fusion::runtime::emulator

#endif // FUSION_LIB_TARGET_EMULATOR_BLOCK_H

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

#include "AsyncCopies.h"
#include "Fiber.h"
#include "GlobalMemory.h"
#include "Mma.h"

namespace fusion::runtime::emulator {

using EmulatedKernel = void (*)(void **buffers, int64_t *sizes, void *thread);

class Block;

inline constexpr uint32_t warpSize = 32;
/// A matrix of tile.load_matrix has 8 rows of 16 bytes.
inline constexpr int32_t matrixRows = 8, matrixRowBytes = 16;

/// A copy begins to write at its issue, and may write until its wait.
enum class AccessKind { Read, Write, BeginCopy };

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

  /// The row that this thread names in a load of matrices, and where its
  /// elements go.
  struct MatrixRow {
    uintptr_t address = 0;
    void *result = nullptr;
  } matrixRow;

  MmaFragments fragments;
  AsyncCopies copies;
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

  void access(Thread &self, uintptr_t address, int64_t bytes, AccessKind kind,
              bool shared, int64_t alignment);
  void barrier(Thread &self, int32_t site);
  int64_t shuffle(Thread &self, const Thread::Shuffle &operand, int32_t site);
  void multiply(Thread &self, const MmaFragments &fragments, MmaKind kind,
                int32_t site);
  void loadMatrix(Thread &self, const Thread::MatrixRow &row, int32_t count,
                  bool transposed, int32_t site);
  void copyAsync(Thread &self, const AsyncCopy &copy);
  void waitForCopies(Thread &self, size_t pending);
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
  /// Records that `self` misses a lane of its warp at `meeting`.
  void missLane(const Thread &self, int64_t missing, Meeting meeting);
  /// Whether `warp` has all of its lanes; else `fault` is set.
  bool requireWholeWarp(const Group &warp, Meeting meeting);

  /// Gives each of 32 lanes its part of `count` matrices.
  void distributeMatrices(Thread *lanes, int32_t count, bool transposed);
  /// Sets `fault` where the row that `lane` names is not whole and aligned.
  void checkMatrixRow(const Thread &lane);
  /// Reads what lane number `lane` gets of a matrix, with its checks.
  void receiveMatrix(Thread *lanes, int32_t lane, int32_t matrix,
                     bool transposed);

  Stamp getStamp(const Thread &self) const;
  void accessShared(Stamp now, uintptr_t address, int64_t bytes,
                    AccessKind kind);
  void checkAlignment(uintptr_t address, int64_t bytes, bool shared,
                      int64_t alignment);
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

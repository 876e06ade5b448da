//===- EmulatorMemoryTest.cpp - the emulator's checks of memory -----------===//
//
// Each fault has a twin without it that must pass.
//
//===----------------------------------------------------------------------===//

#include "EmulatorLaunch.h"
#include "fusion/Target/Emulator.h"
#include "gtest/gtest.h"

using namespace fusion::runtime;
using namespace fusion::runtime::test;

namespace {

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// Copies with each index moved by `delta`.
template <int64_t delta>
void copyMoved(void **buffers, int64_t *sizes, void *thread) {
  int64_t i = globalId(sizes, thread);
  store(thread, buffer(buffers, 1) + i,
        load(thread, buffer(buffers, 0) + i + delta));
}

TEST(Emulator, ReportsReadsOutOfBounds) {
  // The input is followed by memory that is the output's: no excuse.
  std::vector<int32_t> in = iota(8), out(8);
  TestLaunch launch(4);
  launch.read(in).write(out);
  EXPECT_EQ(launch.fault(copyMoved<1>, 2),
            "emulated kernel 'k', block 1, thread 3: reads bytes 32 to 35 of "
            "buffer 0, which has 32 bytes");
  EXPECT_EQ(launch.fault(copyMoved<-1>, 2),
            "emulated kernel 'k', block 0, thread 0: reads bytes -4 to -1 of "
            "buffer 0, which has 32 bytes");
  EXPECT_NE(launch.fault(copyMoved<(int64_t(1) << 40)>, 2)
                .find("outside of every buffer of the launch"),
            std::string::npos);
  launch.pass(copyMoved<0>, 2);
  EXPECT_EQ(out, in);
}

TEST(Emulator, ReportsWritesOutOfBounds) {
  std::vector<int32_t> in = iota(16), out(9);
  EXPECT_EQ(TestLaunch(10).read(in).write(out).fault(copy),
            "emulated kernel 'k', block 0, thread 9: writes bytes 36 to 39 of "
            "buffer 1, which has 36 bytes");
  TestLaunch(9).read(in).write(out).pass(copy);
}

TEST(Emulator, ReportsRangesThatStraddleTheEnd) {
  auto kernel = [](void **buffers, int64_t *, void *thread) {
    load(thread, reinterpret_cast<int64_t *>(buffer(buffers, 0) + 2));
  };
  std::vector<int32_t> in(3), longer(4);
  EXPECT_EQ(TestLaunch(1).read(in).fault(kernel),
            "emulated kernel 'k', block 0, thread 0: reads bytes 8 to 15 of "
            "buffer 0, which has 12 bytes");
  TestLaunch(1).read(longer).pass(kernel);
}

TEST(Emulator, NoBytesAreNoAccess) {
  auto kernel = [](void **, int64_t *, void *thread) {
    for (int32_t kind : {Read | 0, Write | 0, Read | Shared, Write | Shared})
      fusion_emu_access(thread, nullptr, 0, kind);
  };
  TestLaunch(2).pass(kernel);
}

TEST(Emulator, ReportsWritesToInputs) {
  std::vector<int32_t> in(4), out(4);
  EXPECT_EQ(TestLaunch(4).read(in).read(out).fault(copy),
            "emulated kernel 'k', block 0, thread 0: writes bytes 0 to 3 of "
            "buffer 1, which the launch only reads");
}

template <int64_t element> void touchShared(void **, int64_t *, void *thread) {
  storeShared(thread, element, 1);
}

TEST(Emulator, ReportsSharedAccessOutOfBounds) {
  EXPECT_EQ(TestLaunch(1, 16).fault(touchShared<4>),
            "emulated kernel 'k', block 0, thread 0: writes bytes 16 to 19 of "
            "shared memory, which has 16 bytes");
  EXPECT_NE(TestLaunch(1, 16).fault(touchShared<-1>), "");
  TestLaunch(1, 16).pass(touchShared<3>);
}

template <int32_t alignmentLog2>
void readVector(void **buffers, int64_t *, void *thread) {
  fusion_emu_access(thread, buffer(buffers, 0) + 1, 16, alignmentLog2 << 8);
}

TEST(Emulator, ReportsMisalignedAccess) {
  alignas(16) int32_t data[8] = {};
  void *buffers[] = {data};
  int64_t bytes[] = {sizeof(data)};
  bool written[] = {false};
  Kernel info;
  info.name = "k";
  auto run = [&](KernelFunction kernel) {
    return launchEmulated(reinterpret_cast<void *>(kernel), info, buffers,
                          bytes, written, 1, nullptr, 1);
  };
  EXPECT_EQ(run(readVector<4>).message,
            "emulated kernel 'k', block 0, thread 0: reads bytes 4 to 19 of "
            "buffer 0, relying on an alignment of 16 bytes that the address "
            "lacks");
  EXPECT_FALSE(run(readVector<2>).failed());
}

//===----------------------------------------------------------------------===//
// Initialisation
//===----------------------------------------------------------------------===//

/// Each thread passes a value to its neighbour; the last one only if `all`.
template <bool all> void rotate(void **buffers, int64_t *sizes, void *thread) {
  int64_t id = fusion_emu_thread_id(thread);
  // Another block's values must not count as initialised.
  if (all || id + 1 < sizes[0])
    storeShared(thread, id, id);
  fusion_emu_barrier(thread, 0);
  store(thread, buffer(buffers, 0) + globalId(sizes, thread),
        loadShared(thread, (id + 1) % sizes[0]));
}

TEST(Emulator, ReportsUninitialisedSharedMemory) {
  std::vector<int32_t> out(8);
  EXPECT_EQ(TestLaunch(4, 16).write(out).fault(rotate<false>, 2),
            "emulated kernel 'k', block 0, thread 2: reads bytes 12 to 15 of "
            "shared memory, which nothing has written");
  TestLaunch(4, 16).write(out).pass(rotate<true>, 2);
  EXPECT_EQ(out, (std::vector<int32_t>{1, 2, 3, 0, 1, 2, 3, 0}));
}

TEST(Emulator, SharedMemoryIsFreshInEveryBlock) {
  auto kernel = [](void **, int64_t *, void *thread) {
    if (fusion_emu_block_id(thread) == 0)
      storeShared(thread, 0, 1);
    loadShared(thread, 0);
  };
  EXPECT_EQ(TestLaunch(1, 4).fault(kernel, 2),
            "emulated kernel 'k', block 1, thread 0: reads bytes 0 to 3 of "
            "shared memory, which nothing has written");
}

template <bool init> void accumulate(void **buffers, int64_t *, void *thread) {
  int32_t *cell = buffer(buffers, 0) + fusion_emu_thread_id(thread);
  if (init)
    store(thread, cell, 0);
  store(thread, cell, load(thread, cell) + 1);
}

TEST(Emulator, ReportsReadsOfUnwrittenOutputs) {
  std::vector<int32_t> out(2, 5);
  EXPECT_EQ(TestLaunch(2).write(out).fault(accumulate<false>),
            "emulated kernel 'k', block 0, thread 0: reads bytes 0 to 3 of "
            "buffer 0, which nothing has written");
  TestLaunch(2).write(out).pass(accumulate<true>);
  EXPECT_EQ(out, std::vector<int32_t>({1, 1}));
}

TEST(Emulator, ReportsOutputsLeftUnwritten) {
  std::vector<int32_t> in = iota(8), out(8);
  EXPECT_EQ(TestLaunch(4).read(in).write(out).fault(copy, 1),
            "emulated kernel 'k' ends without having written bytes 16 to 31 of "
            "buffer 1");
  EXPECT_EQ(TestLaunch(4).read(in).write(out).fault(copy, 0),
            "emulated kernel 'k' ends without having written bytes 0 to 31 of "
            "buffer 1");
  TestLaunch(4).read(in).write(out).pass(copy, 2);
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

/// Thread 0 writes, the others read, and thread 1 writes again; a barrier
/// stands between where the template argument says so.
template <bool beforeReads, bool afterReads>
void handOver(void **, int64_t *, void *thread) {
  int64_t id = fusion_emu_thread_id(thread);
  if (id == 0)
    storeShared(thread, 0, 1);
  if (beforeReads)
    fusion_emu_barrier(thread, 0);
  if (id != 0)
    loadShared(thread, 0);
  if (afterReads)
    fusion_emu_barrier(thread, 1);
  if (id == 1)
    storeShared(thread, 0, 2);
}

TEST(Emulator, ReportsRacesOnSharedMemory) {
  EXPECT_EQ((TestLaunch(4, 4).fault(handOver<false, true>)),
            "emulated kernel 'k', block 0, thread 1: reads bytes 0 to 3 of "
            "shared memory, which thread 0 wrote with no barrier between: a "
            "data race");
  // Thread 3 comes to the barrier last, so it goes on first.
  EXPECT_EQ((TestLaunch(4, 4).fault(handOver<true, false>)),
            "emulated kernel 'k', block 0, thread 1: writes bytes 0 to 3 of "
            "shared memory, which thread 3 read with no barrier between: a "
            "data race");
  TestLaunch(4, 4).pass(handOver<true, true>, 3);
}

/// All threads read what thread 31, the first of them to read, then overwrites.
template <bool synchronised> void overwrite(void **, int64_t *, void *thread) {
  int64_t id = fusion_emu_thread_id(thread);
  if (id == 0)
    storeShared(thread, 0, 1);
  fusion_emu_barrier(thread, 0);
  loadShared(thread, 0);
  if (synchronised)
    fusion_emu_barrier(thread, 1);
  else
    fusion_emu_shuffle(thread, 0, Xor, 1, 32, 2);
  if (id == 31)
    storeShared(thread, 0, 2);
}

TEST(Emulator, RemembersSeveralReaders) {
  EXPECT_EQ(TestLaunch(32, 4).fault(overwrite<false>),
            "emulated kernel 'k', block 0, thread 31: writes bytes 0 to 3 of "
            "shared memory, which another thread read with no barrier between: "
            "a data race");
  TestLaunch(32, 4).pass(overwrite<true>);
}

TEST(Emulator, ReportsConcurrentEqualWrites) {
  auto kernel = [](void **, int64_t *, void *thread) {
    storeShared(thread, 0, 7);
  };
  EXPECT_EQ(TestLaunch(2, 4).fault(kernel),
            "emulated kernel 'k', block 0, thread 1: writes bytes 0 to 3 of "
            "shared memory, which thread 0 wrote with no barrier between: a "
            "data race");
  TestLaunch(1, 4).pass(kernel, 2);
}

TEST(Emulator, SeesRacesByTheByte) {
  auto bytes = [](void **, int64_t *, void *thread) {
    auto *memory = static_cast<char *>(fusion_emu_shared(thread, 0));
    store(thread, memory + fusion_emu_thread_id(thread), '\1', Shared);
  };
  TestLaunch(4, 4).pass(bytes);
}

TEST(Emulator, ShuffleOrdersNoMemory) {
  auto kernel = [](void **, int64_t *, void *thread) {
    if (fusion_emu_thread_id(thread) == 0)
      storeShared(thread, 0, 1);
    fusion_emu_shuffle(thread, 0, Xor, 1, 32, 0);
    loadShared(thread, 0);
  };
  EXPECT_NE(TestLaunch(32, 4).fault(kernel).find("a data race"),
            std::string::npos);
}

/// Every thread writes element id * `stride`, with a barrier between.
template <int64_t stride>
void writeStrided(void **buffers, int64_t *sizes, void *thread) {
  int64_t id = globalId(sizes, thread);
  for (int64_t turn = 0; turn < sizes[0]; ++turn) {
    if (turn == fusion_emu_thread_id(thread))
      store(thread, buffer(buffers, 0) + id * stride, 1);
    fusion_emu_barrier(thread, 0);
  }
}

TEST(Emulator, ReportsOutputsWrittenTwice) {
  std::vector<int32_t> one(1), two(2);
  EXPECT_EQ(TestLaunch(2).write(one).fault(writeStrided<0>),
            "emulated kernel 'k', block 0, thread 1: writes bytes 0 to 3 of "
            "buffer 0, which thread 0 wrote in the same launch: a data race");
  EXPECT_EQ(TestLaunch(1).write(one).fault(writeStrided<0>, 2),
            "emulated kernel 'k', block 1, thread 0: writes bytes 0 to 3 of "
            "buffer 0, which thread 0 of block 0 wrote in the same launch: a "
            "data race");
  TestLaunch(2).write(two).pass(writeStrided<1>);
  TestLaunch(1).write(two).pass(writeStrided<1>, 2);
}

TEST(Emulator, ReadsAnotherBlocksOutput) {
  auto kernel = [](void **buffers, int64_t *, void *thread) {
    int64_t id = fusion_emu_block_id(thread);
    store(thread, buffer(buffers, 0) + id, 1);
    load(thread, buffer(buffers, 0));
  };
  std::vector<int32_t> out(2);
  EXPECT_EQ(TestLaunch(1).write(out).fault(kernel, 2),
            "emulated kernel 'k', block 1, thread 0: reads bytes 0 to 3 of "
            "buffer 0, which thread 0 of block 0 wrote in the same launch: a "
            "data race");
}

TEST(Emulator, BuffersMayShareMemory) {
  std::vector<int32_t> data = iota(8);
  TestLaunch(4).read(data).write(data).pass(copy, 2);
  EXPECT_EQ(data, iota(8));
  EXPECT_EQ(TestLaunch(4)
                .read(data)
                .write(data)
                .fault(copyMoved<-1>, 2)
                .find("emulated kernel 'k', block 0, thread 0: reads"),
            0u);
  // In place, a neighbour's element is read after it was overwritten.
  auto shift = [](void **buffers, int64_t *sizes, void *thread) {
    int64_t i = globalId(sizes, thread);
    store(thread, buffer(buffers, 1) + i,
          load(thread, buffer(buffers, 0) + (i ? i - 1 : 0)));
  };
  EXPECT_NE(
      TestLaunch(4).read(data).write(data).fault(shift).find("a data race"),
      std::string::npos);
  std::vector<int32_t> other(8);
  TestLaunch(4).read(data).write(other).pass(shift, 2);
}

} // namespace

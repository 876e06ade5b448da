//===- EmulatorTest.cpp - launches and collectives of the emulator --------===//

#include "fusion/Target/Emulator.h"
#include "EmulatorLaunch.h"
#include "gtest/gtest.h"
#include <chrono>
#include <set>
#include <thread>

#if !defined(__x86_64__) || defined(__SANITIZE_ADDRESS__)
#define FUSION_TEST_SLOW_SWITCH
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUSION_TEST_SLOW_SWITCH
#endif
#endif

using namespace fusion::runtime;
using namespace fusion::runtime::test;

namespace {

//===----------------------------------------------------------------------===//
// Right kernels
//===----------------------------------------------------------------------===//

/// Sum of each block's inputs by halving, through shared memory.
void reduceShared(void **buffers, int64_t *sizes, void *thread) {
  int64_t id = fusion_emu_thread_id(thread);
  storeShared(thread, id,
              load(thread, buffer(buffers, 0) + globalId(sizes, thread)));
  for (int64_t half = sizes[0] / 2; half > 0; half /= 2) {
    fusion_emu_barrier(thread, 0);
    if (id < half)
      storeShared(thread, id,
                  loadShared(thread, id) + loadShared(thread, id + half));
  }
  if (id == 0)
    store(thread, buffer(buffers, 1) + fusion_emu_block_id(thread),
          loadShared(thread, 0));
}

/// The same by shuffles within warps, then by the first warp.
void reduceShuffle(void **buffers, int64_t *sizes, void *thread) {
  int64_t id = fusion_emu_thread_id(thread), warps = sizes[0] / 32;
  int64_t sum = load(thread, buffer(buffers, 0) + globalId(sizes, thread));
  for (int32_t offset = 16; offset > 0; offset /= 2)
    sum += fusion_emu_shuffle(thread, sum, Xor, offset, 32, 0);
  if (id % 32 == 0)
    storeShared(thread, id / 32, sum);
  fusion_emu_barrier(thread, 1);
  if (id >= 32)
    return;
  sum = id < warps ? loadShared(thread, id) : 0;
  for (int32_t offset = 16; offset > 0; offset /= 2)
    sum += fusion_emu_shuffle(thread, sum, Xor, offset, 32, 2);
  if (id == 0)
    store(thread, buffer(buffers, 1) + fusion_emu_block_id(thread),
          static_cast<int32_t>(sum));
}

class Reduction : public testing::TestWithParam<KernelFunction> {};

TEST_P(Reduction, SumsEveryBlock) {
  for (int32_t threads : {32, 256, 1024}) {
    constexpr int64_t grid = 37;
    std::vector<int32_t> in = iota(threads * grid), out(grid);
    TestLaunch(threads, threads * 4).read(in).write(out).pass(GetParam(), grid);
    for (int64_t block = 0; block < grid; ++block)
      EXPECT_EQ(out[block],
                std::accumulate(in.begin() + block * threads,
                                in.begin() + (block + 1) * threads, 0));
  }
}

INSTANTIATE_TEST_SUITE_P(Emulator, Reduction,
                         testing::Values(reduceShared, reduceShuffle));

/// Writes each lane's result of the shuffle (mode, offset, width) =
/// sizes[1..3].
template <int32_t mode, int32_t offset, int32_t width>
void shuffleLanes(void **buffers, int64_t *sizes, void *thread) {
  int64_t id = fusion_emu_thread_id(thread);
  store(thread, buffer(buffers, 0) + id,
        static_cast<int32_t>(
            fusion_emu_shuffle(thread, id, mode, offset, width, 0)));
}

TEST(Emulator, ShuffleModesFollowCuda) {
  std::vector<int32_t> out(64);
  TestLaunch launch(64);
  launch.write(out);
  launch.pass(shuffleLanes<Xor, 3, 32>);
  EXPECT_EQ(out[5], 6);
  EXPECT_EQ(out[37], 38);
  launch.pass(shuffleLanes<Up, 2, 8>);
  EXPECT_EQ(out[9], 9); // would leave the segment: keeps its own
  EXPECT_EQ(out[10], 8);
  launch.pass(shuffleLanes<Down, 2, 8>);
  EXPECT_EQ(out[5], 7);
  EXPECT_EQ(out[6], 6);
  launch.pass(shuffleLanes<Index, 9, 8>);
  EXPECT_EQ(out[20], 17); // 16 + 9 mod 8
  EXPECT_EQ(out[63], 57);
}

TEST(Emulator, RunsFromManyThreads) {
  std::vector<std::thread> runners;
  for (int i = 0; i < 4; ++i)
    runners.emplace_back([] {
      for (int repetition = 0; repetition < 10; ++repetition) {
        std::vector<int32_t> in = iota(64 * 8), out(8);
        TestLaunch(64, 256).read(in).write(out).pass(reduceShared, 8);
        EXPECT_EQ(out[0], 64 * 65 / 2);
      }
    });
  for (std::thread &runner : runners)
    runner.join();
}

TEST(Emulator, ListsItsSymbols) {
  std::set<llvm::StringRef> names;
  for (auto [name, address] : emulatorSymbols()) {
    EXPECT_NE(address, nullptr);
    EXPECT_TRUE(names.insert(name).second) << name.str();
  }
  EXPECT_EQ(names.size(), 11u);
}

//===----------------------------------------------------------------------===//
// Divergence
//===----------------------------------------------------------------------===//

/// Thread 3 leaves out, or takes another, collective operation.
enum class Stray { None, Ends, OtherBarrier, Shuffles };

template <Stray stray> void meet(void **, int64_t *, void *thread) {
  bool strays = fusion_emu_thread_id(thread) == 3;
  if (strays && stray == Stray::Ends)
    return;
  if (strays && stray == Stray::Shuffles)
    fusion_emu_shuffle(thread, 0, Xor, 1, 32, 9);
  fusion_emu_barrier(thread, strays && stray == Stray::OtherBarrier ? 6 : 5);
}

TEST(Emulator, ReportsDivergentBarriers) {
  EXPECT_EQ(TestLaunch(8).fault(meet<Stray::Ends>),
            "emulated kernel 'k', block 0, thread 0: waits at barrier 5, but "
            "thread 3 of its block has ended: divergent control flow");
  EXPECT_EQ(TestLaunch(8).fault(meet<Stray::OtherBarrier>),
            "emulated kernel 'k', block 0, thread 3: waits at barrier 6, but "
            "thread 0 of its block waits at barrier 5: divergent control flow");
  EXPECT_EQ(TestLaunch(8).fault(meet<Stray::Shuffles>),
            "emulated kernel 'k', block 0, thread 0: waits at barrier 5, but "
            "thread 3 of its block waits at shuffle 9: divergent control flow");
  TestLaunch(8).pass(meet<Stray::None>, 2);
}

/// Threads from `first` on take part in a shuffle.
template <int64_t first> void shuffleSome(void **, int64_t *, void *thread) {
  if (fusion_emu_thread_id(thread) >= first)
    fusion_emu_shuffle(thread, 0, Xor, 1, 32, 4);
}

TEST(Emulator, ReportsShufflesWithMissingLanes) {
  EXPECT_EQ(TestLaunch(64).fault(shuffleSome<33>),
            "emulated kernel 'k', block 0, thread 33: waits at shuffle 4, but "
            "thread 32 of its warp has ended: divergent control flow");
  TestLaunch(64).pass(shuffleSome<32>); // a whole warp less is none missing
  TestLaunch(64).pass(shuffleSome<0>);
}

TEST(Emulator, ReportsLanesThatDoNotExist) {
  std::vector<int32_t> out(8);
  EXPECT_EQ(TestLaunch(8).write(out).fault(shuffleLanes<Xor, 8, 32>),
            "emulated kernel 'k', block 0, thread 0: receives from lane 8 at "
            "shuffle 0, a lane that its warp lacks");
  TestLaunch(8).write(out).pass(shuffleLanes<Xor, 4, 32>);
  EXPECT_EQ(TestLaunch(8).write(out).fault(shuffleLanes<Xor, 1, 12>),
            "emulated kernel 'k', block 0, thread 0: calls shuffle 0 with a "
            "width of 12, which is not a power of two up to 32");
}

template <bool multiplies> void useMatrices(void **, int64_t *, void *thread) {
  double a[8] = {}, b[4] = {}, sum[4] = {};
  if (multiplies)
    fusion_emu_mma(thread, a, b, sum, /*kind=*/0, 3);
  else
    fusion_emu_load_matrix(thread, shared(thread), sum, 1, 0, 3);
}

TEST(Emulator, UsesMatricesByWholeWarps) {
  EXPECT_EQ(TestLaunch(40).fault(useMatrices<true>),
            "emulated kernel 'k', block 0, thread 32: receives from lane 8 at "
            "mma 3, a lane that its warp lacks");
  EXPECT_EQ(TestLaunch(8, 1024).fault(useMatrices<false>),
            "emulated kernel 'k', block 0, thread 0: receives from lane 8 at "
            "load_matrix 3, a lane that its warp lacks");
  TestLaunch(64).pass(useMatrices<true>);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST(Emulator, AFaultLeavesNothingBehind) {
  std::vector<int32_t> in = iota(1024), out(1024, -1);
  for (int repetition = 0; repetition < 20; ++repetition) {
    TestLaunch launch(1024, 4096);
    launch.read(in).write(out);
    // 1023 threads wait at a barrier when the last one fails.
    auto kernel = [](void **buffers, int64_t *, void *thread) {
      int64_t id = fusion_emu_thread_id(thread);
      storeShared(thread, id, id);
      store(thread, buffer(buffers, 1) + id, 3);
      if (id == 1023)
        load(thread, buffer(buffers, 0) + 1024);
      fusion_emu_barrier(thread, 0);
    };
    EXPECT_NE(launch.fault(kernel).find("thread 1023"), std::string::npos);
    EXPECT_EQ(out, std::vector<int32_t>(1024, -1));
  }
  TestLaunch(256, 1024).read(in).write(out).run(reduceShared, 1);
  std::vector<int32_t> sums(4);
  TestLaunch(256, 1024).read(in).write(sums).pass(reduceShared, 4);
  EXPECT_EQ(sums[0], 256 * 257 / 2);
}

TEST(Emulator, RefusesImpossibleLaunches) {
  std::vector<int32_t> data(1);
  EXPECT_EQ(TestLaunch(1025).read(data).run(copy).kind, "device");
  EXPECT_EQ(TestLaunch(0).read(data).run(copy).kind, "device");
  EXPECT_EQ(TestLaunch(1, 1 << 20).read(data).run(copy).kind, "device");
  EXPECT_EQ(TestLaunch(1024).read(data).run(copy, int64_t(1) << 40).kind,
            "unsupported");
  EXPECT_FALSE(TestLaunch(32).read(data).run(copy, 0).failed());
}

TEST(Emulator, TwentyBarriersTakeMillisecondsAtMost) {
#ifdef FUSION_TEST_SLOW_SWITCH
  GTEST_SKIP() << "a switch makes system calls or tells the sanitizer";
#endif
  auto kernel = [](void **, int64_t *, void *thread) {
    for (int i = 0; i < 20; ++i)
      fusion_emu_barrier(thread, 0);
  };
  constexpr int64_t grid = 20;
  TestLaunch launch(256);
  launch.pass(kernel, grid); // maps the stacks
  double best = 1e9;
  for (int repetition = 0; repetition < 10; ++repetition) {
    auto begin = std::chrono::steady_clock::now();
    launch.pass(kernel, grid);
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count() / grid);
  }
  // 0.3 on an idle machine; the bound leaves room for a busy one.
  EXPECT_LT(best, 15.0) << "milliseconds a block";
  RecordProperty("microseconds", static_cast<int>(best * 1000));
}

} // namespace

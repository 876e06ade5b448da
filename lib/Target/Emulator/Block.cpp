//===- Block.cpp - scheduling and collective operations -------------------===//
//
// The scheduler knows three states of a thread: ready, waiting in a group,
// ended. When none is ready and some still wait, what they wait for can never
// come: that is how divergent barriers and shuffles with missing lanes are
// found.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include <algorithm>
#include <new>

using namespace fusion::runtime;
using namespace fusion::runtime::emulator;

/// Shared memory begins at a multiple of this: the most that any access, down
/// to a swizzled tile of a matrix, relies on.
static constexpr uintptr_t sharedAlignment = 1024;

Block::Block(EmulatedKernel kernel, const Kernel &info, int64_t *sizes,
             GlobalMemory &memory)
    : kernel(kernel), info(info), sizes(sizes), memory(memory),
      stacks(info.threads), threads(new Thread[info.threads]),
      sharedStorage(
          new (std::nothrow) char[info.sharedBytes + sharedAlignment]),
      shadow(info.sharedBytes, info.threads,
             ShadowMemory::Rewrite::AfterBarrier) {
  uint32_t numThreads = info.threads;
  all.size = numThreads;
  for (uint32_t first = 0; first < numThreads; first += warpSize) {
    warps.emplace_back();
    warps.back().first = first;
    warps.back().size = std::min(warpSize, numThreads - first);
  }
  for (uint32_t i = 0; i < numThreads; ++i) {
    threads[i].block = this;
    threads[i].index = i;
  }
  auto base = reinterpret_cast<uintptr_t>(sharedStorage.get());
  sharedMemory = sharedStorage.get() +
                 (sharedAlignment - base % sharedAlignment) % sharedAlignment;
}

Status Block::check() const {
  if (stacks.valid() && sharedStorage && shadow.valid())
    return Status::success();
  return Status::error("memory",
                       "no memory for the " + std::to_string(info.threads) +
                           " threads of the emulated kernel '" + info.name +
                           "'",
                       "free some memory, or raise the process's limit");
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

void Block::runThread(void *pointer) {
  auto *self = static_cast<Thread *>(pointer);
  Block &block = *self->block;
  block.kernel(block.memory.getBuffers(), block.sizes, self);
  self->ended = true;
  self->fiber.suspend();
}

const Fault &Block::run(int64_t blockId) {
  id = blockId;
  shadow.forget(++interval);
  for (uint32_t i = 0; i < all.size; ++i) {
    threads[i].ended = false;
    threads[i].copies.clear();
    threads[i].fiber.start(stacks[i], runThread, &threads[i]);
  }
  while (resumeReady())
    continue;
  if (!fault)
    findDivergence();
  return fault;
}

bool Block::resumeReady() {
  bool any = false;
  for (uint32_t i = 0; i < all.size; ++i) {
    Thread &thread = threads[i];
    if (thread.ended || thread.waitsIn)
      continue;
    any = true;
    thread.fiber.resume();
    if (fault)
      return false;
  }
  return any;
}

void Block::findDivergence() {
  auto *end = threads.get() + all.size;
  auto *waiting = std::find_if(threads.get(), end,
                               [](Thread &thread) { return thread.waitsIn; });
  if (waiting == end)
    return;
  const Group &group = *waiting->waitsIn;
  auto *members = threads.get() + group.first;
  auto *missing =
      std::find_if(members, members + group.size,
                   [&](Thread &thread) { return thread.waitsIn != &group; });
  fault.kind = Fault::Kind::Divergence;
  fault.block = id;
  fault.thread = waiting->index;
  fault.meeting = group.meeting;
  fault.otherThread = missing->index;
  if (missing->waitsIn)
    fault.otherMeeting = missing->waitsIn->meeting;
}

void Block::fail(Thread &self) {
  fault.block = id;
  fault.thread = self.index;
  stop(self);
}

void Block::stop(Thread &self) {
  self.fiber.suspend();
  __builtin_unreachable();
}

//===----------------------------------------------------------------------===//
// Collective operations
//===----------------------------------------------------------------------===//

template <typename Combine>
void Block::gather(Thread &self, Group &group, Meeting meeting,
                   Combine combine) {
  if (group.arrived == 0)
    group.meeting = meeting;
  if (!(group.meeting == meeting)) {
    fault.kind = Fault::Kind::Divergence;
    fault.meeting = meeting;
    fault.otherMeeting = group.meeting;
    auto *members = threads.get() + group.first;
    fault.otherThread =
        std::find_if(members, members + group.size, [&](Thread &thread) {
          return thread.waitsIn == &group;
        })->index;
    fail(self);
  }
  self.waitsIn = &group;
  if (++group.arrived < group.size) {
    self.fiber.suspend();
    return;
  }
  combine();
  if (fault)
    stop(self);
  group.arrived = 0;
  for (uint32_t i = 0; i < group.size; ++i)
    threads[group.first + i].waitsIn = nullptr;
}

void Block::barrier(Thread &self, int32_t site) {
  gather(self, all, {Meeting::Kind::Barrier, site}, [&] { ++interval; });
}

int64_t Block::shuffle(Thread &self, const Thread::Shuffle &operand,
                       int32_t site) {
  Meeting meeting{Meeting::Kind::Shuffle, site};
  int32_t width = operand.width;
  if (width < 1 || width > static_cast<int32_t>(warpSize) ||
      (width & (width - 1)) != 0) {
    fault.kind = Fault::Kind::ShuffleWidth;
    fault.meeting = meeting;
    fault.lane = width;
    fail(self);
  }
  self.shuffle = operand;
  Group &warp = warps[self.index / warpSize];
  gather(self, warp, meeting, [&] {
    for (uint32_t i = 0; i < warp.size && !fault; ++i)
      receive(threads[warp.first + i], warp, meeting);
  });
  return self.shuffle.result;
}

void Block::receive(Thread &lane, const Group &warp, Meeting meeting) {
  enum Mode { Xor, Up, Down, Index };
  Thread::Shuffle &own = lane.shuffle;
  auto self = static_cast<int64_t>(lane.index - warp.first);
  int64_t begin = self / own.width * own.width, end = begin + own.width;
  int64_t source = own.mode == Xor    ? self ^ own.offset
                   : own.mode == Up   ? self - own.offset
                   : own.mode == Down ? self + own.offset
                                      : begin + (own.offset & (own.width - 1));
  if (source < begin || source >= end)
    source = self;
  if (source < warp.size) {
    own.result = threads[warp.first + source].shuffle.bits;
    return;
  }
  missLane(lane, source, meeting);
}

void Block::missLane(const Thread &self, int64_t missing, Meeting meeting) {
  fault.kind = Fault::Kind::MissingLane;
  fault.meeting = meeting;
  fault.lane = missing;
  fault.block = id;
  fault.thread = self.index;
}

bool Block::requireWholeWarp(const Group &warp, Meeting meeting) {
  if (warp.size < warpSize)
    missLane(threads[warp.first], warp.size, meeting);
  return !fault;
}

void Block::multiply(Thread &self, const MmaFragments &fragments, MmaKind kind,
                     int32_t site) {
  self.fragments = fragments;
  Group &warp = warps[self.index / warpSize];
  Meeting meeting{Meeting::Kind::Mma, site};
  gather(self, warp, meeting, [&] {
    if (!requireWholeWarp(warp, meeting))
      return;
    MmaFragments lanes[warpSize];
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      lanes[lane] = threads[warp.first + lane].fragments;
    multiplyFragments(kind, lanes);
  });
}

void Block::loadMatrix(Thread &self, const Thread::MatrixRow &row,
                       int32_t count, bool transposed, int32_t site) {
  self.matrixRow = row;
  Group &warp = warps[self.index / warpSize];
  Meeting meeting{Meeting::Kind::LoadMatrix, site};
  gather(self, warp, meeting, [&] {
    if (requireWholeWarp(warp, meeting))
      distributeMatrices(threads.get() + warp.first, count, transposed);
  });
}

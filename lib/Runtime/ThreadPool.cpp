//===- ThreadPool.cpp - one job at a time over all processors -------------===//
//
// See the header for the idea. The constants are measured: a spinning worker
// answers in about 0.5 us, a sleeping one costs the caller a system call, and a
// processor idle for 20 ms takes milliseconds to come back.
//
//===----------------------------------------------------------------------===//

#include "fusion/Runtime/ThreadPool.h"
#include "fusion/Runtime/Machine.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

using namespace fusion::runtime;
using Clock = std::chrono::steady_clock;

/// A thread more for so much work: about 2 us of it.
static constexpr int64_t workPerThread = 32 << 10;
/// Sleeping workers are worth waking from here on: about 20 us of work.
static constexpr int64_t workToWake = 256 << 10;
/// Chunks a thread, so that a slow one can leave some to the others.
static constexpr int64_t chunksPerThread = 4;
static constexpr auto spinTime = std::chrono::microseconds(1500);
/// A woken worker wakes so many others, which reaches all in a few steps.
static constexpr int wakeFanout = 2;
static constexpr int maximumThreads = 1024;

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

static long futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value,
                 nullptr, nullptr, 0);
}

static int getDefaultNumThreads() {
  if (const char *text = std::getenv("FUSION_NUM_THREADS"))
    if (int threads = std::atoi(text); threads > 0)
      return std::min(threads, maximumThreads);
  return getAvailableProcessors();
}

ThreadPool &ThreadPool::get() {
  static ThreadPool *pool = new ThreadPool;
  return *pool;
}

ThreadPool::ThreadPool() : numThreads(getDefaultNumThreads()) {
  // The constructor runs inside of get()'s initialisation, a fork later.
  pthread_atfork(nullptr, nullptr, [] { get().resetAfterFork(); });
}

void ThreadPool::setNumThreads(int threads) {
  numThreads =
      threads > 0 ? std::min(threads, maximumThreads) : getDefaultNumThreads();
}

/// The child of a fork has one thread and perhaps a job that nobody finishes.
void ThreadPool::resetAfterFork() {
  next = uint64_t(go) << 32 | UINT32_MAX;
  numWorkers = 0;
  sleeping = 0;
  taken = false;
}

//===----------------------------------------------------------------------===//
// The caller
//===----------------------------------------------------------------------===//

void ThreadPool::run(int64_t count, int64_t work, Body body, void *context) {
  if (count <= 0)
    return;
  int64_t threads =
      std::min<int64_t>({numThreads.load(std::memory_order_relaxed), count,
                         work / workPerThread});
  bool wakes = work >= workToWake;
  if (threads <= 1 || taken.exchange(true, std::memory_order_acquire))
    return body(context, 0, count);
  if (wakes)
    addWorkers(static_cast<int>(threads - 1));
  if (!wakes && sleeping.load(std::memory_order_relaxed) >= numWorkers) {
    taken.store(false, std::memory_order_release);
    return body(context, 0, count);
  }
  uint32_t chunks = std::min(count, threads * chunksPerThread);
  publish(count, chunks, body, context);
  if (wakes)
    wake(wakeFanout);
  takeChunks(go.load(std::memory_order_relaxed));
  for (int spins = 0; done.load(std::memory_order_acquire) != chunks; ++spins) {
    // A worker in the middle of a chunk may have lost its processor to us.
    if (spins < 4096)
      relax();
    else
      sched_yield();
  }
  taken.store(false, std::memory_order_release);
}

void ThreadPool::publish(int64_t newCount, uint32_t chunks, Body newBody,
                         void *newContext) {
  uint32_t generation = go.load(std::memory_order_relaxed) + 1;
  // Closed first: from here on a late worker's claim on the last job fails.
  next.store(uint64_t(generation) << 32 | UINT32_MAX);
  body = newBody;
  context = newContext;
  count = newCount;
  done.store(0, std::memory_order_relaxed);
  numChunks.store(chunks, std::memory_order_release);
  next.store(uint64_t(generation) << 32, std::memory_order_release);
  // Sequentially consistent: ordered before `sleeping` is read, as a worker
  // orders counting itself before it reads `go`.
  go.store(generation);
}

void ThreadPool::wake(int threads) {
  if (sleeping.load() > 0)
    futex(go, FUTEX_WAKE, threads);
}

/// Starts threads until there are `wanted`. What the system refuses is missing;
/// the others do its share.
void ThreadPool::addWorkers(int wanted) {
  if (numWorkers >= wanted)
    return;
  // Signals are the program's business, not a worker's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  while (numWorkers < wanted) {
    auto index = reinterpret_cast<void *>(intptr_t(numWorkers));
    pthread_t thread;
    if (pthread_create(&thread, &attributes, startWorker, index) != 0)
      break;
    ++numWorkers;
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

void ThreadPool::takeChunks(uint32_t generation) {
  uint64_t value = next.load(std::memory_order_acquire);
  for (;;) {
    uint32_t chunk = static_cast<uint32_t>(value);
    uint32_t chunks = numChunks.load(std::memory_order_acquire);
    if (value >> 32 != generation || chunk >= chunks)
      return;
    if (!next.compare_exchange_weak(value, value + 1, std::memory_order_acq_rel,
                                    std::memory_order_acquire))
      continue;
    // The claim holds the job: its caller waits for this chunk.
    int64_t size = count / chunks, longer = count % chunks;
    int64_t begin = chunk * size + std::min<int64_t>(chunk, longer);
    body(context, begin, begin + size + (chunk < longer));
    done.fetch_add(1, std::memory_order_release);
    value = next.load(std::memory_order_acquire);
  }
}

//===----------------------------------------------------------------------===//
// A worker
//===----------------------------------------------------------------------===//

void *ThreadPool::startWorker(void *argument) {
  get().workerLoop(static_cast<int>(reinterpret_cast<intptr_t>(argument)));
  return nullptr;
}

void ThreadPool::workerLoop(int index) {
  // A fresh worker joins the job that it was started for.
  uint32_t seen = go.load() - 1;
  for (;;) {
    waitForJob(seen, index);
    seen = go.load(std::memory_order_acquire);
    if (index + 1 < numThreads.load(std::memory_order_relaxed))
      takeChunks(seen);
  }
}

void ThreadPool::waitForJob(uint32_t seen, int index) {
  bool idle = index + 1 >= numThreads.load(std::memory_order_relaxed);
  Clock::time_point end = Clock::now() + spinTime;
  while (go.load(std::memory_order_acquire) == seen) {
    bool spins = !idle;
    for (int i = 0; spins && i < 64; ++i) {
      relax();
      if (go.load(std::memory_order_acquire) != seen)
        return;
    }
    if (spins && Clock::now() < end)
      continue;
    sleeping.fetch_add(1);
    // Counted before the last look at `go`: a caller that published after it
    // sees the count and wakes.
    long result = go.load() == seen ? futex(go, FUTEX_WAIT, seen) : -1;
    sleeping.fetch_sub(1);
    uint32_t chunks = numChunks.load(std::memory_order_relaxed);
    if (result == 0 &&
        static_cast<uint32_t>(next.load(std::memory_order_relaxed)) < chunks)
      wake(wakeFanout);
    end = Clock::now() + spinTime;
  }
}

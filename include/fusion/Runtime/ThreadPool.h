//===- ThreadPool.h - one job at a time over all processors ---------------===//
//
// A caller waits for chunks of its work, never for a thread: it takes chunks
// itself until none is left, so a worker that the system parked costs nothing.
// Workers spin for a while after each job, then sleep in a futex. A second
// caller, or a nested one, finds the pool taken and works on its own thread.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_THREADPOOL_H
#define FUSION_RUNTIME_THREADPOOL_H

#include <atomic>
#include <cstdint>

namespace fusion::runtime {

class ThreadPool {
public:
  /// Does the part [begin, end) of a job.
  using Body = void (*)(void *context, int64_t begin, int64_t end);

  /// The pool of this process. It is never destroyed: its threads may outlive
  /// static destructors.
  static ThreadPool &get();

  /// Calls `body` on contiguous parts that cover [0, count), and returns when
  /// all are done. `work` is an estimate in bytes moved (or, where greater,
  /// operations); little of it stays on the calling thread.
  void run(int64_t count, int64_t work, Body body, void *context);
  template <class Function>
  void forEachPart(int64_t count, int64_t work, Function function) {
    run(
        count, work,
        [](void *context, int64_t begin, int64_t end) {
          (*static_cast<Function *>(context))(begin, end);
        },
        &function);
  }

  int getNumThreads() const { return numThreads.load(); }
  /// 0 restores the default: $FUSION_NUM_THREADS, or what affinity and control
  /// groups allow.
  void setNumThreads(int threads);

private:
  ThreadPool();
  static void *startWorker(void *argument);
  void workerLoop(int index);
  void waitForJob(uint32_t seen, int index);
  void takeChunks(uint32_t generation);
  void publish(int64_t count, uint32_t chunks, Body body, void *context);
  void addWorkers(int wanted);
  void wake(int threads);
  void resetAfterFork();

  /// The job in progress, numbered: what `go` holds.
  alignas(64) std::atomic<uint32_t> go{0};
  /// (generation << 32 | next chunk). A claim is one compare-and-swap, which
  /// fails for a worker that still has an earlier generation in mind.
  alignas(64) std::atomic<uint64_t> next{0};
  alignas(64) std::atomic<uint32_t> done{0};
  alignas(64) std::atomic<int> sleeping{0};

  // Written by the caller while no chunk can be claimed.
  std::atomic<uint32_t> numChunks{0};
  Body body = nullptr;
  void *context = nullptr;
  int64_t count = 0;

  std::atomic<bool> taken{false}; // by a caller; guards what follows
  int numWorkers = 0;
  std::atomic<int> numThreads{1};
};

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_THREADPOOL_H

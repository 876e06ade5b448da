//===- MemoryPool.h - host memory that is kept and reused -----------------===//
//
// A fresh result of tens of megabytes costs more in page faults than in
// arithmetic, so freed buffers are kept by size class and handed out again, as
// caching allocators do on GPUs. What lies idle is bounded: past the limit the
// buffers that lay idle longest go back to the system.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_MEMORYPOOL_H
#define FUSION_RUNTIME_MEMORYPOOL_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace fusion::runtime {

class MemoryPool {
public:
  static constexpr size_t alignment = 64;

  /// Keeps at most `limit` bytes idle.
  explicit MemoryPool(size_t limit) : limit(limit) {}
  ~MemoryPool() { trim(); }
  /// The pool of this process, limited to a quarter of the memory; never
  /// destroyed, since results may be released at any time.
  static MemoryPool &get();

  /// At least `bytes` of memory, undefined in content, or null when the system
  /// has no more. `release` on any thread.
  void *allocate(size_t bytes);
  void release(void *data);
  /// Returns all idle memory to the system.
  void trim();
  size_t getIdleBytes();

private:
  struct Block;
  /// Four classes for each power of two up to 2^47.
  static constexpr size_t numClasses = 4 * 48;
  static size_t getClass(size_t bytes);
  static size_t getClassBytes(size_t sizeClass);
  static Block *create(size_t sizeClass);
  static void destroy(Block *block);
  void addIdle(Block *block);
  void removeIdle(Block *block);
  /// Takes idle blocks, longest idle first, until at most `bytes` are idle;
  /// returns them chained for destruction outside of the lock.
  Block *shrink(size_t bytes);
  static void destroyAll(Block *chain);

  std::mutex mutex;
  const size_t limit;
  size_t idleBytes = 0;
  std::array<Block *, numClasses> idle = {}; // last released first
  Block *oldest = nullptr, *newest = nullptr;
};

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_MEMORYPOOL_H

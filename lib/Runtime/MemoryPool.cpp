//===- MemoryPool.cpp - host memory that is kept and reused ---------------===//
//
// A block's header lies in the 64 bytes before its data, so that a release
// finds the class without a table. Idle blocks are in two lists through the
// headers: their class's, for reuse of the one most likely in cache, and one of
// all by age, for eviction.
//
//===----------------------------------------------------------------------===//

#include "fusion/Runtime/MemoryPool.h"
#include "fusion/Runtime/Machine.h"
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace fusion::runtime;

/// From this size on, blocks are mapped and ask for huge pages of this size.
static constexpr size_t hugePage = 2 << 20;
static const size_t pageSize = sysconf(_SC_PAGESIZE);

struct alignas(MemoryPool::alignment) MemoryPool::Block {
  size_t sizeClass;
  Block *previous, *next; // within the class
  Block *older, *newer;   // among all idle
};

MemoryPool &MemoryPool::get() {
  static MemoryPool *pool = [] {
    auto *result = new MemoryPool(getAvailableMemory() / 4);
    // A fork must not copy the lock while another thread holds it.
    pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                   [] { get().mutex.unlock(); });
    return result;
  }();
  return *pool;
}

//===----------------------------------------------------------------------===//
// Size classes: 4, 5, 6 and 7 quarters of each power of two
//===----------------------------------------------------------------------===//

size_t MemoryPool::getClassBytes(size_t sizeClass) {
  return (4 + sizeClass % 4) << sizeClass / 4;
}

size_t MemoryPool::getClass(size_t bytes) {
  if (bytes <= alignment)
    bytes = alignment;
  // The top three bits of `bytes - 1` name the class below.
  size_t last = bytes - 1;
  size_t power = 63 - __builtin_clzll(last) - 2;
  return power * 4 + (last >> power) - 4 + 1;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Maps `bytes` at a multiple of a huge page, or returns null.
static void *mapHugePages(size_t bytes) {
  size_t mapped = bytes + hugePage;
  void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto begin = reinterpret_cast<uintptr_t>(memory);
  uintptr_t aligned = (begin + hugePage - 1) / hugePage * hugePage;
  uintptr_t end = (aligned + bytes + pageSize - 1) / pageSize * pageSize;
  if (aligned != begin)
    munmap(memory, aligned - begin);
  if (begin + mapped > end)
    munmap(reinterpret_cast<void *>(end), begin + mapped - end);
  memory = reinterpret_cast<void *>(aligned);
  madvise(memory, bytes, MADV_HUGEPAGE); // a wish, which the system may refuse
  return memory;
}

MemoryPool::Block *MemoryPool::create(size_t sizeClass) {
  size_t bytes = sizeof(Block) + getClassBytes(sizeClass);
  void *memory = nullptr;
  if (bytes >= hugePage)
    memory = mapHugePages(bytes);
  else if (posix_memalign(&memory, alignment, bytes) != 0)
    memory = nullptr;
  if (!memory)
    return nullptr;
  auto *block = static_cast<Block *>(memory);
  block->sizeClass = sizeClass;
  return block;
}

void MemoryPool::destroy(Block *block) {
  size_t bytes = sizeof(Block) + getClassBytes(block->sizeClass);
  if (bytes < hugePage)
    free(block);
  else
    munmap(block, bytes);
}

void MemoryPool::destroyAll(Block *chain) {
  while (Block *block = chain) {
    chain = block->next;
    destroy(block);
  }
}

void MemoryPool::addIdle(Block *block) {
  Block *&head = idle[block->sizeClass];
  block->previous = nullptr;
  block->next = head;
  if (head)
    head->previous = block;
  head = block;
  block->newer = nullptr;
  block->older = newest;
  (newest ? newest->newer : oldest) = block;
  newest = block;
  idleBytes += getClassBytes(block->sizeClass);
}

void MemoryPool::removeIdle(Block *block) {
  (block->previous ? block->previous->next : idle[block->sizeClass]) =
      block->next;
  if (block->next)
    block->next->previous = block->previous;
  (block->older ? block->older->newer : oldest) = block->newer;
  (block->newer ? block->newer->older : newest) = block->older;
  idleBytes -= getClassBytes(block->sizeClass);
}

MemoryPool::Block *MemoryPool::shrink(size_t bytes) {
  Block *chain = nullptr;
  while (idleBytes > bytes) {
    Block *block = oldest;
    removeIdle(block);
    block->next = chain;
    chain = block;
  }
  return chain;
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

void *MemoryPool::allocate(size_t bytes) {
  if (bytes > size_t(1) << 46)
    return nullptr;
  size_t sizeClass = getClass(bytes);
  Block *block;
  {
    std::lock_guard<std::mutex> lock(mutex);
    block = idle[sizeClass];
    if (block)
      removeIdle(block);
  }
  if (!block)
    block = create(sizeClass);
  if (!block) {
    // Idle blocks of other classes may be all that the system lacks.
    trim();
    block = create(sizeClass);
  }
  return block ? block + 1 : nullptr;
}

void MemoryPool::release(void *data) {
  if (!data)
    return;
  Block *block = static_cast<Block *>(data) - 1, *evicted;
  {
    std::lock_guard<std::mutex> lock(mutex);
    addIdle(block);
    evicted = shrink(limit);
  }
  destroyAll(evicted);
}

void MemoryPool::trim() {
  Block *evicted;
  {
    std::lock_guard<std::mutex> lock(mutex);
    evicted = shrink(0);
  }
  destroyAll(evicted);
}

size_t MemoryPool::getIdleBytes() {
  std::lock_guard<std::mutex> lock(mutex);
  return idleBytes;
}

//===- Emulator.cpp - launches, and the functions that kernels call -------===//

#include "fusion/Target/Emulator.h"
#include "Block.h"
#include "fusion/Target/CPU/Linker.h"

using namespace fusion::runtime;
using namespace fusion::runtime::emulator;

//===----------------------------------------------------------------------===//
// What a kernel calls
//===----------------------------------------------------------------------===//

static Thread &get(void *thread) { return *static_cast<Thread *>(thread); }

void fusion_emu_access(void *thread, void *address, int64_t bytes,
                       int32_t kind) {
  if (bytes == 0) // a lane of a vector access that its mask turns off
    return;
  Thread &self = get(thread);
  bool write = kind & 1, shared = kind & 2;
  self.block->access(self, reinterpret_cast<uintptr_t>(address), bytes,
                     write ? AccessKind::Write : AccessKind::Read, shared,
                     int64_t(1) << (kind >> 8 & 31));
}

void *fusion_emu_shared(void *thread, int64_t offset) {
  return get(thread).block->getShared() + offset;
}

void fusion_emu_barrier(void *thread, int32_t site) {
  Thread &self = get(thread);
  self.block->barrier(self, site);
}

int64_t fusion_emu_shuffle(void *thread, int64_t bits, int32_t mode,
                           int32_t offset, int32_t width, int32_t site) {
  Thread &self = get(thread);
  return self.block->shuffle(self, {bits, mode, offset, width, 0}, site);
}

void fusion_emu_mma(void *thread, const void *a, const void *b, void *sum,
                    int32_t kind, int32_t site) {
  Thread &self = get(thread);
  self.block->multiply(self, {a, b, sum}, static_cast<MmaKind>(kind), site);
}

void fusion_emu_load_matrix(void *thread, void *row, void *result,
                            int32_t count, int32_t transposed, int32_t site) {
  Thread &self = get(thread);
  self.block->loadMatrix(self, {reinterpret_cast<uintptr_t>(row), result},
                         count, transposed, site);
}

void fusion_emu_async_copy(void *thread, void *destination, void *source,
                           int32_t bytes, int32_t isRead) {
  Thread &self = get(thread);
  self.block->copyAsync(
      self, {static_cast<char *>(destination),
             isRead ? static_cast<const char *>(source) : nullptr, bytes});
}

void fusion_emu_async_commit(void *thread) { get(thread).copies.commit(); }

void fusion_emu_async_wait(void *thread, int32_t pending) {
  Thread &self = get(thread);
  self.block->waitForCopies(self, static_cast<size_t>(pending));
}

int64_t fusion_emu_block_id(void *thread) { return get(thread).block->getId(); }

int64_t fusion_emu_thread_id(void *thread) { return get(thread).index; }

llvm::ArrayRef<std::pair<llvm::StringRef, void *>>
fusion::runtime::emulatorSymbols() {
#define SYMBOL(name)                                                           \
  {                                                                            \
    #name, reinterpret_cast<void *>(&name)                                     \
  }
  static const std::pair<llvm::StringRef, void *> symbols[] = {
      SYMBOL(fusion_emu_access),     SYMBOL(fusion_emu_shared),
      SYMBOL(fusion_emu_barrier),    SYMBOL(fusion_emu_shuffle),
      SYMBOL(fusion_emu_mma),        SYMBOL(fusion_emu_load_matrix),
      SYMBOL(fusion_emu_async_copy), SYMBOL(fusion_emu_async_commit),
      SYMBOL(fusion_emu_async_wait), SYMBOL(fusion_emu_block_id),
      SYMBOL(fusion_emu_thread_id)};
#undef SYMBOL
  return symbols;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// What a block may have on the largest GPUs.
static constexpr int64_t maxSharedBytes = 227 * 1024;

/// Whether the emulator, and a GPU, can have such a launch at all.
static Status checkShape(const Kernel &info, int64_t grid) {
  if (info.threads < 1 || info.threads > 1024)
    return Status::error("device", "kernel '" + info.name + "' wants " +
                                       std::to_string(info.threads) +
                                       " threads a block; a GPU has 1 to 1024");
  if (info.sharedBytes < 0 || info.sharedBytes > maxSharedBytes)
    return Status::error("device", "kernel '" + info.name + "' wants " +
                                       std::to_string(info.sharedBytes) +
                                       " bytes of shared memory; a GPU has up "
                                       "to " +
                                       std::to_string(maxSharedBytes));
  // Threads of a launch are numbered in 32 bits.
  if (grid > (int64_t(UINT32_MAX) - 1) / info.threads)
    return Status::error("unsupported",
                         "a grid of " + std::to_string(grid) + " blocks of " +
                             std::to_string(info.threads) +
                             " threads is too large to emulate",
                         "emulate smaller sizes; the emulator is for tests");
  return Status::success();
}

Status fusion::runtime::launchEmulated(void *kernel, const Kernel &info,
                                       void **buffers, const int64_t *bytes,
                                       const bool *written, size_t numBuffers,
                                       int64_t *sizes, int64_t grid) {
  if (Status status = checkShape(info, grid); status.failed())
    return status;
  GlobalMemory memory;
  Status status =
      memory.create(buffers, bytes, written, numBuffers, info.threads);
  if (status.failed())
    return status;
  Block block(reinterpret_cast<EmulatedKernel>(kernel), info, sizes, memory);
  if (status = block.check(); status.failed())
    return status;
  for (int64_t id = 0; id < grid; ++id)
    if (const Fault &fault = block.run(id))
      return describe(fault, info);
  Fault fault;
  memory.checkOutputs(fault);
  if (fault)
    return describe(fault, info);
  memory.copyBack();
  return Status::success();
}

void fusion::runtime::registerEmulatorTarget() {
  addLinkerSymbols(emulatorSymbols());
  setEmulatedLaunch(launchEmulated);
}

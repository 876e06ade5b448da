//===- Emulator.h - a GPU's kernels, thread by thread on a CPU ------------===//
//
// Runs the emulator's form of a tile kernel, `void name(void **buffers, int64_t
// *sizes, void *thread)`, once for every GPU thread, and checks what the thread
// does: bounds, initialisation, races, waits, and what threads do together. For
// tests: it checks everything and hurries nothing. Blocks run one after the
// other, so the first error is the same in every run.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TARGET_EMULATOR_H
#define FUSION_TARGET_EMULATOR_H

#include "fusion/Runtime/Executable.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

extern "C" {

//===-- What a kernel calls; `thread` is its third argument --------------===//

/// Comes before every memory access of `bytes` bytes at `address`. `kind`: bit
/// 0 is set for a write, bit 1 for shared memory; bits 8 and up hold the binary
/// logarithm of the alignment that the access relies on. No bytes, as in a lane
/// that is masked off, are no access. Returns only where the access is allowed.
void fusion_emu_access(void *thread, void *address, int64_t bytes,
                       int32_t kind);

/// Address of byte `offset` of the block's shared memory.
void *fusion_emu_shared(void *thread, int64_t offset);

/// Waits for all threads of the block. `site` numbers the barriers and shuffles
/// of the kernel: threads that meet must meet at the same one.
void fusion_emu_barrier(void *thread, int32_t site);

/// Exchanges `bits` between the lanes of a warp, as CUDA's `__shfl_*_sync` with
/// a full mask does. `mode`: 0 xor, 1 up, 2 down, 3 index. Lanes form aligned
/// segments of `width`; a lane whose source lies outside of its segment keeps
/// its own bits, an index wraps.
int64_t fusion_emu_shuffle(void *thread, int64_t bits, int32_t mode,
                           int32_t offset, int32_t width, int32_t site);

/// The product of a warp's fragments is added to `sum`, C before and D after.
/// `kind` is the number of tile.mma's kind.
void fusion_emu_mma(void *thread, const void *a, const void *b, void *sum,
                    int32_t kind, int32_t site);

/// Loads `count` matrices of 8 rows of 16 bytes, of which this lane names one,
/// and puts 4 bytes of each at `result`, as PTX's ldmatrix does.
void fusion_emu_load_matrix(void *thread, void *row, void *result,
                            int32_t count, int32_t transposed, int32_t site);

/// Issues a copy of `bytes` bytes to shared memory, or one of zeros if `isRead`
/// is zero. It is made at the wait that completes its group; until then its
/// destination must not be touched.
void fusion_emu_async_copy(void *thread, void *destination, void *source,
                           int32_t bytes, int32_t isRead);
/// Makes a group of the copies issued since the last one.
void fusion_emu_async_commit(void *thread);
/// Completes all groups of this thread but the last `pending`.
void fusion_emu_async_wait(void *thread, int32_t pending);

int64_t fusion_emu_block_id(void *thread);
int64_t fusion_emu_thread_id(void *thread);

} // extern "C"

namespace fusion::runtime {

/// Runs `grid` blocks of `info.threads` threads: an `EmulatedLaunch`. Safe on
/// any number of OS threads at once.
Status launchEmulated(void *kernel, const Kernel &info, void **buffers,
                      const int64_t *bytes, const bool *written,
                      size_t numBuffers, int64_t *sizes, int64_t grid);

/// The functions above by name, for the linker of emulated object code.
llvm::ArrayRef<std::pair<llvm::StringRef, void *>> emulatorSymbols();

/// Makes executables of the emulator target runnable, once `registerCpuTarget`
/// has installed the linker of their code.
void registerEmulatorTarget();

} // namespace fusion::runtime

#endif // FUSION_TARGET_EMULATOR_H

//===- EmulatorLaunch.h - what the emulator's tests share -----------------===//
//
// Kernels written by hand in the form that the conversion emits: each access is
// announced before it is made.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNIT_EMULATORLAUNCH_H
#define FUSION_TEST_UNIT_EMULATORLAUNCH_H

#include "fusion/Target/Emulator.h"
#include "gtest/gtest.h"
#include <array>
#include <numeric>
#include <vector>

namespace fusion::runtime::test {

using KernelFunction = void (*)(void **, int64_t *, void *);

enum Kind { Read = 0, Write = 1, Shared = 2 };
enum Mode { Xor, Up, Down, Index };

template <typename T> T load(void *thread, T *address, int32_t kind = 0) {
  fusion_emu_access(thread, address, sizeof(T), Read | kind);
  return *address;
}

template <typename T>
void store(void *thread, T *address, T value, int32_t kind = 0) {
  fusion_emu_access(thread, address, sizeof(T), Write | kind);
  *address = value;
}

inline int32_t *shared(void *thread, int64_t element = 0) {
  return static_cast<int32_t *>(fusion_emu_shared(thread, 0)) + element;
}

inline int32_t loadShared(void *thread, int64_t element) {
  return load(thread, shared(thread, element), Shared);
}

inline void storeShared(void *thread, int64_t element, int32_t value) {
  store(thread, shared(thread, element), value, Shared);
}

inline int32_t *buffer(void **buffers, int index) {
  return static_cast<int32_t *>(buffers[index]);
}

inline int64_t globalId(int64_t *sizes, void *thread) {
  return fusion_emu_block_id(thread) * sizes[0] + fusion_emu_thread_id(thread);
}

/// A launch on vectors of i32 with the number of threads as its first size.
class TestLaunch {
public:
  explicit TestLaunch(int32_t threads, int64_t sharedBytes = 0) {
    info.name = "k";
    info.threads = threads;
    info.sharedBytes = sharedBytes;
  }
  TestLaunch &read(std::vector<int32_t> &data) { return add(data, false); }
  TestLaunch &write(std::vector<int32_t> &data) { return add(data, true); }

  Status run(KernelFunction kernel, int64_t grid = 1) {
    int64_t sizes[] = {info.threads};
    return launchEmulated(reinterpret_cast<void *>(kernel), info,
                          buffers.data(), bytes.data(), written.data(),
                          buffers.size(), sizes, grid);
  }
  /// The message of a launch that must fail; of kind "device".
  std::string fault(KernelFunction kernel, int64_t grid = 1) {
    Status status = run(kernel, grid);
    EXPECT_EQ(status.kind, "device");
    return status.message;
  }
  void pass(KernelFunction kernel, int64_t grid = 1) {
    Status status = run(kernel, grid);
    EXPECT_FALSE(status.failed()) << status.message;
  }

private:
  TestLaunch &add(std::vector<int32_t> &data, bool isWritten) {
    written[buffers.size()] = isWritten;
    buffers.push_back(data.data());
    bytes.push_back(data.size() * sizeof(int32_t));
    return *this;
  }

  Kernel info;
  std::vector<void *> buffers;
  std::vector<int64_t> bytes;
  std::array<bool, 4> written = {};
};

inline std::vector<int32_t> iota(size_t size) {
  std::vector<int32_t> data(size);
  std::iota(data.begin(), data.end(), 1);
  return data;
}

/// Copies buffer 0 to buffer 1.
inline void copy(void **buffers, int64_t *sizes, void *thread) {
  int64_t i = globalId(sizes, thread);
  store(thread, buffer(buffers, 1) + i, load(thread, buffer(buffers, 0) + i));
}

} // namespace fusion::runtime::test

#endif // FUSION_TEST_UNIT_EMULATORLAUNCH_H

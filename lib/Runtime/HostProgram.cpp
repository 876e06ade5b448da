//===- HostProgram.cpp - plans on the CPU and on the emulator -------------===//
//
// Both link object code and run in host memory; they differ in how one launch
// is carried out. The CPU spreads blocks over the thread pool, the emulator
// runs them one by one and checks every access.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "fusion/Runtime/MemoryPool.h"
#include "fusion/Runtime/ThreadPool.h"
#include <atomic>
#include <cstdlib>
#include <cstring>

using namespace fusion::runtime;

static CodeLoaderFactory codeLoaderFactory = nullptr;
static EmulatedLaunch emulatedLaunch = nullptr;

void fusion::runtime::setCodeLoaderFactory(CodeLoaderFactory factory) {
  codeLoaderFactory = factory;
}
void fusion::runtime::setEmulatedLaunch(EmulatedLaunch launch) {
  emulatedLaunch = launch;
}

namespace {

/// Memory of one call, from the caller's allocator or the pool.
class Workspace {
public:
  Workspace(const Call &call) : call(call) {}
  ~Workspace() {
    if (!data)
      return;
    if (const fusion_allocator *allocator = call.workspace)
      allocator->release(allocator->context, data, call.stream);
    else
      MemoryPool::get().release(data);
  }
  Workspace(const Workspace &) = delete;
  Workspace &operator=(const Workspace &) = delete;

  Status allocate() {
    size_t bytes = call.shape.arena.bytes;
    if (bytes == 0)
      return Status::success();
    if (const fusion_allocator *allocator = call.workspace)
      data = allocator->allocate(allocator->context, bytes, call.stream);
    else
      data = MemoryPool::get().allocate(bytes);
    if (data)
      return Status::success();
    return Status::error("memory",
                         "no memory for " + std::to_string(bytes) +
                             " bytes of temporaries",
                         "use smaller inputs or free memory");
  }
  char *get() const { return static_cast<char *>(data); }

private:
  const Call &call;
  void *data = nullptr;
};

/// Memory that a thread keeps for the kernels that it runs, grown on demand.
class ThreadScratch {
public:
  ~ThreadScratch() { std::free(data); }

  /// At least `bytes`, aligned to a cache line; null where there is no memory.
  static void *get(size_t bytes) {
    thread_local ThreadScratch scratch;
    if (bytes > scratch.size) {
      std::free(scratch.data);
      scratch.size = (bytes + pageBytes - 1) / pageBytes * pageBytes;
      scratch.data = std::aligned_alloc(pageBytes, scratch.size);
      if (!scratch.data)
        scratch.size = 0;
    }
    return scratch.data;
  }

private:
  static constexpr size_t pageBytes = 4096;
  void *data = nullptr;
  size_t size = 0;
};

class HostProgram : public Program {
public:
  explicit HostProgram(const Plan &plan) : plan(plan) {}
  ~HostProgram() override {
    for (void *constant : constants)
      MemoryPool::get().release(constant);
  }

  Status load();
  Status run(const Call &call) override;

protected:
  virtual Status launch(size_t index, const LaunchShape &shape,
                        void **buffers) = 0;

  void *getAddress(size_t index) const {
    return addresses[plan.launches[index].kernel];
  }

  const Plan &plan;

private:
  std::unique_ptr<CodeLoader> loader;
  std::vector<void *> addresses; // of kernels
  std::vector<void *> constants;
};

class CpuProgram : public HostProgram {
public:
  using HostProgram::HostProgram;

protected:
  Status launch(size_t index, const LaunchShape &shape,
                void **buffers) override {
    using Function = void (*)(void **, int64_t *, int64_t, int64_t, void *);
    auto function = reinterpret_cast<Function>(getAddress(index));
    auto *sizes = const_cast<int64_t *>(shape.sizes.data()); // only read
    int64_t bytes = plan.kernels[plan.launches[index].kernel].sharedBytes;
    std::atomic<bool> lacksMemory = false;
    ThreadPool::get().forEachPart(
        shape.grid, shape.work, [&](int64_t first, int64_t end) {
          void *scratch = ThreadScratch::get(bytes);
          if (scratch || bytes == 0)
            function(buffers, sizes, first, end, scratch);
          else
            lacksMemory = true;
        });
    if (!lacksMemory)
      return Status::success();
    return Status::error("memory",
                         "no memory for " + std::to_string(bytes) +
                             " bytes of scratch on each thread",
                         "free memory");
  }
};

class EmulatorProgram : public HostProgram {
public:
  explicit EmulatorProgram(const Plan &plan) : HostProgram(plan) {
    findWrites();
  }

protected:
  Status launch(size_t index, const LaunchShape &shape,
                void **buffers) override {
    const Launch &launch = plan.launches[index];
    auto *sizes = const_cast<int64_t *>(shape.sizes.data()); // only read
    Status status =
        emulatedLaunch(getAddress(index), plan.kernels[launch.kernel], buffers,
                       shape.bytes.data(), written[index].get(),
                       launch.buffers.size(), sizes, shape.grid);
    if (status.failed() && status.location.empty())
      status.location = launch.location;
    return status;
  }

private:
  /// The first launch that names a result or a temporary writes it.
  void findWrites() {
    std::vector<bool> results(plan.results.size());
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const std::vector<BufferRef> &buffers = plan.launches[i].buffers;
      written.emplace_back(new bool[buffers.size()]);
      for (size_t j = 0; j < buffers.size(); ++j) {
        BufferRef ref = buffers[j];
        bool &writes = written.back()[j];
        writes = false;
        if (ref.kind == BufferRef::Kind::Temporary) {
          writes = plan.temporaries[ref.index].firstUse == int32_t(i);
        } else if (ref.kind == BufferRef::Kind::Result) {
          writes = !results[ref.index];
          results[ref.index] = true;
        }
      }
    }
  }

  std::vector<std::unique_ptr<bool[]>> written; // for each launch's buffers
};

} // namespace

Status HostProgram::load() {
  loader = codeLoaderFactory ? codeLoaderFactory(plan.target) : nullptr;
  bool emulated = plan.target == TargetKind::Emulator;
  if (!loader || (emulated && !emulatedLaunch))
    return Status::error("unsupported",
                         std::string("this build cannot run code for the ") +
                             (emulated ? "emulator" : "CPU"),
                         "use a build with this target");
  for (const Kernel &kernel : plan.kernels) {
    void *address = nullptr;
    if (Status status = loader->load(kernel, address); status.failed())
      return status;
    addresses.push_back(address);
  }
  for (const Constant &constant : plan.constants) {
    void *data = MemoryPool::get().allocate(constant.data.size());
    if (!data)
      return Status::error("memory", "no memory for the constants",
                           "free memory");
    constants.push_back(data);
    std::memcpy(data, constant.data.data(), constant.data.size());
  }
  return Status::success();
}

Status HostProgram::run(const Call &call) {
  Workspace workspace(call);
  if (Status status = workspace.allocate(); status.failed())
    return status;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const LaunchShape &shape = call.shape.launches[i];
    if (shape.grid <= 0)
      continue;
    BufferList buffers(plan.launches[i], call, constants.data(),
                       workspace.get());
    if (Status status = launch(i, shape, buffers.data()); status.failed())
      return status;
  }
  return Status::success();
}

Status fusion::runtime::createHostProgram(const Plan &plan,
                                          std::unique_ptr<Program> &program) {
  std::unique_ptr<HostProgram> host;
  if (plan.target == TargetKind::Emulator)
    host = std::make_unique<EmulatorProgram>(plan);
  else
    host = std::make_unique<CpuProgram>(plan);
  Status status = host->load();
  if (!status.failed())
    program = std::move(host);
  return status;
}

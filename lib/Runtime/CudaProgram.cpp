//===- CudaProgram.cpp - plans on a GPU through the driver ----------------===//
//
// Kernels and constants are loaded into each context at the first run there. A
// run itself only enqueues: no synchronisation and, but for the stream-ordered
// workspace, no allocation, so it may be captured into a CUDA graph.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "fusion/Runtime/Driver.h"
#include "fusion/Runtime/Hash.h"
#include "fusion/Runtime/KernelCache.h"
#include "fusion/Runtime/Linker.h"
#include "fusion/Runtime/ThreadPool.h"
#include <mutex>

using namespace fusion::runtime;
using namespace fusion::runtime::cuda;

static void *toPointer(CUdeviceptr address) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}
static CUdeviceptr toAddress(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

namespace {

/// A plan's kernels and constants in one context.
struct LoadedModules {
  CUcontext context = nullptr;
  std::vector<CUmodule> modules;
  std::vector<CUfunction> functions;
  std::vector<void *> constants;
};

/// Lets a thread load and copy while a stream captures elsewhere.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver) : driver(driver) {
    driver.exchangeCaptureMode(&mode);
  }
  ~RelaxedCapture() { driver.exchangeCaptureMode(&mode); }

private:
  const Driver &driver;
  int mode = 2; // CU_STREAM_CAPTURE_MODE_RELAXED, then what it was before
};

class CudaProgram : public Program {
public:
  CudaProgram(const Plan &plan, CacheOptions cache)
      : plan(plan), cache(std::move(cache)) {}
  ~CudaProgram() override;
  Status run(const Call &call) override;

private:
  Status getModules(const Driver &driver, const ContextScope &scope,
                    const LoadedModules *&result);
  Status load(const Driver &driver, CUdevice device, LoadedModules &loaded);
  Status checkArch(const std::string &deviceArch) const;
  std::string getCubin(const std::string &ptx, const std::string &arch) const;
  Status loadKernel(const Driver &driver, const Kernel &kernel,
                    const std::string &cubin, LoadedModules &loaded);
  Status loadConstants(const Driver &driver, LoadedModules &loaded);
  Status launch(const Driver &driver, const LoadedModules &loaded, size_t index,
                const Call &call, char *arena);
  void unload(const Driver &driver, LoadedModules &loaded);

  const Plan &plan;
  const CacheOptions cache;
  std::mutex mutex;
  std::vector<std::unique_ptr<LoadedModules>> loaded; // one a context
};

} // namespace

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The number in "sm_90a".
static int getArchNumber(const std::string &arch) {
  return arch.size() > 3 ? std::atoi(arch.c_str() + 3) : 0;
}

/// The letter at its end, or 0.
static char getArchSuffix(const std::string &arch) {
  bool has = !arch.empty() && (arch.back() == 'a' || arch.back() == 'f');
  return has ? arch.back() : 0;
}

/// Code with the suffix "a" runs on its architecture alone, with "f" on its
/// family, other code on all newer ones.
Status CudaProgram::checkArch(const std::string &deviceArch) const {
  int wanted = getArchNumber(plan.arch), given = getArchNumber(deviceArch);
  char suffix = getArchSuffix(plan.arch);
  bool runs = given >= wanted;
  if (suffix == 'a')
    runs = given == wanted;
  else if (suffix == 'f')
    runs = given >= wanted && given / 10 == wanted / 10;
  if (runs)
    return Status::success();
  return Status::error("device",
                       "the executable was compiled for " + plan.arch +
                           ", and the device is " + deviceArch,
                       "recompile for \"cuda\" or \"" + deviceArch + "\"");
}

/// Machine code from the disk cache or by nvJitLink; empty leaves the PTX to
/// the driver.
std::string CudaProgram::getCubin(const std::string &ptx,
                                  const std::string &arch) const {
  std::string version = getLinkerVersion(), cubin, log;
  if (version.empty())
    return "";
  std::string key = hash("cubin\n" + version + "\n" + arch + "\n" + ptx).str();
  KernelCache disk(cache.folder);
  if (cache.use && disk.load(key, cubin))
    return cubin;
  if (!linkToCubin(ptx, arch, cubin, log))
    return "";
  if (cache.use)
    disk.store(key, cubin, log); // unwritten, it is only linked again
  return cubin;
}

Status CudaProgram::load(const Driver &driver, CUdevice device,
                         LoadedModules &loaded) {
  std::string deviceArch;
  Status status = driver.getArch(device, deviceArch);
  if (!status.failed())
    status = checkArch(deviceArch);
  if (status.failed())
    return status;
  // PTX with a suffix is compiled for just what it names.
  bool specific = getArchSuffix(plan.arch) != 0;
  std::string arch = specific ? plan.arch : deviceArch;
  std::vector<std::string> cubins(plan.kernels.size());
  ThreadPool::get().forEachPart(
      cubins.size(), /*work=*/INT64_MAX, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          cubins[i] = getCubin(plan.kernels[i].code, arch);
      });
  RelaxedCapture relaxed(driver);
  for (size_t i = 0; i < cubins.size() && !status.failed(); ++i)
    status = loadKernel(driver, plan.kernels[i], cubins[i], loaded);
  if (!status.failed())
    status = loadConstants(driver, loaded);
  return status;
}

Status CudaProgram::loadKernel(const Driver &driver, const Kernel &kernel,
                               const std::string &cubin,
                               LoadedModules &loaded) {
  CUmodule module = nullptr;
  // A driver older than nvJitLink may refuse its code and yet take the PTX.
  if (cubin.empty() || driver.moduleLoadDataEx(&module, cubin.data(), 0,
                                               nullptr, nullptr) != success) {
    constexpr int errorLog = 5, errorLogSize = 6;
    char log[8192] = "";
    int options[] = {errorLog, errorLogSize};
    void *values[] = {log, toPointer(sizeof(log))};
    CUresult result = driver.moduleLoadDataEx(&module, kernel.code.c_str(), 2,
                                              options, values);
    Status status = driver.check(result, "cuModuleLoadDataEx");
    if (status.failed()) {
      status.message = "kernel '" + kernel.name + "': " + status.message;
      if (log[0])
        status.message += std::string(": ") + log;
      return status;
    }
  }
  loaded.modules.push_back(module);
  CUfunction function = nullptr;
  Status status = driver.check(
      driver.moduleGetFunction(&function, module, kernel.name.c_str()),
      "cuModuleGetFunction");
  loaded.functions.push_back(function);
  // A block gets more than 48 KiB only where the function asks for it.
  constexpr int64_t plainLimit = 48 << 10;
  constexpr int maxDynamicSharedSize = 8;
  if (!status.failed() && kernel.sharedBytes > plainLimit)
    status = driver.check(
        driver.funcSetAttribute(function, maxDynamicSharedSize,
                                static_cast<int>(kernel.sharedBytes)),
        "cuFuncSetAttribute");
  return status;
}

/// Copies on a stream of its own: the default stream may be waiting for one
/// that is being captured.
Status CudaProgram::loadConstants(const Driver &driver, LoadedModules &loaded) {
  if (plan.constants.empty())
    return Status::success();
  constexpr unsigned nonBlocking = 1;
  CUstream stream = nullptr;
  Status status =
      driver.check(driver.streamCreate(&stream, nonBlocking), "cuStreamCreate");
  for (const Constant &constant : plan.constants) {
    if (status.failed())
      break;
    CUdeviceptr address = 0;
    size_t bytes = constant.data.size();
    status = driver.check(driver.memAlloc(&address, bytes ? bytes : 1),
                          "cuMemAlloc");
    if (status.failed())
      break;
    loaded.constants.push_back(toPointer(address));
    if (bytes)
      status = driver.check(
          driver.memcpyHtoDAsync(address, constant.data.data(), bytes, stream),
          "cuMemcpyHtoDAsync");
  }
  if (!stream)
    return status;
  CUresult result = driver.streamSynchronize(stream);
  driver.streamDestroy(stream);
  return status.failed() ? status : driver.check(result, "cuStreamSynchronize");
}

Status CudaProgram::getModules(const Driver &driver, const ContextScope &scope,
                               const LoadedModules *&result) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const std::unique_ptr<LoadedModules> &modules : loaded)
    if (modules->context == scope.context) {
      result = modules.get();
      return Status::success();
    }
  auto modules = std::make_unique<LoadedModules>();
  modules->context = scope.context;
  Status status = load(driver, scope.device, *modules);
  if (status.failed()) {
    unload(driver, *modules);
    return status;
  }
  result = modules.get();
  loaded.push_back(std::move(modules));
  return status;
}

/// Frees constants first: that waits for all work of the context, so no kernel
/// of a module still runs when it is unloaded. Errors mean that the process is
/// ending and the driver has gone before us.
void CudaProgram::unload(const Driver &driver, LoadedModules &modules) {
  for (void *constant : modules.constants)
    driver.memFree(toAddress(constant));
  for (CUmodule module : modules.modules)
    driver.moduleUnload(module);
}

CudaProgram::~CudaProgram() {
  if (loaded.empty())
    return;
  Status status;
  const Driver *driver = Driver::get(status);
  for (std::unique_ptr<LoadedModules> &modules : loaded) {
    ContextScope scope(*driver);
    if (scope.enter(modules->context).failed())
      continue;
    RelaxedCapture relaxed(*driver);
    unload(*driver, *modules);
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The device that holds the call's first tensor, or -1 when all are empty.
static Status findDevice(const Driver &driver, const Plan &plan,
                         const Call &call, CUdevice &device) {
  device = -1;
  auto look = [&](const fusion_tensor &tensor, const char *what, size_t index) {
    if (!tensor.data || getExtent(tensor) == 0)
      return Status::success();
    constexpr int deviceOrdinal = 9;
    if (driver.pointerGetAttribute(&device, deviceOrdinal,
                                   toAddress(tensor.data)) == success)
      return Status::success();
    return Status::error("argument",
                         std::string(what) + " " + std::to_string(index) +
                             " of @main is not in memory of a GPU",
                         "move it to the GPU, or compile for the CPU");
  };
  Status status;
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    if (status = look(call.arguments[i], "argument", i);
        status.failed() || device >= 0)
      return status;
  for (size_t i = 0; i < plan.results.size(); ++i)
    if (status = look(call.results[i], "result", i);
        status.failed() || device >= 0)
      return status;
  return status;
}

namespace {
/// The stream-ordered workspace of one call.
class DeviceWorkspace {
public:
  DeviceWorkspace(const Driver &driver, const Call &call)
      : driver(driver), call(call) {}
  ~DeviceWorkspace() {
    if (!data)
      return;
    if (const fusion_allocator *allocator = call.workspace)
      allocator->release(allocator->context, data, call.stream);
    else
      driver.memFreeAsync(toAddress(data), static_cast<CUstream>(call.stream));
  }
  DeviceWorkspace(const DeviceWorkspace &) = delete;
  DeviceWorkspace &operator=(const DeviceWorkspace &) = delete;

  Status allocate(CUdevice device) {
    size_t bytes = call.shape.arena.bytes;
    if (bytes == 0)
      return Status::success();
    if (const fusion_allocator *allocator = call.workspace) {
      data = allocator->allocate(allocator->context, bytes, call.stream);
      if (data)
        return Status::success();
      return Status::error("memory",
                           "the allocator has no memory for " +
                               std::to_string(bytes) + " bytes of temporaries",
                           "use smaller inputs or free memory of the GPU");
    }
    CUmemoryPool pool = nullptr;
    CUdeviceptr address = 0;
    Status status = driver.getMemoryPool(device, pool);
    if (!status.failed())
      status = driver.check(
          driver.memAllocFromPoolAsync(&address, bytes, pool,
                                       static_cast<CUstream>(call.stream)),
          "cuMemAllocFromPoolAsync");
    data = toPointer(address);
    return status;
  }
  char *get() const { return static_cast<char *>(data); }

private:
  const Driver &driver;
  const Call &call;
  void *data = nullptr;
};
} // namespace

Status CudaProgram::run(const Call &call) {
  Status status;
  const Driver *driver = Driver::get(status);
  if (!driver)
    return status;
  CUdevice device = -1;
  status = findDevice(*driver, plan, call, device);
  ContextScope scope(*driver);
  if (!status.failed())
    status = scope.enter(device);
  const LoadedModules *modules = nullptr;
  if (!status.failed())
    status = getModules(*driver, scope, modules);
  if (status.failed())
    return status;
  DeviceWorkspace workspace(*driver, call);
  status = workspace.allocate(scope.device);
  for (size_t i = 0; i < plan.launches.size() && !status.failed(); ++i)
    status = launch(*driver, *modules, i, call, workspace.get());
  return status;
}

Status CudaProgram::launch(const Driver &driver, const LoadedModules &modules,
                           size_t index, const Call &call, char *arena) {
  const Launch &launch = plan.launches[index];
  const LaunchShape &shape = call.shape.launches[index];
  const Kernel &kernel = plan.kernels[launch.kernel];
  if (shape.grid <= 0)
    return Status::success();
  if (shape.grid > INT32_MAX)
    return Status::error("unsupported",
                         "kernel '" + kernel.name + "' needs " +
                             std::to_string(shape.grid) +
                             " blocks, a GPU runs at most 2147483647",
                         "use smaller inputs", launch.location);
  BufferList buffers(launch, call, modules.constants.data(), arena);
  // The driver copies the values that these point to: buffers, then sizes, of
  // which a 32-bit kernel reads the low half.
  size_t numBuffers = launch.buffers.size(), numSizes = shape.sizes.size();
  constexpr size_t inPlace = 64;
  void *small[inPlace];
  std::vector<void *> large(
      numBuffers + numSizes > inPlace ? numBuffers + numSizes : 0);
  void **parameters = large.empty() ? small : large.data();
  for (size_t i = 0; i < numBuffers; ++i)
    parameters[i] = buffers.data() + i;
  for (size_t i = 0; i < numSizes; ++i)
    parameters[numBuffers + i] = const_cast<int64_t *>(&shape.sizes[i]);
  CUresult result = driver.launchKernel(
      modules.functions[launch.kernel], static_cast<unsigned>(shape.grid), 1, 1,
      static_cast<unsigned>(kernel.threads), 1, 1,
      static_cast<unsigned>(kernel.sharedBytes),
      static_cast<CUstream>(call.stream), parameters, nullptr);
  Status status = driver.check(result, "cuLaunchKernel");
  if (status.failed()) {
    status.message = "kernel '" + kernel.name + "': " + status.message;
    status.location = launch.location;
  }
  return status;
}

std::unique_ptr<Program>
fusion::runtime::createCudaProgram(const Plan &plan, CacheOptions cache) {
  return std::make_unique<CudaProgram>(plan, std::move(cache));
}

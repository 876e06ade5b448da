//===- Driver.cpp - the CUDA driver, opened at run time -------------------===//

#include "fusion/Runtime/Driver.h"
#include <array>
#include <dlfcn.h>
#include <mutex>

using namespace fusion::runtime;
using namespace fusion::runtime::cuda;

namespace {
constexpr int computeCapabilityMajor = 75, computeCapabilityMinor = 76;
constexpr int memoryPoolsSupported = 115;
constexpr int releaseThreshold = 4;
constexpr int allocationPinned = 1, locationDevice = 1;
constexpr int maximumDevices = 64;
/// What a pool keeps: more than any workspace that is used again and again.
constexpr uint64_t keptBytes = uint64_t(2) << 30;
} // namespace

static Status deviceError(std::string message, std::string remedy) {
  return Status::error("device", std::move(message), std::move(remedy));
}

const Driver *Driver::get(Status &status) {
  static Status failure;
  static const Driver *driver = [] {
    auto *opened = new Driver;
    failure = opened->open();
    return failure.failed() ? nullptr : opened;
  }();
  status = failure;
  return driver;
}

Status Driver::open() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return deviceError("no CUDA driver: libcuda.so.1 cannot be opened",
                       "install the NVIDIA driver, or compile for the CPU");
  std::string missing;
#define X(name, symbol, parameters)                                            \
  name = reinterpret_cast<decltype(name)>(dlsym(library, symbol));             \
  if (!name && missing.empty())                                                \
    missing = symbol;
  FUSION_DRIVER_FUNCTIONS(X)
#undef X
  if (!missing.empty())
    return deviceError("the CUDA driver is too old: it has no " + missing,
                       "install a driver for CUDA 12 or newer");
  if (Status status = check(init(0), "cuInit"); status.failed()) {
    status.remedy = "check that nvidia-smi lists a GPU, or compile for the CPU";
    return status;
  }
  int count = 0;
  Status status = check(deviceGetCount(&count), "cuDeviceGetCount");
  if (!status.failed() && count == 0)
    return deviceError("the CUDA driver finds no GPU",
                       "check CUDA_VISIBLE_DEVICES, or compile for the CPU");
  return status;
}

Status Driver::check(CUresult result, const char *call) const {
  if (result == success)
    return Status::success();
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  constexpr CUresult outOfMemory = 2;
  return Status::error(
      result == outOfMemory ? "memory" : "device",
      std::string(call) + " failed: " + (name ? name : std::to_string(result)) +
          (text ? std::string(" (") + text + ")" : ""),
      result == outOfMemory ? "free memory of the GPU" : "");
}

std::string Driver::getVersion() const {
  int version = 0;
  driverGetVersion(&version);
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Status Driver::getArch(CUdevice device, std::string &arch) const {
  int major = 0, minor = 0;
  Status status =
      check(deviceGetAttribute(&major, computeCapabilityMajor, device),
            "cuDeviceGetAttribute");
  if (!status.failed())
    status = check(deviceGetAttribute(&minor, computeCapabilityMinor, device),
                   "cuDeviceGetAttribute");
  arch = "sm_" + std::to_string(major * 10 + minor) + (major >= 9 ? "a" : "");
  return status;
}

Status Driver::getCurrentArch(std::string &arch) const {
  CUcontext context = nullptr;
  CUdevice device = 0;
  if (ctxGetCurrent(&context) == success && context)
    ctxGetDevice(&device);
  return getArch(device, arch);
}

Status Driver::getDevices(std::vector<DeviceInfo> &devices) const {
  int count = 0;
  Status status = check(deviceGetCount(&count), "cuDeviceGetCount");
  for (CUdevice device = 0; device < count && !status.failed(); ++device) {
    DeviceInfo info;
    char name[256] = "";
    size_t bytes = 0;
    deviceGetName(name, sizeof(name), device);
    deviceTotalMem(&bytes, device);
    info.name = name;
    info.memoryBytes = bytes;
    status = getArch(device, info.arch);
    devices.push_back(std::move(info));
  }
  return status;
}

/// A mutex that guards the tables below, which hold one entry a device.
static std::mutex tableMutex;

Status Driver::getPrimaryContext(CUdevice device, CUcontext &context) const {
  static std::array<CUcontext, maximumDevices> contexts = {};
  if (device < 0 || device >= maximumDevices)
    return deviceError("no CUDA device " + std::to_string(device), "");
  std::lock_guard<std::mutex> lock(tableMutex);
  Status status;
  if (!contexts[device])
    status = check(primaryCtxRetain(&contexts[device], device),
                   "cuDevicePrimaryCtxRetain");
  context = contexts[device];
  return status;
}

Status Driver::getMemoryPool(CUdevice device, CUmemoryPool &pool) const {
  static std::array<CUmemoryPool, maximumDevices> pools = {};
  if (device < 0 || device >= maximumDevices)
    return deviceError("no CUDA device " + std::to_string(device), "");
  std::lock_guard<std::mutex> lock(tableMutex);
  pool = pools[device];
  if (pool)
    return Status::success();
  int supported = 0;
  deviceGetAttribute(&supported, memoryPoolsSupported, device);
  if (!supported)
    return deviceError("the device has no stream-ordered memory",
                       "pass an allocator for the workspace");
  CUmemPoolProps properties = {};
  properties.allocType = allocationPinned;
  properties.locationType = locationDevice;
  properties.locationId = device;
  Status status = check(memPoolCreate(&pool, &properties), "cuMemPoolCreate");
  if (status.failed())
    return status;
  uint64_t threshold = keptBytes;
  memPoolSetAttribute(pool, releaseThreshold, &threshold);
  pools[device] = pool;
  return status;
}

Status ContextScope::enter(CUdevice wanted) {
  if (driver.ctxGetCurrent(&context) == success && context &&
      driver.ctxGetDevice(&device) == success &&
      (wanted < 0 || wanted == device))
    return Status::success();
  device = wanted < 0 ? 0 : wanted;
  CUcontext primary = nullptr;
  if (Status status = driver.getPrimaryContext(device, primary);
      status.failed())
    return status;
  return enter(primary);
}

Status ContextScope::enter(CUcontext wanted) {
  Status status =
      driver.check(driver.ctxPushCurrent(wanted), "cuCtxPushCurrent");
  pushed = !status.failed();
  context = wanted;
  if (pushed)
    status = driver.check(driver.ctxGetDevice(&device), "cuCtxGetDevice");
  return status;
}

Status Driver::allocate(CUdevice device, size_t bytes, CUstream stream,
                        void *&data) const {
  ContextScope scope(*this);
  CUmemoryPool pool = nullptr;
  CUdeviceptr address = 0;
  Status status = scope.enter(device);
  if (!status.failed())
    status = getMemoryPool(device, pool);
  if (!status.failed())
    status =
        check(memAllocFromPoolAsync(&address, bytes ? bytes : 1, pool, stream),
              "cuMemAllocFromPoolAsync");
  data = reinterpret_cast<void *>(static_cast<uintptr_t>(address));
  return status;
}

void Driver::release(CUdevice device, void *data) const {
  ContextScope scope(*this);
  if (data && !scope.enter(device).failed())
    memFree(reinterpret_cast<uintptr_t>(data));
}

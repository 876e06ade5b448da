//===- Driver.h - the CUDA driver, opened at run time ---------------------===//
//
// Only what the driver's library exports: no CUDA header at build time, no CUDA
// library to link. A machine without a driver gets a sentence that says so.
// Names and types are those of the driver API.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_DRIVER_H
#define FUSION_RUNTIME_DRIVER_H

#include "fusion/Runtime/Executable.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fusion::runtime {

namespace cuda {
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUmemoryPool = struct CUmemPoolHandle_st *;

/// CUmemPoolProps, version 1.
struct CUmemPoolProps {
  int allocType, handleTypes;
  int locationType, locationId;
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

constexpr CUresult success = 0;
} // namespace cuda

/// The driver's functions that the runtime calls: X(name, symbol, parameters).
#define FUSION_DRIVER_FUNCTIONS(X)                                             \
  X(init, "cuInit", (unsigned))                                                \
  X(driverGetVersion, "cuDriverGetVersion", (int *))                           \
  X(getErrorName, "cuGetErrorName", (CUresult, const char **))                 \
  X(getErrorString, "cuGetErrorString", (CUresult, const char **))             \
  X(deviceGetCount, "cuDeviceGetCount", (int *))                               \
  X(deviceGet, "cuDeviceGet", (CUdevice *, int))                               \
  X(deviceGetName, "cuDeviceGetName", (char *, int, CUdevice))                 \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice))        \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, CUdevice))               \
  X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))     \
  X(ctxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                           \
  X(ctxGetDevice, "cuCtxGetDevice", (CUdevice *))                              \
  X(ctxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                        \
  X(ctxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                        \
  X(moduleLoadDataEx, "cuModuleLoadDataEx",                                    \
    (CUmodule *, const void *, unsigned, int *, void **))                      \
  X(moduleUnload, "cuModuleUnload", (CUmodule))                                \
  X(moduleGetFunction, "cuModuleGetFunction",                                  \
    (CUfunction *, CUmodule, const char *))                                    \
  X(funcSetAttribute, "cuFuncSetAttribute", (CUfunction, int, int))            \
  X(launchKernel, "cuLaunchKernel",                                            \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
     unsigned, CUstream, void **, void **))                                    \
  X(memAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                        \
  X(memFree, "cuMemFree_v2", (CUdeviceptr))                                    \
  X(memAllocFromPoolAsync, "cuMemAllocFromPoolAsync",                          \
    (CUdeviceptr *, size_t, CUmemoryPool, CUstream))                           \
  X(memFreeAsync, "cuMemFreeAsync", (CUdeviceptr, CUstream))                   \
  X(memPoolCreate, "cuMemPoolCreate",                                          \
    (CUmemoryPool *, const CUmemPoolProps *))                                  \
  X(memPoolSetAttribute, "cuMemPoolSetAttribute", (CUmemoryPool, int, void *)) \
  X(memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                   \
    (CUdeviceptr, const void *, size_t, CUstream))                             \
  X(pointerGetAttribute, "cuPointerGetAttribute", (void *, int, CUdeviceptr))  \
  X(streamCreate, "cuStreamCreate", (CUstream *, unsigned))                    \
  X(streamDestroy, "cuStreamDestroy_v2", (CUstream))                           \
  X(streamSynchronize, "cuStreamSynchronize", (CUstream))                      \
  X(exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *))

struct DeviceInfo {
  std::string name;
  std::string arch; // "sm_90a": the most that the device takes
  int64_t memoryBytes = 0;
};

class Driver {
public:
  /// The driver of this process, initialised, or null and the reason.
  static const Driver *get(Status &status);

  /// Success, or what `call` ran into.
  Status check(cuda::CUresult result, const char *call) const;

  std::string getVersion() const; // "13.0"
  Status getDevices(std::vector<DeviceInfo> &devices) const;
  /// Of the current context's device, or of device 0.
  Status getCurrentArch(std::string &arch) const;
  Status getArch(cuda::CUdevice device, std::string &arch) const;
  /// The primary context of a device, retained once for the process.
  Status getPrimaryContext(cuda::CUdevice device,
                           cuda::CUcontext &context) const;
  /// This process's pool on a device: it keeps memory from call to call, where
  /// the device's default pool gives it back at each synchronisation.
  Status getMemoryPool(cuda::CUdevice device, cuda::CUmemoryPool &pool) const;

  /// Memory for results, from the pool. The device's primary context is used.
  Status allocate(cuda::CUdevice device, size_t bytes, cuda::CUstream stream,
                  void *&data) const;
  /// Waits for the device's work, then frees.
  void release(cuda::CUdevice device, void *data) const;

#define X(name, symbol, parameters) cuda::CUresult(*name) parameters = nullptr;
  using CUresult = cuda::CUresult;
  using CUdevice = cuda::CUdevice;
  using CUdeviceptr = cuda::CUdeviceptr;
  using CUcontext = cuda::CUcontext;
  using CUmodule = cuda::CUmodule;
  using CUfunction = cuda::CUfunction;
  using CUstream = cuda::CUstream;
  using CUmemoryPool = cuda::CUmemoryPool;
  using CUmemPoolProps = cuda::CUmemPoolProps;
  FUSION_DRIVER_FUNCTIONS(X)
#undef X

private:
  Status open();
};

/// Makes a context current for a scope.
class ContextScope {
public:
  explicit ContextScope(const Driver &driver) : driver(driver) {}
  ~ContextScope() {
    if (pushed)
      driver.ctxPopCurrent(&context);
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  /// Enters the current context if it belongs to `device` (or `device` is -1
  /// and there is one), else the device's primary context (-1: device 0's).
  Status enter(cuda::CUdevice device = -1);
  /// Enters this context.
  Status enter(cuda::CUcontext wanted);

  cuda::CUcontext context = nullptr;
  cuda::CUdevice device = 0;

private:
  const Driver &driver;
  bool pushed = false;
};

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_DRIVER_H

//===- Device.cpp - memory of a GPU, by the driver ------------------------===//

#include "Device.h"
#include "llvm/Support/DynamicLibrary.h"

using namespace fusion::tools;
using namespace llvm;

using DevicePointer = unsigned long long;

// X(member, exported name, parameters): the functions that are called.
#define FUSION_DEVICE_FUNCTIONS(X)                                             \
  X(init, "cuInit", (unsigned))                                                \
  X(getDevice, "cuDeviceGet", (int *, int))                                    \
  X(retainContext, "cuDevicePrimaryCtxRetain", (void **, int))                 \
  X(setContext, "cuCtxSetCurrent", (void *))                                   \
  X(synchronize, "cuCtxSynchronize", ())                                       \
  X(allocate, "cuMemAlloc_v2", (DevicePointer *, size_t))                      \
  X(release, "cuMemFree_v2", (DevicePointer))                                  \
  X(copyToDevice, "cuMemcpyHtoD_v2", (DevicePointer, const void *, size_t))    \
  X(copyToHost, "cuMemcpyDtoH_v2", (void *, DevicePointer, size_t))            \
  X(getErrorString, "cuGetErrorString", (int, const char **))

struct Device::Driver {
#define X(member, name, parameters) int(*member) parameters = nullptr;
  FUSION_DEVICE_FUNCTIONS(X)
#undef X

  Error load() {
    std::string reason;
    auto library =
        sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1", &reason);
    if (!library.isValid())
      return createStringError("device: no NVIDIA driver (" + reason +
                               "); use --target cpu or emulator");
#define X(member, name, parameters)                                            \
  member =                                                                     \
      reinterpret_cast<decltype(member)>(library.getAddressOfSymbol(name));    \
  if (!member)                                                                 \
    return createStringError(                                                  \
        "device: the NVIDIA driver is too old, it lacks " name                 \
        "; install a newer one");
    FUSION_DEVICE_FUNCTIONS(X)
#undef X
    return Error::success();
  }

  Error check(int result, const char *action) {
    if (result == 0)
      return Error::success();
    const char *text = nullptr;
    getErrorString(result, &text);
    return createStringError("device: cannot %s: %s (CUDA error %d)", action,
                             text ? text : "unknown", result);
  }
};

Device::Device(std::unique_ptr<Driver> driver) : driver(std::move(driver)) {}

Device::~Device() {
  for (DevicePointer pointer : memory)
    driver->release(pointer);
}

Expected<std::unique_ptr<Device>> Device::open() {
  auto driver = std::make_unique<Driver>();
  if (Error error = driver->load())
    return std::move(error);
  int device = 0;
  void *context = nullptr;
  if (Error error = driver->check(driver->init(0), "start the driver"))
    return std::move(error);
  if (Error error = driver->check(driver->getDevice(&device, 0), "find a GPU"))
    return std::move(error);
  if (Error error = driver->check(driver->retainContext(&context, device),
                                  "make a context"))
    return std::move(error);
  if (Error error = driver->check(driver->setContext(context), "use a context"))
    return std::move(error);
  return std::unique_ptr<Device>(new Device(std::move(driver)));
}

Expected<fusion_tensor> Device::copyToDevice(const HostTensor &tensor) {
  DevicePointer pointer = 0;
  size_t bytes = tensor.getNumBytes();
  if (Error error =
          driver->check(driver->allocate(&pointer, std::max<size_t>(bytes, 1)),
                        "allocate memory"))
    return std::move(error);
  memory.push_back(pointer);
  if (bytes)
    if (Error error = driver->check(
            driver->copyToDevice(pointer, tensor.getData(), bytes),
            "copy to the GPU"))
      return std::move(error);
  fusion_tensor copy = tensor.view();
  copy.data = reinterpret_cast<void *>(pointer);
  return copy;
}

Error Device::copyToHost(const fusion_tensor &copy, HostTensor &tensor) {
  size_t bytes = tensor.getNumBytes();
  if (!bytes)
    return Error::success();
  auto pointer = reinterpret_cast<DevicePointer>(copy.data);
  return driver->check(driver->copyToHost(tensor.getData(), pointer, bytes),
                       "copy from the GPU");
}

Error Device::synchronize() {
  return driver->check(driver->synchronize(), "run on the GPU");
}

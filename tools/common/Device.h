//===- Device.h - memory of a GPU, by the driver --------------------------===//
//
// What fusion-run needs to place data on a GPU. The driver's library is opened
// at run time, so the tool starts where there is none.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_COMMON_DEVICE_H
#define FUSION_TOOLS_COMMON_DEVICE_H

#include "HostTensor.h"
#include "llvm/Support/Error.h"

namespace fusion::tools {

/// The first GPU, whose primary context becomes current on this thread.
class Device {
public:
  static llvm::Expected<std::unique_ptr<Device>> open();
  ~Device();

  /// A copy of `tensor` in the GPU's memory, freed with the device.
  llvm::Expected<fusion_tensor> copyToDevice(const HostTensor &tensor);
  /// Fills `tensor` from a copy that copyToDevice made of it.
  llvm::Error copyToHost(const fusion_tensor &copy, HostTensor &tensor);
  /// Waits for all work on the GPU.
  llvm::Error synchronize();

private:
  struct Driver;
  explicit Device(std::unique_ptr<Driver> driver);
  std::unique_ptr<Driver> driver;
  llvm::SmallVector<unsigned long long> memory;
};

} // namespace fusion::tools

#endif // FUSION_TOOLS_COMMON_DEVICE_H

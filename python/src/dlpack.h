//===- dlpack.h - the DLPack exchange structures --------------------------===//
//
// As the DLPack specification 1.0 lays them out in memory; nothing more is
// needed of it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PYTHON_DLPACK_H
#define FUSION_PYTHON_DLPACK_H

#include <cstdint>

namespace dlpack {

enum DeviceType : int32_t { deviceCpu = 1, deviceCuda = 2, deviceCudaHost = 3 };

enum TypeCode : uint8_t {
  codeInt = 0,
  codeUInt = 1,
  codeFloat = 2,
  codeBfloat = 4,
  codeBool = 6
};

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t *sizes;
  int64_t *strides; // in elements; null is row-major
  uint64_t byteOffset;
};

struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};

struct ManagedTensorVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(ManagedTensorVersioned *);
  uint64_t flags;
  Tensor tensor;
};
constexpr uint64_t flagReadOnly = 1;

} // namespace dlpack

#endif // FUSION_PYTHON_DLPACK_H

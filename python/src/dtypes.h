//===- dtypes.h - element types by number, name and code ------------------===//

#ifndef FUSION_PYTHON_DTYPES_H
#define FUSION_PYTHON_DTYPES_H

#include "dlpack.h"
#include "fusion-c/fusion.h"
#include <cstring>
#include <string>

/// An element type in the words of each interface.
struct TypeInfo {
  const char *name; // numpy's and torch's
  int64_t bytes;
  dlpack::TypeCode code;
};

/// Numbered as fusion_dtype.
inline constexpr TypeInfo typeInfos[] = {
    {"float64", 8, dlpack::codeFloat}, {"float32", 4, dlpack::codeFloat},
    {"float16", 2, dlpack::codeFloat}, {"bfloat16", 2, dlpack::codeBfloat},
    {"int8", 1, dlpack::codeInt},      {"int16", 2, dlpack::codeInt},
    {"int32", 4, dlpack::codeInt},     {"int64", 8, dlpack::codeInt},
    {"uint8", 1, dlpack::codeUInt},    {"bool", 1, dlpack::codeBool}};
inline constexpr int numTypes = FUSION_BOOL + 1;

/// The number of a type by name, or -1.
inline int findType(const std::string &name) {
  for (int i = 0; i < numTypes; ++i)
    if (name == typeInfos[i].name)
      return i;
  return -1;
}

inline int findType(dlpack::DataType type) {
  for (int i = 0; i < numTypes; ++i)
    if (type.lanes == 1 && type.code == typeInfos[i].code &&
        type.bits == 8 * typeInfos[i].bytes)
      return i;
  return -1;
}

/// Bytes from the first to past the last element, for strides that are not
/// negative.
inline size_t getByteExtent(const fusion_tensor &tensor) {
  int64_t last = 0;
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    if (tensor.sizes[dim] == 0)
      return 0;
    last += (tensor.sizes[dim] - 1) * tensor.strides[dim];
  }
  return (last + 1) * typeInfos[tensor.dtype].bytes;
}

#endif // FUSION_PYTHON_DTYPES_H

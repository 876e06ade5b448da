//===- HostTensor.h - tensors of the command-line tools -------------------===//
//
// A tensor in host memory as the C ABI passes it: how the tools make random
// arguments, poison results before a run, print and compare them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_COMMON_HOSTTENSOR_H
#define FUSION_TOOLS_COMMON_HOSTTENSOR_H

#include "fusion-c/fusion.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace fusion::tools {

/// "f32" for FUSION_F32 and so on, the other way round, bytes of an element.
llvm::StringRef getName(fusion_dtype dtype);
std::optional<fusion_dtype> parseDType(llvm::StringRef name);
int64_t getByteSize(fusion_dtype dtype);
inline bool isFloat(fusion_dtype dtype) { return dtype <= FUSION_BF16; }

class HostTensor {
public:
  HostTensor() = default;
  /// Dense, with the dimensions from outermost to innermost in `order`; an
  /// empty order is row-major.
  HostTensor(fusion_dtype dtype, llvm::ArrayRef<int64_t> sizes,
             llvm::ArrayRef<int64_t> order = {});
  /// Room for what `form` describes; its data is ignored.
  static HostTensor like(const fusion_tensor &form);
  /// Takes memory that came from fusion_cpu_allocate.
  static HostTensor adopt(const fusion_tensor &tensor);

  /// What the C ABI takes; refers to this tensor's memory.
  fusion_tensor view() const;

  fusion_dtype getDType() const { return dtype; }
  llvm::ArrayRef<int64_t> getSizes() const { return sizes; }
  int64_t getNumElements() const;
  void *getData() const { return data.get(); }
  /// Bytes from the first to the last element.
  int64_t getNumBytes() const;

  /// An element by its row-major number.
  double getFloat(int64_t index) const;
  int64_t getInt(int64_t index) const;
  double getNumber(int64_t index) const {
    return isFloat(dtype) ? getFloat(index) : getInt(index);
  }

  /// Floats from the normal distribution, small integers, fair bools.
  void fillRandom(std::mt19937_64 &random);
  /// NaN in floats, an unlikely pattern in other types: what no kernel wrote
  /// shows in a comparison.
  void poison();
  /// Writes "f32 [2, 3]" and, up to `limit` elements, " = 1, 2, 3, 4, 5, 6";
  /// of larger tensors the range and the mean.
  void print(llvm::raw_ostream &stream, int64_t limit) const;

private:
  struct Release {
    void operator()(void *memory) const { fusion_cpu_release(memory); }
  };

  /// Offset in elements of an element in memory.
  int64_t getOffset(int64_t index) const;
  void setFloat(int64_t index, double value);
  void setInt(int64_t index, int64_t value);
  void allocate();

  fusion_dtype dtype = FUSION_F32;
  llvm::SmallVector<int64_t, 4> sizes, strides;
  std::unique_ptr<void, Release> data;
};

/// A number in the fewest digits that tell it from its neighbours of the type.
std::string formatNumber(double value, fusion_dtype dtype);
std::string formatSizes(llvm::ArrayRef<int64_t> sizes);

} // namespace fusion::tools

#endif // FUSION_TOOLS_COMMON_HOSTTENSOR_H

//===- Tensor.h - host tensors of the reference evaluator -----------------===//
//
// A tensor as plain row-major data: floats of every type as double, integers
// and bools as int64_t. Values are kept rounded to the element type, so an op
// computes in the wide type and rounds once.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_INTERPRETER_TENSOR_H
#define FUSION_INTERPRETER_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace fusion::interpreter {

/// Element types, numbered as in the C ABI.
enum class DType : uint8_t { F64, F32, F16, BF16, I8, I16, I32, I64, U8, Bool };

/// The element type that `type` denotes in the dialect, or nothing.
std::optional<DType> getDType(mlir::Type type);
/// As MLIR writes it: "f32", "ui8", "i1".
llvm::StringRef getName(DType dtype);
/// Bytes of one element in memory; a bool takes one.
int64_t getByteSize(DType dtype);
inline bool isFloat(DType dtype) { return dtype <= DType::BF16; }

/// The nearest value of a float type, ties to even, beyond its range infinity.
double roundTo(DType dtype, double value);
/// The value of an integer type that is congruent modulo 2^width; for bool,
/// whether `value` is not zero.
int64_t wrapTo(DType dtype, int64_t value);
/// Smallest and largest value of an integer type.
int64_t getMin(DType dtype);
int64_t getMax(DType dtype);

/// `[4, 8]`.
std::string formatSizes(llvm::ArrayRef<int64_t> sizes);
/// Product of the sizes.
int64_t getNumElements(llvm::ArrayRef<int64_t> sizes);
/// Distance in elements between neighbours along each dimension, row-major.
llvm::SmallVector<int64_t> getRowMajorStrides(llvm::ArrayRef<int64_t> sizes);

class Tensor {
public:
  Tensor() = default;
  /// All elements zero.
  Tensor(DType dtype, llvm::ArrayRef<int64_t> sizes);
  /// Elements from a list; each is rounded, or wrapped, to `dtype`.
  Tensor(DType dtype, llvm::ArrayRef<int64_t> sizes,
         llvm::ArrayRef<double> values);
  /// For lists of literals.
  Tensor(DType dtype, std::initializer_list<int64_t> sizes,
         std::initializer_list<double> values)
      : Tensor(dtype, llvm::ArrayRef<int64_t>(sizes),
               llvm::ArrayRef<double>(values)) {}

  /// Reads elements as they lie in memory; `strides` are in elements.
  static Tensor read(DType dtype, llvm::ArrayRef<int64_t> sizes,
                     llvm::ArrayRef<int64_t> strides, const void *data);
  /// Writes the elements to memory; `strides` are in elements.
  void write(void *data, llvm::ArrayRef<int64_t> strides) const;

  DType getDType() const { return dtype; }
  bool isFloat() const { return interpreter::isFloat(dtype); }
  llvm::ArrayRef<int64_t> getSizes() const { return sizes; }
  int64_t getSize(unsigned dim) const { return sizes[dim]; }
  unsigned getRank() const { return sizes.size(); }
  int64_t getNumElements() const {
    return isFloat() ? floatData.size() : intData.size();
  }

  /// Elements in row-major order: `T` is double for float types, else int64_t.
  template <typename T> llvm::ArrayRef<T> get() const {
    return const_cast<Tensor *>(this)->get<T>();
  }
  template <typename T> llvm::MutableArrayRef<T> get() {
    if constexpr (std::is_same_v<T, double>)
      return floatData;
    else
      return intData;
  }
  llvm::ArrayRef<double> floats() const { return floatData; }
  llvm::MutableArrayRef<double> floats() { return floatData; }
  llvm::ArrayRef<int64_t> ints() const { return intData; }
  llvm::MutableArrayRef<int64_t> ints() { return intData; }

  /// An element of either kind as a double.
  double getAsDouble(int64_t index) const {
    return isFloat() ? floatData[index] : static_cast<double>(intData[index]);
  }
  /// Rounds, or wraps, every element to the element type.
  Tensor &&normalize() &&;

private:
  DType dtype = DType::F32;
  llvm::SmallVector<int64_t, 4> sizes;
  std::vector<double> floatData;
  std::vector<int64_t> intData;
};

/// Calls `function` with a zero of the type that holds the elements: for code
/// that is the same for floats and integers.
template <typename Function>
decltype(auto) dispatch(DType dtype, Function &&function) {
  if (isFloat(dtype))
    return function(double(0));
  return function(int64_t(0));
}

} // namespace fusion::interpreter

#endif // FUSION_INTERPRETER_TENSOR_H

//===- Tensor.cpp - host tensors of the reference evaluator ---------------===//
//
// Element types, rounding to them, and their form in memory.
//
//===----------------------------------------------------------------------===//

#include "fusion/Interpreter/Tensor.h"
#include "Strided.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace fusion;
using namespace fusion::interpreter;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

std::optional<DType> interpreter::getDType(mlir::Type type) {
  if (type.isF64())
    return DType::F64;
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isUnsignedInteger(8))
    return DType::U8;
  if (!type.isSignlessInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return DType::Bool;
  case 8:
    return DType::I8;
  case 16:
    return DType::I16;
  case 32:
    return DType::I32;
  case 64:
    return DType::I64;
  default:
    return std::nullopt;
  }
}

StringRef interpreter::getName(DType dtype) {
  static constexpr const char *names[] = {"f64", "f32", "f16", "bf16", "i8",
                                          "i16", "i32", "i64", "ui8",  "i1"};
  return names[static_cast<unsigned>(dtype)];
}

int64_t interpreter::getByteSize(DType dtype) {
  static constexpr int64_t sizes[] = {8, 4, 2, 2, 1, 2, 4, 8, 1, 1};
  return sizes[static_cast<unsigned>(dtype)];
}

int64_t interpreter::getMin(DType dtype) {
  if (dtype == DType::U8 || dtype == DType::Bool)
    return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - 8 * getByteSize(dtype));
}

int64_t interpreter::getMax(DType dtype) {
  if (dtype == DType::U8)
    return 255;
  if (dtype == DType::Bool)
    return 1;
  return std::numeric_limits<int64_t>::max() >> (64 - 8 * getByteSize(dtype));
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

namespace {
/// A 16-bit IEEE format: sign, exponent with a bias, fraction.
struct SmallFormat {
  int fractionBits;
  int bias;
};
} // namespace

static SmallFormat getSmallFormat(DType dtype) {
  return dtype == DType::F16 ? SmallFormat{10, 15} : SmallFormat{7, 127};
}

/// The unit in the last place is 2^(exponent - fractionBits), but never less
/// than that of the smallest normal number.
static double roundToFormat(SmallFormat format, double value) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int exponent = std::max(std::ilogb(value), 1 - format.bias);
  int unit = exponent - format.fractionBits;
  // nearbyint rounds ties to even in the default rounding mode.
  double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  if (std::fabs(rounded) >= std::ldexp(1.0, format.bias + 1))
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

double interpreter::roundTo(DType dtype, double value) {
  switch (dtype) {
  case DType::F64:
    return value;
  case DType::F32:
    return static_cast<float>(value);
  default:
    return roundToFormat(getSmallFormat(dtype), value);
  }
}

int64_t interpreter::wrapTo(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::I8:
    return static_cast<int8_t>(value);
  case DType::I16:
    return static_cast<int16_t>(value);
  case DType::I32:
    return static_cast<int32_t>(value);
  case DType::U8:
    return static_cast<uint8_t>(value);
  case DType::Bool:
    return value != 0;
  default:
    return value;
  }
}

//===----------------------------------------------------------------------===//
// Form in memory
//===----------------------------------------------------------------------===//

static double decode(SmallFormat format, uint16_t bits) {
  int field = (bits & 0x7fff) >> format.fractionBits;
  int fraction = bits & ((1 << format.fractionBits) - 1);
  double magnitude;
  if (field == 2 * format.bias + 1)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else
    magnitude =
        std::ldexp(field ? fraction + (1 << format.fractionBits) : fraction,
                   std::max(field, 1) - format.bias - format.fractionBits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// `value` is a value of the format.
static uint16_t encode(SmallFormat format, double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  uint16_t infinity = (2 * format.bias + 1) << format.fractionBits;
  if (std::isnan(value))
    return sign | infinity | (1 << (format.fractionBits - 1));
  if (std::isinf(value))
    return sign | infinity;
  if (value == 0)
    return sign;
  int exponent = std::max(std::ilogb(value), 1 - format.bias);
  int significand =
      std::ldexp(std::fabs(value), format.fractionBits - exponent);
  // The leading bit of a normal number's significand adds one to the field.
  return sign + ((exponent + format.bias - 1) << format.fractionBits) +
         significand;
}

/// Calls `function` with a zero of the type that `dtype` has in memory; the
/// 16-bit floats are bits.
template <typename Function>
static void dispatchMemory(DType dtype, Function &&function) {
  switch (dtype) {
  case DType::F64:
    return function(double(0));
  case DType::F32:
    return function(float(0));
  case DType::F16:
  case DType::BF16:
    return function(uint16_t(0));
  case DType::I8:
    return function(int8_t(0));
  case DType::I16:
    return function(int16_t(0));
  case DType::I32:
    return function(int32_t(0));
  case DType::I64:
    return function(int64_t(0));
  case DType::U8:
  case DType::Bool:
    return function(uint8_t(0));
  }
}

Tensor Tensor::read(DType dtype, ArrayRef<int64_t> sizes,
                    ArrayRef<int64_t> strides, const void *data) {
  Tensor tensor(dtype, sizes);
  Walk target = Walk::rowMajor(sizes);
  Walk source{0, SmallVector<int64_t>(strides)};
  dispatchMemory(dtype, [&](auto zero) {
    using Memory = decltype(zero);
    auto load = [&](int64_t offset) {
      Memory element;
      // The data of a strided view may be misaligned.
      std::memcpy(&element, static_cast<const Memory *>(data) + offset,
                  sizeof(Memory));
      return element;
    };
    forEachPair(sizes, target, source, [&](int64_t to, int64_t from) {
      if constexpr (std::is_same_v<Memory, uint16_t>)
        tensor.floatData[to] = decode(getSmallFormat(dtype), load(from));
      else if constexpr (std::is_floating_point_v<Memory>)
        tensor.floatData[to] = load(from);
      else
        tensor.intData[to] = wrapTo(dtype, load(from));
    });
  });
  return tensor;
}

void Tensor::write(void *data, ArrayRef<int64_t> strides) const {
  Walk target{0, SmallVector<int64_t>(strides)};
  Walk source = Walk::rowMajor(sizes);
  dispatchMemory(dtype, [&](auto zero) {
    using Memory = decltype(zero);
    forEachPair(sizes, target, source, [&](int64_t to, int64_t from) {
      Memory element;
      if constexpr (std::is_same_v<Memory, uint16_t>)
        element = encode(getSmallFormat(dtype), floatData[from]);
      else if constexpr (std::is_floating_point_v<Memory>)
        element = floatData[from];
      else
        element = intData[from];
      std::memcpy(static_cast<Memory *>(data) + to, &element, sizeof(Memory));
    });
  });
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

std::string interpreter::formatSizes(ArrayRef<int64_t> sizes) {
  std::string text;
  raw_string_ostream stream(text);
  stream << '[';
  interleaveComma(sizes, stream);
  stream << ']';
  return text;
}

int64_t interpreter::getNumElements(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

SmallVector<int64_t> interpreter::getRowMajorStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

Tensor::Tensor(DType dtype, ArrayRef<int64_t> sizes)
    : dtype(dtype), sizes(sizes) {
  int64_t count = interpreter::getNumElements(sizes);
  if (isFloat())
    floatData.resize(count);
  else
    intData.resize(count);
}

Tensor::Tensor(DType dtype, ArrayRef<int64_t> sizes, ArrayRef<double> values)
    : Tensor(dtype, sizes) {
  for (auto [i, value] : enumerate(values.take_front(getNumElements()))) {
    if (isFloat())
      floatData[i] = roundTo(dtype, value);
    else
      intData[i] = wrapTo(dtype, static_cast<int64_t>(value));
  }
}

Tensor &&Tensor::normalize() && {
  for (double &value : floatData)
    value = roundTo(dtype, value);
  for (int64_t &value : intData)
    value = wrapTo(dtype, value);
  return std::move(*this);
}

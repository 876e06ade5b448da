//===- HostTensor.cpp - tensors of the command-line tools -----------------===//

#include "HostTensor.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace fusion::tools;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static constexpr StringLiteral names[] = {"f64", "f32", "f16", "bf16", "i8",
                                          "i16", "i32", "i64", "ui8",  "i1"};

StringRef fusion::tools::getName(fusion_dtype dtype) { return names[dtype]; }

std::optional<fusion_dtype> fusion::tools::parseDType(StringRef name) {
  const auto *found = llvm::find(names, name);
  if (found == std::end(names))
    return std::nullopt;
  return static_cast<fusion_dtype>(found - std::begin(names));
}

int64_t fusion::tools::getByteSize(fusion_dtype dtype) {
  static constexpr int64_t sizes[] = {8, 4, 2, 2, 1, 2, 4, 8, 1, 1};
  return sizes[dtype];
}

static const fltSemantics &getSmallFloat(fusion_dtype dtype) {
  return dtype == FUSION_F16 ? APFloat::IEEEhalf() : APFloat::BFloat();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

HostTensor::HostTensor(fusion_dtype dtype, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> order)
    : dtype(dtype), sizes(sizes), strides(sizes.size(), 1) {
  SmallVector<int64_t> rowMajor(sizes.size());
  std::iota(rowMajor.begin(), rowMajor.end(), 0);
  if (order.empty())
    order = rowMajor;
  int64_t stride = 1;
  for (int64_t dim : reverse(order)) {
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  allocate();
}

HostTensor HostTensor::like(const fusion_tensor &form) {
  HostTensor tensor;
  tensor.dtype = static_cast<fusion_dtype>(form.dtype);
  tensor.sizes.assign(form.sizes, form.sizes + form.rank);
  tensor.strides.assign(form.strides, form.strides + form.rank);
  tensor.allocate();
  return tensor;
}

HostTensor HostTensor::adopt(const fusion_tensor &given) {
  HostTensor tensor;
  tensor.dtype = static_cast<fusion_dtype>(given.dtype);
  tensor.sizes.assign(given.sizes, given.sizes + given.rank);
  tensor.strides.assign(given.strides, given.strides + given.rank);
  tensor.data.reset(given.data);
  return tensor;
}

void HostTensor::allocate() {
  // An empty tensor has an address all the same.
  data.reset(fusion_cpu_allocate(std::max<int64_t>(getNumBytes(), 1)));
  if (!data)
    report_fatal_error(Twine("out of memory for a tensor of ") +
                           Twine(getNumBytes()) + " bytes",
                       /*gen_crash_diag=*/false);
}

fusion_tensor HostTensor::view() const {
  fusion_tensor tensor = {};
  tensor.data = data.get();
  tensor.dtype = dtype;
  tensor.rank = sizes.size();
  copy(sizes, tensor.sizes);
  copy(strides, tensor.strides);
  return tensor;
}

int64_t HostTensor::getNumElements() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

int64_t HostTensor::getNumBytes() const {
  if (getNumElements() == 0)
    return 0;
  int64_t last = 0;
  for (auto [size, stride] : zip_equal(sizes, strides))
    last += (size - 1) * stride;
  return (last + 1) * getByteSize(dtype);
}

int64_t HostTensor::getOffset(int64_t index) const {
  int64_t offset = 0;
  for (auto [size, stride] : zip_equal(reverse(sizes), reverse(strides))) {
    offset += index % size * stride;
    index /= size;
  }
  return offset;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename T> static T &at(void *data, int64_t offset) {
  return static_cast<T *>(data)[offset];
}

double HostTensor::getFloat(int64_t index) const {
  int64_t offset = getOffset(index);
  if (dtype == FUSION_F64)
    return at<double>(getData(), offset);
  if (dtype == FUSION_F32)
    return at<float>(getData(), offset);
  APInt bits(16, at<uint16_t>(getData(), offset));
  return APFloat(getSmallFloat(dtype), bits).convertToDouble();
}

int64_t HostTensor::getInt(int64_t index) const {
  int64_t offset = getOffset(index);
  switch (dtype) {
  case FUSION_I8:
    return at<int8_t>(getData(), offset);
  case FUSION_I16:
    return at<int16_t>(getData(), offset);
  case FUSION_I32:
    return at<int32_t>(getData(), offset);
  case FUSION_I64:
    return at<int64_t>(getData(), offset);
  default:
    return at<uint8_t>(getData(), offset);
  }
}

void HostTensor::setFloat(int64_t index, double value) {
  int64_t offset = getOffset(index);
  if (dtype == FUSION_F64) {
    at<double>(getData(), offset) = value;
  } else if (dtype == FUSION_F32) {
    at<float>(getData(), offset) = value;
  } else {
    APFloat rounded(value);
    bool losesInfo;
    rounded.convert(getSmallFloat(dtype), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    at<uint16_t>(getData(), offset) = rounded.bitcastToAPInt().getZExtValue();
  }
}

void HostTensor::setInt(int64_t index, int64_t value) {
  // The low bytes of a two's complement integer are the narrower integer.
  std::memcpy(static_cast<char *>(getData()) +
                  getOffset(index) * getByteSize(dtype),
              &value, getByteSize(dtype));
}

void HostTensor::fillRandom(std::mt19937_64 &random) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int64_t> integer(dtype == FUSION_U8 ? 0 : -8,
                                                 8);
  std::uniform_int_distribution<int64_t> boolean(0, 1);
  for (int64_t i = 0, e = getNumElements(); i < e; ++i) {
    if (isFloat(dtype))
      setFloat(i, normal(random));
    else
      setInt(i, dtype == FUSION_BOOL ? boolean(random) : integer(random));
  }
}

void HostTensor::poison() {
  std::memset(getData(), 0xa5, getNumBytes());
  if (isFloat(dtype))
    for (int64_t i = 0, e = getNumElements(); i < e; ++i)
      setFloat(i, std::numeric_limits<double>::quiet_NaN());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string fusion::tools::formatSizes(ArrayRef<int64_t> sizes) {
  return "[" +
         join(map_range(sizes, [](int64_t s) { return itostr(s); }), ", ") +
         "]";
}

std::string fusion::tools::formatNumber(double value, fusion_dtype dtype) {
  if (std::isnan(value))
    return "nan";
  char text[40];
  if (value == std::trunc(value) && std::fabs(value) < 1e15) {
    std::snprintf(text, sizeof text, "%.0f", value);
    return text;
  }
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    double parsed = std::strtod(text, nullptr);
    if (dtype == FUSION_F64 ? parsed == value
                            : static_cast<float>(parsed) == value)
      break;
  }
  return text;
}

void HostTensor::print(raw_ostream &stream, int64_t limit) const {
  stream << getName(dtype) << " " << formatSizes(sizes);
  int64_t count = getNumElements();
  auto format = [&](int64_t i) {
    return isFloat(dtype) ? formatNumber(getFloat(i), dtype)
                          : itostr(getInt(i));
  };
  if (count <= limit) {
    stream << " = ";
    for (int64_t i = 0; i < count; ++i)
      stream << (i ? ", " : "") << format(i);
    return;
  }
  double sum = 0;
  int64_t least = 0, greatest = 0, numNaN = 0;
  for (int64_t i = 0; i < count; ++i) {
    double value = getNumber(i);
    numNaN += std::isnan(value);
    sum += value;
    if (value < getNumber(least))
      least = i;
    if (value > getNumber(greatest))
      greatest = i;
  }
  stream << ", from " << format(least) << " to " << format(greatest)
         << ", mean " << llvm::format("%.6g", sum / count);
  if (numNaN)
    stream << ", " << numNaN << " NaN";
}

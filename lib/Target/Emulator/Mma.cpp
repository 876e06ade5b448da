//===- Mma.cpp - a warp's matrix product in plain code --------------------===//
//
// All operands are exact in f64, and so are their products but those of f64
// itself, so that one fused loop serves every kind.
//
//===----------------------------------------------------------------------===//

#include "Mma.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace fusion::runtime;
using namespace fusion::runtime::emulator;

template <typename T> static T readElement(const void *fragment, int index) {
  T value;
  std::memcpy(&value, static_cast<const T *>(fragment) + index, sizeof(T));
  return value;
}

static float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The value of an f16.
static double readHalf(uint16_t bits) {
  double sign = bits >> 15 ? -1 : 1;
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, -24);
  if (exponent < 31)
    return sign * std::ldexp(mantissa | 1024, exponent - 25);
  if (mantissa == 0)
    return sign * std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

static double readOperand(MmaKind kind, const void *fragment, int index) {
  switch (kind) {
  case MmaKind::F16:
    return readHalf(readElement<uint16_t>(fragment, index));
  case MmaKind::BF16:
    return asFloat(uint32_t(readElement<uint16_t>(fragment, index)) << 16);
  case MmaKind::TF32: // the upper 19 bits are all that the hardware reads
    return asFloat(readElement<uint32_t>(fragment, index) & 0xffffe000u);
  case MmaKind::S8:
    return readElement<int8_t>(fragment, index);
  case MmaKind::U8:
    return readElement<uint8_t>(fragment, index);
  case MmaKind::F64:
    return readElement<double>(fragment, index);
  }
  return 0;
}

static double readSum(MmaKind kind, const void *fragment, int index) {
  switch (kind) {
  case MmaKind::S8:
  case MmaKind::U8:
    return readElement<int32_t>(fragment, index);
  case MmaKind::F64:
    return readElement<double>(fragment, index);
  default:
    return readElement<float>(fragment, index);
  }
}

static void writeSum(MmaKind kind, void *fragment, int index, double sum) {
  switch (kind) {
  case MmaKind::S8:
  case MmaKind::U8:
    static_cast<uint32_t *>(fragment)[index] =
        static_cast<uint32_t>(static_cast<int64_t>(sum)); // wraps
    return;
  case MmaKind::F64:
    static_cast<double *>(fragment)[index] = sum;
    return;
  default:
    static_cast<float *>(fragment)[index] = static_cast<float>(sum);
  }
}

void emulator::multiplyFragments(MmaKind kind,
                                 const MmaFragments (&lanes)[32]) {
  // Elements along k that are side by side in a register; four lanes hold a
  // row's registers, and a fragment's registers lie `stride` apart along k.
  int packed = kind == MmaKind::F16 || kind == MmaKind::BF16 ? 2
               : kind == MmaKind::S8 || kind == MmaKind::U8  ? 4
                                                             : 1;
  int stride = 4 * packed;
  int m = kind == MmaKind::F64 ? 8 : 16, n = 8;
  int k = kind == MmaKind::F64 ? 4 : 2 * stride;

  double a[16][32], b[32][8];
  for (int lane = 0; lane < 32; ++lane) {
    int group = lane / 4, member = lane % 4;
    for (int i = 0; i < m * k / 32; ++i) {
      int index = i / packed;
      a[group + index % 2 * 8]
       [member * packed + i % packed + index / 2 * stride] =
           readOperand(kind, lanes[lane].a, i);
    }
    for (int i = 0; i < n * k / 32; ++i)
      b[member * packed + i % packed + i / packed * stride][group] =
          readOperand(kind, lanes[lane].b, i);
  }
  for (int lane = 0; lane < 32; ++lane) {
    int group = lane / 4, member = lane % 4;
    for (int i = 0; i < m * n / 32; ++i) {
      int row = group + i / 2 * 8, column = member * 2 + i % 2;
      double sum = readSum(kind, lanes[lane].sum, i);
      for (int step = 0; step < k; ++step)
        sum = std::fma(a[row][step], b[step][column], sum);
      writeSum(kind, lanes[lane].sum, i, sum);
    }
  }
}

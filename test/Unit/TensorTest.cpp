//===- TensorTest.cpp - rounding and memory form of host tensors ----------===//

#include "fusion/Interpreter/Tensor.h"
#include "Evaluation.h"
#include "llvm/ADT/APFloat.h"
#include <random>

using namespace fusion::interpreter;
using llvm::APFloat;

/// LLVM's rounding, as an independent opinion.
static double roundByLLVM(DType dtype, double value) {
  APFloat wide(value);
  bool losesInfo;
  wide.convert(dtype == DType::F16 ? APFloat::IEEEhalf() : APFloat::BFloat(),
               APFloat::rmNearestTiesToEven, &losesInfo);
  return wide.convertToDouble();
}

TEST(Tensor, RoundsToNearestEven) {
  // 2049 lies halfway between 2048 and 2050 in f16.
  EXPECT_EQ(roundTo(DType::F16, 2049), 2048);
  EXPECT_EQ(roundTo(DType::F16, 2051), 2052);
  EXPECT_EQ(roundTo(DType::F16, 65519), 65504);
  EXPECT_EQ(roundTo(DType::F16, 65520), Inf);
  EXPECT_EQ(roundTo(DType::F16, -1e300), -Inf);
  EXPECT_EQ(roundTo(DType::F16, std::ldexp(1.0, -25)), 0);
  EXPECT_EQ(roundTo(DType::F16, std::ldexp(1.5, -25)), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::signbit(roundTo(DType::F16, -1e-30)));
  EXPECT_EQ(roundTo(DType::BF16, 257), 256);
  EXPECT_EQ(roundTo(DType::BF16, 259), 260);
  EXPECT_EQ(roundTo(DType::BF16, 3.4e38), Inf);
  EXPECT_EQ(roundTo(DType::F32, 16777217), 16777216);
  EXPECT_TRUE(std::isnan(roundTo(DType::BF16, NaN)));
}

TEST(Tensor, RoundsAsLLVMDoes) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(-2, 2);
  for (DType dtype : {DType::F16, DType::BF16})
    for (int i = 0; i < 20000; ++i) {
      int exponent = static_cast<int>(random() % 320) - 160;
      double value = std::ldexp(mantissa(random), exponent);
      // Few bits make exact ties likely.
      if (i % 2)
        value = std::ldexp(std::round(std::ldexp(mantissa(random), 11)),
                           exponent / 4);
      EXPECT_TRUE(isSame(roundTo(dtype, value), roundByLLVM(dtype, value)))
          << value;
    }
}

TEST(Tensor, WrapsIntegers) {
  EXPECT_EQ(wrapTo(DType::I8, 128), -128);
  EXPECT_EQ(wrapTo(DType::U8, -6), 250);
  EXPECT_EQ(wrapTo(DType::I16, 70000), 4464);
  EXPECT_EQ(wrapTo(DType::I32, int64_t(1) << 31), -(int64_t(1) << 31));
  EXPECT_EQ(wrapTo(DType::Bool, 256), 1);
  EXPECT_EQ(getMin(DType::I8), -128);
  EXPECT_EQ(getMax(DType::I16), 32767);
  EXPECT_EQ(getMin(DType::U8), 0);
  EXPECT_EQ(getMax(DType::I64), std::numeric_limits<int64_t>::max());
}

// Every bit pattern of a 16-bit float is read and written back unchanged, up to
// the payload of a NaN.
TEST(Tensor, KeepsBitsOfSmallFloats) {
  std::vector<uint16_t> bits(65536), written(65536);
  for (int i = 0; i < 65536; ++i)
    bits[i] = i;
  for (DType dtype : {DType::F16, DType::BF16}) {
    Tensor tensor = Tensor::read(dtype, {65536}, {1}, bits.data());
    tensor.write(written.data(), {1});
    for (int i = 0; i < 65536; ++i) {
      const auto &semantics =
          dtype == DType::F16 ? APFloat::IEEEhalf() : APFloat::BFloat();
      double expected =
          APFloat(semantics, llvm::APInt(16, i)).convertToDouble();
      EXPECT_TRUE(isSame(tensor.floats()[i], expected)) << i;
      if (!std::isnan(expected))
        EXPECT_EQ(written[i], i);
    }
  }
}

TEST(Tensor, ReadsStridedViews) {
  int32_t data[] = {0, 1, 2, 3, 4, 5};
  // The transpose of a 2x3 matrix.
  expectTensor(Tensor::read(DType::I32, {3, 2}, {1, 3}, data), {3, 2},
               {0, 3, 1, 4, 2, 5});
  // A broadcast, a reversal and an empty tensor.
  expectTensor(Tensor::read(DType::I32, {2, 2}, {0, 1}, data), {2, 2},
               {0, 1, 0, 1});
  expectTensor(Tensor::read(DType::I32, {3}, {-2}, data + 5), {3}, {5, 3, 1});
  expectTensor(Tensor::read(DType::I32, {2, 0}, {0, 1}, data), {2, 0}, {});
  expectTensor(Tensor::read(DType::I32, {}, {}, data + 4), {}, {4});
}

TEST(Tensor, ReadsMisalignedData) {
  char bytes[9];
  double value = 2.5;
  std::memcpy(bytes + 1, &value, sizeof value);
  expectTensor(Tensor::read(DType::F64, {1}, {1}, bytes + 1), {1}, {2.5});
}

//===- IndexMathTest.cpp - algebra of index expressions -------------------===//

#include "fusion/Analysis/IndexMath.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fusion;

namespace {

class IndexMathTest : public ::testing::Test {
protected:
  AffineExpr d(unsigned i) { return getAffineDimExpr(i, &context); }
  AffineExpr s(unsigned i) { return getAffineSymbolExpr(i, &context); }
  AffineExpr c(int64_t value) { return getAffineConstantExpr(value, &context); }

  MLIRContext context;
};

TEST_F(IndexMathTest, KnownDivisors) {
  Divisors divisors{{64, 8}, {16}};
  EXPECT_EQ(getKnownDivisor(s(0) * 3, divisors), 192);
  EXPECT_EQ(getKnownDivisor(s(0) + s(1), divisors), 8);
  EXPECT_EQ(getKnownDivisor(d(0) * s(1), divisors), 128);
  EXPECT_EQ(getKnownDivisor(s(0).floorDiv(16), divisors), 4);
  EXPECT_EQ(getKnownDivisor(s(0).floorDiv(48), divisors), 1);
  EXPECT_EQ(getKnownDivisor(d(1), divisors), 1);
  EXPECT_TRUE(isKnownMultiple(c(0), 32, divisors));
}

TEST_F(IndexMathTest, Coefficients) {
  AffineExpr offset = d(0) * (s(0) * s(1)) + d(1) * s(1) + d(2);
  EXPECT_EQ(getCoefficient(offset, 1), s(1));
  EXPECT_EQ(getCoefficient(offset, 2), c(1));
  EXPECT_EQ(getCoefficient(offset, 3), c(0));
  EXPECT_FALSE(getCoefficient(d(0).floorDiv(s(0)), 0));
}

TEST_F(IndexMathTest, LaneStrides) {
  Divisors divisors{{8}, {1, 8}};
  EXPECT_EQ(getLaneStride(d(1) * 3 + d(0), 1, 8, divisors), c(3));
  EXPECT_EQ(getLaneStride(d(0) - d(1), 1, 8, divisors), c(-1));
  // No vector of 8 straddles a multiple of a size that 8 divides ...
  EXPECT_EQ(getLaneStride(d(1).floorDiv(s(0)), 1, 8, divisors), c(0));
  EXPECT_EQ(getLaneStride(d(1) % s(0), 1, 8, divisors), c(1));
  // ... but one that begins between multiples may.
  EXPECT_FALSE(getLaneStride((d(1) + 1) % s(0), 1, 8, divisors));
  EXPECT_FALSE(getLaneStride(d(1) % s(0), 1, 16, divisors));
}

TEST_F(IndexMathTest, UniformGuards) {
  Divisors divisors{{8}, {8}};
  EXPECT_TRUE(isLaneUniformGuard(d(0) - 16, 0, 8, divisors));
  EXPECT_TRUE(isLaneUniformGuard(s(0) - 1 - d(0), 0, 8, divisors));
  EXPECT_FALSE(isLaneUniformGuard(d(0) - 3, 0, 8, divisors));
}

TEST_F(IndexMathTest, Evaluation) {
  EXPECT_EQ(evaluate(s(0).ceilDiv(4) * 3, {10}), 9);
  EXPECT_EQ(evaluate(s(0) + s(1), {10, std::nullopt}), std::nullopt);
  EXPECT_EQ(evaluate(d(0), {10}), std::nullopt);
}

} // namespace

//===- EvaluateElementwiseTest.cpp - corners of elementwise ops -----------===//
//
// Expectations are worked out by hand from the dialect's definition.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Interpreter/Interpreter.h"

using namespace fusion::interpreter;

namespace {
class Elementwise : public Evaluation {
protected:
  using Values = std::initializer_list<double>;

  static std::string typeOf(DType dtype, size_t count) {
    return "tensor<" + std::to_string(count) + "x" + getName(dtype).str() + ">";
  }

  void expectUnary(llvm::StringRef op, DType dtype, Values x, Values expected) {
    int64_t size = x.size();
    SCOPED_TRACE(op.str() + " " + getName(dtype).str());
    expectTensor(evaluateOp(op.str() + " %0", typeOf(dtype, size),
                            {Tensor(dtype, {size}, x)}),
                 {size}, expected);
  }

  void expectBinary(llvm::StringRef op, DType dtype, Values x, Values y,
                    Values expected) {
    int64_t size = x.size();
    SCOPED_TRACE(op.str() + " " + getName(dtype).str());
    expectTensor(
        evaluateOp(op.str() + " %0, %1", typeOf(dtype, size),
                   {Tensor(dtype, {size}, x), Tensor(dtype, {size}, y)}),
        {size}, expected);
  }

  void expectConvert(DType from, DType to, Values x, Values expected) {
    int64_t size = x.size();
    SCOPED_TRACE(getName(from).str() + " to " + getName(to).str());
    expectTensor(
        evaluateOp("convert %0", typeOf(to, size), {Tensor(from, {size}, x)}),
        {size}, expected);
  }
};

constexpr double minI32 = -2147483648.0;
} // namespace

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

TEST_F(Elementwise, SignOperations) {
  expectUnary("abs", DType::F32, {-0.0, -1.5, -Inf, NaN}, {0.0, 1.5, Inf, NaN});
  expectUnary("abs", DType::I8, {-128, -5, 5}, {-128, 5, 5});
  expectUnary("abs", DType::U8, {200, 0}, {200, 0});
  expectUnary("neg", DType::F16, {0.0, -Inf}, {-0.0, Inf});
  expectUnary("neg", DType::I32, {minI32, 7}, {minI32, -7});
  expectUnary("neg", DType::U8, {6, 0}, {250, 0});
  expectUnary("sign", DType::F64, {-0.0, 0.0, -3, Inf, NaN},
              {-0.0, 0.0, -1, 1, NaN});
  expectUnary("sign", DType::I16, {-7, 0, 7}, {-1, 0, 1});
  expectUnary("sign", DType::U8, {200, 0}, {1, 0});
}

TEST_F(Elementwise, Complement) {
  expectUnary("not", DType::I32, {0, -1}, {-1, 0});
  expectUnary("not", DType::U8, {0, 255, 15}, {255, 0, 240});
  expectUnary("not", DType::Bool, {0, 1}, {1, 0});
}

TEST_F(Elementwise, Rounding) {
  expectUnary("floor", DType::F32, {-0.5, 1.5, -0.0}, {-1, 1, -0.0});
  expectUnary("ceil", DType::F32, {-0.5, 1.5}, {-0.0, 2});
  expectUnary("round", DType::F32, {0.5, 1.5, 2.5, -0.5}, {0, 2, 2, -0.0});
  expectUnary("trunc", DType::BF16, {-1.75, 1.75}, {-1, 1});
}

TEST_F(Elementwise, Transcendental) {
  expectUnary("exp", DType::F32, {0, -Inf, Inf, 1000}, {1, 0, Inf, Inf});
  expectUnary("exp", DType::F16, {12}, {Inf}); // e^12 is above 65504
  expectUnary("log", DType::F64, {1, 0, -1, -0.0}, {0, -Inf, NaN, -Inf});
  expectUnary("log1p", DType::F32, {-1, -0.0}, {-Inf, -0.0});
  expectUnary("sqrt", DType::F32, {4, -0.0, -1}, {2, -0.0, NaN});
  expectUnary("rsqrt", DType::F32, {4, 0.0, -0.0, Inf}, {0.5, Inf, -Inf, 0});
  expectUnary("cbrt", DType::F32, {-27}, {-3});
  expectUnary("reciprocal", DType::F32, {-0.0, 4}, {-Inf, 0.25});
  expectUnary("exp2", DType::BF16, {-3, 10}, {0.125, 1024});
  expectUnary("atanh", DType::F64, {1, 2}, {Inf, NaN});
  expectUnary("erfc", DType::F32, {0, Inf, -Inf}, {1, 0, 2});
}

TEST_F(Elementwise, RoundsToTheResultType) {
  expectUnary("exp", DType::F32, {1}, {2.71828174591064453125});
  expectUnary("exp", DType::F16, {1}, {2.71875});
  expectUnary("exp", DType::BF16, {1}, {2.71875});
  expectBinary("mul", DType::F16, {5000}, {5000}, {Inf});
  expectBinary("add", DType::F16, {2048}, {1}, {2048});
  expectBinary("add", DType::BF16, {256}, {3}, {260});
}

TEST_F(Elementwise, Activations) {
  expectUnary("relu", DType::F32, {-0.0, -1, 2, NaN}, {0.0, 0.0, 2, NaN});
  expectUnary("relu", DType::I8, {-128, 5}, {0, 5});
  expectUnary("sigmoid", DType::F32, {0, Inf, -Inf}, {0.5, 1, 0});
  expectUnary("silu", DType::F32, {0, Inf, -Inf}, {0, Inf, NaN});
  expectUnary("softplus", DType::F64, {21, -Inf}, {21, 0});
  expectUnary("hard_sigmoid", DType::F32, {-4, 0, 4, NaN}, {0, 0.5, 1, NaN});
  expectUnary("hard_swish", DType::F32, {-4, 3, 6}, {-0.0, 3, 6});
  expectUnary("gelu", DType::F64, {0, 100}, {0, 100});
  expectUnary("gelu", DType::F32, {1}, {0.841344773769378662109375});
  Tensor one(DType::F32, {1}, {1});
  expectTensor(evaluateOp("gelu %0 {approximate = #fusion<approximation tanh>}",
                          "tensor<1xf32>", {one}),
               {1}, {0.84119200706481933594});
  Tensor x(DType::F32, {2}, {-Inf, 2});
  expectTensor(evaluateOp("elu %0 {alpha = 2.0 : f64}", "tensor<2xf32>", {x}),
               {2}, {-2, 2});
  expectTensor(
      evaluateOp("leaky_relu %0 {slope = 0.5 : f64}", "tensor<2xf32>", {x}),
      {2}, {-Inf, 2});
}

TEST_F(Elementwise, Tests) {
  Tensor x(DType::F32, {4}, {1, Inf, -Inf, NaN});
  expectTensor(evaluateOp("is_nan %0", "tensor<4xi1>", {x}), {4}, {0, 0, 0, 1});
  expectTensor(evaluateOp("is_inf %0", "tensor<4xi1>", {x}), {4}, {0, 1, 1, 0});
  expectTensor(evaluateOp("is_finite %0", "tensor<4xi1>", {x}), {4},
               {1, 0, 0, 0});
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

TEST_F(Elementwise, ConvertSaturates) {
  expectConvert(DType::F32, DType::I32, {-1.9, 1.9, 1e10, -1e10, NaN},
                {-1, 1, 2147483647, minI32, 0});
  expectConvert(DType::F32, DType::U8, {-3, 300, 254.9}, {0, 255, 254});
  expectConvert(DType::F64, DType::I8, {-129, 127.9, Inf}, {-128, 127, 127});
  Tensor large = evaluateOp("convert %0", "tensor<2xi64>",
                            {Tensor(DType::F64, {2}, {1e300, -1e300})});
  EXPECT_EQ(large.ints()[0], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(large.ints()[1], std::numeric_limits<int64_t>::min());
}

TEST_F(Elementwise, ConvertWrapsIntegers) {
  expectConvert(DType::I32, DType::I8, {128, -129, 300}, {-128, 127, 44});
  expectConvert(DType::I8, DType::U8, {-1}, {255});
  expectConvert(DType::U8, DType::I8, {200}, {-56});
  expectConvert(DType::U8, DType::I16, {200}, {200});
}

TEST_F(Elementwise, ConvertBools) {
  expectConvert(DType::F32, DType::Bool, {0, -0.0, NaN, 0.1}, {0, 0, 1, 1});
  expectConvert(DType::I8, DType::Bool, {0, -128}, {0, 1});
  expectConvert(DType::Bool, DType::F16, {0, 1}, {0, 1});
}

TEST_F(Elementwise, ConvertRoundsOnce) {
  expectConvert(DType::F64, DType::F16, {2049, 65520}, {2048, Inf});
  // Through f32 this would round twice, up to 1 + 2^-7.
  expectConvert(DType::F64, DType::BF16, {1 + 0x1p-8 - 0x1p-40}, {1});
  Tensor x(DType::I64, {1});
  x.ints()[0] = (int64_t(1) << 53) + (int64_t(1) << 29) + 1;
  expectTensor(evaluateOp("convert %0", "tensor<1xf32>", {x}), {1},
               {0x1p53 + 0x1p30});
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

TEST_F(Elementwise, IntegersWrap) {
  expectBinary("add", DType::I8, {127}, {1}, {-128});
  expectBinary("add", DType::U8, {128}, {128}, {0});
  expectBinary("sub", DType::U8, {0}, {6}, {250});
  expectBinary("mul", DType::I32, {65536}, {65536}, {0});
  Tensor max(DType::I64, {1}), one(DType::I64, {1}, {1});
  max.ints()[0] = std::numeric_limits<int64_t>::max();
  Tensor sum = evaluateOp("add %0, %1", "tensor<1xi64>", {max, one});
  EXPECT_EQ(sum.ints()[0], std::numeric_limits<int64_t>::min());
}

TEST_F(Elementwise, IntegerDivision) {
  expectBinary("div", DType::I32, {-7, 7, 5, minI32}, {2, -2, 0, -1},
               {-3, -3, 0, minI32});
  expectBinary("div", DType::U8, {200}, {3}, {66});
  expectBinary("floor_div", DType::I32, {-7, 7, -6, 5, minI32},
               {2, -2, 2, 0, -1}, {-4, -4, -3, 0, minI32});
  expectBinary("remainder", DType::I32, {-7, 7, -6, 5, minI32},
               {2, -2, 2, 0, -1}, {1, -1, 0, 0, 0});
  expectBinary("fmod", DType::I32, {-7, 7, 5}, {2, -2, 0}, {-1, 1, 0});
  Tensor min(DType::I64, {1}), minusOne(DType::I64, {1}, {-1});
  min.ints()[0] = std::numeric_limits<int64_t>::min();
  for (const char *op : {"div %0, %1", "floor_div %0, %1"})
    EXPECT_EQ(evaluateOp(op, "tensor<1xi64>", {min, minusOne}).ints()[0],
              std::numeric_limits<int64_t>::min());
}

TEST_F(Elementwise, FloatFloorDivision) {
  for (DType dtype : {DType::F32, DType::F64}) {
    expectBinary("floor_div", dtype, {1, 0.5, 6}, {0.1, 0.1, 0.2}, {9, 4, 29});
    expectBinary("floor_div", dtype, {NaN, Inf, -Inf}, {1, 1, 1},
                 {NaN, NaN, NaN});
    expectBinary("floor_div", dtype, {1, -1, 0, Inf}, {0, 0, 0, 0.0},
                 {Inf, -Inf, NaN, Inf});
    expectBinary("floor_div", dtype, {-1, 1, -0.0, -1}, {3, -3, 3, Inf},
                 {-1, -1, -0.0, -1});
    expectBinary("remainder", dtype, {-1, 1, 1, -4, 4, -1},
                 {3, -3, 0, 2, -2, Inf}, {2, -2, NaN, 0.0, -0.0, Inf});
    expectBinary("fmod", dtype, {-1, 1, 1, 5.5}, {3, -3, 0, Inf},
                 {-1, 1, NaN, 5.5});
  }
  // 1 / 3 is below a third in f64 and above it in f32.
  expectBinary("floor_div", DType::F64, {1}, {1.0 / 3}, {3});
  expectBinary("floor_div", DType::F32, {1}, {1.0 / 3}, {2});
}

TEST_F(Elementwise, Power) {
  expectBinary("pow", DType::F64, {NaN, 1, -8, 0, -0.0}, {0, NaN, 0.5, -1, -1},
               {1, 1, NaN, Inf, -Inf});
  expectBinary("pow", DType::I32, {2, 3, -1, -1, 2, 0, 1},
               {31, 4, -3, -2, -1, -1, -9}, {minI32, 81, -1, 1, 0, 0, 1});
  expectBinary("pow", DType::U8, {2, 3}, {8, 5}, {0, 243});
}

TEST_F(Elementwise, MinimumAndMaximum) {
  expectBinary("min", DType::F32, {0.0, -0.0, NaN, 1}, {-0.0, 0.0, 1, NaN},
               {-0.0, -0.0, NaN, NaN});
  expectBinary("max", DType::F32, {0.0, -0.0, NaN, 1}, {-0.0, 0.0, 1, NaN},
               {0.0, 0.0, NaN, NaN});
  expectBinary("max", DType::U8, {200}, {100}, {200});
  expectBinary("min", DType::I8, {-128}, {127}, {-128});
  Tensor x(DType::F32, {4}, {5, NaN, 1, 1}),
      lo(DType::F32, {4}, {0, 0, NaN, 3}), hi(DType::F32, {4}, {2, 2, 2, 2});
  // Where the bounds are the wrong way round the upper one wins.
  expectTensor(evaluateOp("clamp %0, %1, %2", "tensor<4xf32>", {x, lo, hi}),
               {4}, {2, NaN, NaN, 2});
}

TEST_F(Elementwise, OtherFloatBinaries) {
  expectBinary("atan2", DType::F64, {0.0, -0.0}, {1, 1}, {0.0, -0.0});
  expectBinary("copysign", DType::F32, {3, -3}, {-0.0, 0.0}, {-3, 3});
  expectBinary("hypot", DType::F32, {3e30, NaN}, {4e30, Inf},
               {static_cast<float>(5e30), Inf});
  expectBinary("add", DType::F32, {-0.0, -0.0}, {0.0, -0.0}, {0.0, -0.0});
}

TEST_F(Elementwise, BitsAndShifts) {
  expectBinary("and", DType::U8, {240}, {60}, {48});
  expectBinary("or", DType::I8, {-128}, {1}, {-127});
  expectBinary("xor", DType::Bool, {0, 1, 1}, {1, 1, 0}, {1, 0, 1});
  expectBinary("shift_left", DType::I64, {1000, 1, 1}, {64, -1, 3}, {0, 0, 8});
  expectBinary("shift_left", DType::I8, {1, 1, 3}, {7, 8, 7}, {-128, 0, -128});
  expectBinary("shift_right", DType::I32, {-8, -8, 8, 8}, {1, 32, 40, -1},
               {-4, -1, 0, 0});
  expectBinary("shift_right", DType::U8, {200, 200}, {1, 8}, {100, 0});
}

TEST_F(Elementwise, CompareAndSelect) {
  Tensor x(DType::F32, {3}, {NaN, -0.0, 1}), y(DType::F32, {3}, {NaN, 0.0, 2});
  auto compare = [&](const char *kind) {
    return evaluateOp(std::string("compare ") + kind + ", %0, %1",
                      "tensor<3xi1>", {x, y});
  };
  expectTensor(compare("eq"), {3}, {0, 1, 0});
  expectTensor(compare("ne"), {3}, {1, 0, 1});
  expectTensor(compare("lt"), {3}, {0, 0, 1});
  expectTensor(compare("ge"), {3}, {0, 1, 0});
  Tensor a(DType::U8, {1}, {200}), b(DType::U8, {1}, {100});
  expectTensor(evaluateOp("compare gt, %0, %1", "tensor<1xi1>", {a, b}), {1},
               {1});
  Tensor condition(DType::Bool, {3}, {1, 0, 1});
  expectTensor(
      evaluateOp("select %0, %1, %2", "tensor<3xf32>", {condition, x, y}), {3},
      {NaN, 0.0, 1});
}

TEST_F(Elementwise, UnequalRuntimeShapesAreAnError) {
  EXPECT_TRUE(evaluateAll(R"mlir(
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %0 = fusion.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    })mlir",
                          {Tensor(DType::F32, {2}), Tensor(DType::F32, {3})})
                  .empty());
  EXPECT_NE(errors.find("[2] and [3]"), std::string::npos) << errors;
}

//===- EvaluateOpsTest.cpp - views, reductions, contractions, norms -------===//
//
// Expectations are worked out by hand from the dialect's definition.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Interpreter/Interpreter.h"

using namespace fusion::interpreter;

namespace {
class Ops : public Evaluation {
protected:
  /// 0, 1, 2, ... of these sizes.
  static Tensor counting(DType dtype, std::initializer_list<int64_t> sizes) {
    Tensor tensor(dtype, sizes);
    for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i)
      if (isFloat(dtype))
        tensor.floats()[i] = i;
      else
        tensor.ints()[i] = i;
    return tensor;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

TEST_F(Ops, Constants) {
  auto constant = [&](const char *value, const char *type) {
    return evaluateText(std::string("func.func @main() -> ") + type +
                            " {\n %0 = fusion.constant " + value + " : " +
                            type + "\n return %0 : " + type + "\n}",
                        {});
  };
  expectTensor(constant("dense<[1.5, 0xFF800000]>", "tensor<2xf32>"), {2},
               {1.5, -Inf});
  expectTensor(constant("dense<0.1>", "tensor<f16>"), {}, {0.0999755859375});
  expectTensor(constant("dense<[200, 0]>", "tensor<2xui8>"), {2}, {200, 0});
  expectTensor(constant("dense<-7>", "tensor<2x1xi16>"), {2, 1}, {-7, -7});
  expectTensor(constant("dense<[true, false]>", "tensor<2xi1>"), {2}, {1, 0});
  expectTensor(constant("dense<>", "tensor<0xf64>"), {0}, {});
}

TEST_F(Ops, Iota) {
  expectTensor(evaluateOp("iota {dim = 1 : i64}", "tensor<2x3xi32>", {}),
               {2, 3}, {0, 1, 2, 0, 1, 2});
  expectTensor(evaluateText(R"mlir(
    func.func @main(%x: tensor<?x2xi1>) -> tensor<?x2xf16> {
      %0 = fusion.iota %x {dim = 0 : i64} : (tensor<?x2xi1>) -> tensor<?x2xf16>
      return %0 : tensor<?x2xf16>
    })mlir",
                            {Tensor(DType::Bool, {3, 2})}),
               {3, 2}, {0, 0, 1, 1, 2, 2});
}

TEST_F(Ops, Broadcast) {
  expectTensor(evaluateOp("broadcast %0 {dims = array<i64: 1>}",
                          "tensor<2x3xi32>", {counting(DType::I32, {3})}),
               {2, 3}, {0, 1, 2, 0, 1, 2});
  expectTensor(evaluateOp("broadcast %0 {dims = array<i64: 0, 1>}",
                          "tensor<2x3xi32>", {counting(DType::I32, {2, 1})}),
               {2, 3}, {0, 0, 0, 1, 1, 1});
}

// A symbolic size that happens to be 1 is repeated.
TEST_F(Ops, BroadcastOfRuntimeOne) {
  const char *text = R"mlir(
    func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
      %0 = fusion.broadcast %x, %y {dims = array<i64: 0, 1>}
          : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
      return %0 : tensor<?x2xf32>
    })mlir";
  expectTensor(evaluateText(text, {counting(DType::F32, {1, 2}),
                                   Tensor(DType::F32, {2, 2})}),
               {2, 2}, {0, 1, 0, 1});
  EXPECT_TRUE(evaluateAll(text, {counting(DType::F32, {3, 2}),
                                 Tensor(DType::F32, {2, 2})})
                  .empty());
  EXPECT_NE(errors.find("does not broadcast"), std::string::npos) << errors;
}

TEST_F(Ops, TransposeSliceReverse) {
  Tensor x = counting(DType::I64, {2, 3});
  expectTensor(evaluateOp("transpose %0 {permutation = array<i64: 1, 0>}",
                          "tensor<3x2xi64>", {x}),
               {3, 2}, {0, 3, 1, 4, 2, 5});
  expectTensor(evaluateOp("slice %0 {starts = array<i64: 1, 0>, steps = "
                          "array<i64: 1, 2>}",
                          "tensor<1x2xi64>", {x}),
               {1, 2}, {3, 5});
  expectTensor(evaluateOp("reverse %0 {dims = array<i64: 0, 1>}",
                          "tensor<2x3xi64>", {x}),
               {2, 3}, {5, 4, 3, 2, 1, 0});
  Tensor scalar(DType::F32, {}, {5});
  expectTensor(
      evaluateOp("reverse %0 {dims = array<i64>}", "tensor<f32>", {scalar}), {},
      {5});
}

TEST_F(Ops, SymbolicSliceRunsToTheEnd) {
  const char *text = R"mlir(
    func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
      %0 = fusion.slice %x {starts = array<i64: 1>, steps = array<i64: 2>}
          : (tensor<?xi32>) -> tensor<?xi32>
      return %0 : tensor<?xi32>
    })mlir";
  expectTensor(evaluateText(text, {counting(DType::I32, {6})}), {3}, {1, 3, 5});
  expectTensor(evaluateText(text, {counting(DType::I32, {1})}), {0}, {});
}

TEST_F(Ops, Reshape) {
  expectTensor(evaluateOp("reshape %0", "tensor<3x2xi32>",
                          {counting(DType::I32, {2, 3})}),
               {3, 2}, {0, 1, 2, 3, 4, 5});
  expectTensor(evaluateText(R"mlir(
    func.func @main(%x: tensor<?x6xi32>) -> tensor<?x2x3xi32> {
      %0 = fusion.reshape %x : (tensor<?x6xi32>) -> tensor<?x2x3xi32>
      return %0 : tensor<?x2x3xi32>
    })mlir",
                            {counting(DType::I32, {1, 6})}),
               {1, 2, 3}, {0, 1, 2, 3, 4, 5});
  // Two unknown sizes: one has a name that another argument binds.
  expectTensor(
      evaluateText(R"mlir(
    !named = tensor<?x?xi32, #fusion.layout<symbols = ["M", ""]>>
    func.func @main(%x: tensor<?xi32>,
                    %y: tensor<?xi32, #fusion.layout<symbols = ["M"]>>) -> !named {
      %0 = fusion.reshape %x : (tensor<?xi32>) -> !named
      return %0 : !named
    })mlir",
                   {counting(DType::I32, {6}), Tensor(DType::I32, {3})}),
      {3, 2}, {0, 1, 2, 3, 4, 5});
}

TEST_F(Ops, Pad) {
  Tensor x(DType::F32, {4}, {1, 2, 3, 4}), value(DType::F32, {}, {-9});
  auto pad = [&](const char *low, const char *high, const char *type) {
    return evaluateOp(std::string("pad %0, %1 {low = array<i64: ") + low +
                          ">, high = array<i64: " + high + ">}",
                      type, {x, value});
  };
  expectTensor(pad("1", "2", "tensor<7xf32>"), {7}, {-9, 1, 2, 3, 4, -9, -9});
  expectTensor(pad("-1", "-2", "tensor<1xf32>"), {1}, {2});
  expectTensor(pad("-3", "2", "tensor<3xf32>"), {3}, {4, -9, -9});
  expectTensor(pad("-5", "3", "tensor<2xf32>"), {2}, {-9, -9});
  expectTensor(pad("2", "-5", "tensor<1xf32>"), {1}, {-9});
  expectTensor(pad("-4", "0", "tensor<0xf32>"), {0}, {});
}

TEST_F(Ops, Concat) {
  expectTensor(
      evaluateOp("concat %0, %1, %2 {dim = 1 : i64}", "tensor<2x3xi32>",
                 {counting(DType::I32, {2, 1}), Tensor(DType::I32, {2, 0}),
                  counting(DType::I32, {2, 2})}),
      {2, 3}, {0, 0, 1, 1, 2, 3});
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

TEST_F(Ops, Reduce) {
  Tensor x = counting(DType::F32, {2, 3});
  expectTensor(
      evaluateOp("reduce sum, %0 {dims = array<i64: 1>}", "tensor<2xf32>", {x}),
      {2}, {3, 12});
  expectTensor(
      evaluateOp("reduce max, %0 {dims = array<i64: 0>}", "tensor<3xf32>", {x}),
      {3}, {3, 4, 5});
  expectTensor(evaluateOp("reduce prod, %0 {dims = array<i64: 0, 1>}",
                          "tensor<f32>", {x}),
               {}, {0});
  Tensor middle = counting(DType::I32, {2, 2, 2});
  expectTensor(evaluateOp("reduce sum, %0 {dims = array<i64: 0, 2>}",
                          "tensor<2xi32>", {middle}),
               {2}, {0 + 1 + 4 + 5, 2 + 3 + 6 + 7});
}

TEST_F(Ops, ReduceCorners) {
  Tensor special(DType::F32, {2, 3}, {1, NaN, 3, -0.0, 0.0, -0.0});
  auto reduce = [&](const char *kind, const Tensor &x, const char *type) {
    return evaluateOp(std::string("reduce ") + kind +
                          ", %0 {dims = array<i64: 1>}",
                      type, {x});
  };
  expectTensor(reduce("min", special, "tensor<2xf32>"), {2}, {NaN, -0.0});
  expectTensor(reduce("max", special, "tensor<2xf32>"), {2}, {NaN, 0.0});
  Tensor bytes(DType::I8, {1, 3}, {100, 100, 100});
  expectTensor(reduce("sum", bytes, "tensor<1xi8>"), {1}, {44});
  expectTensor(reduce("prod", bytes, "tensor<1xi8>"), {1}, {64});
  expectTensor(
      reduce("max", Tensor(DType::U8, {1, 2}, {200, 100}), "tensor<1xui8>"),
      {1}, {200});
  Tensor bools(DType::Bool, {2, 2}, {0, 1, 1, 1});
  expectTensor(reduce("all", bools, "tensor<2xi1>"), {2}, {0, 1});
  expectTensor(reduce("any", bools, "tensor<2xi1>"), {2}, {1, 1});
  // In f16 the running sum would stay at 2048.
  Tensor half(DType::F16, {1, 2050});
  llvm::fill(half.floats(), 1);
  expectTensor(reduce("sum", half, "tensor<1xf16>"), {1}, {2050});
}

TEST_F(Ops, ReduceOfNothing) {
  Tensor empty(DType::F32, {2, 0}), bools(DType::Bool, {2, 0});
  auto reduce = [&](const char *kind, const Tensor &x, const char *type) {
    return evaluateOp(std::string("reduce ") + kind +
                          ", %0 {dims = array<i64: 1>}",
                      type, {x});
  };
  expectTensor(reduce("sum", empty, "tensor<2xf32>"), {2}, {0, 0});
  expectTensor(reduce("prod", empty, "tensor<2xf32>"), {2}, {1, 1});
  expectTensor(reduce("any", bools, "tensor<2xi1>"), {2}, {0, 0});
  expectTensor(reduce("all", bools, "tensor<2xi1>"), {2}, {1, 1});
  EXPECT_TRUE(evaluateAll(R"mlir(
    func.func @main(%x: tensor<2x?xf32>) -> tensor<2xf32> {
      %0 = fusion.reduce max, %x {dims = array<i64: 1>} : (tensor<2x?xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })mlir",
                          {empty})
                  .empty());
  EXPECT_NE(errors.find("has no value"), std::string::npos) << errors;
}

TEST_F(Ops, ArgReduce) {
  Tensor x(DType::F32, {4, 4},
           {1, 5, 5, 3, 2, NaN, 9, NaN, -0.0, 0.0, -1, -1, 7, 7, 7, 7});
  auto arg = [&](const char *kind, const char *type) {
    return evaluateOp(
        std::string("arg_reduce ") + kind + ", %0 {dim = 1 : i64}", type, {x});
  };
  expectTensor(arg("max", "tensor<4xi64>"), {4}, {1, 1, 0, 0});
  expectTensor(arg("min", "tensor<4xi32>"), {4}, {0, 1, 2, 0});
  expectTensor(evaluateOp("arg_reduce min, %0 {dim = 1 : i64}", "tensor<0xi64>",
                          {Tensor(DType::F32, {0, 3})}),
               {0}, {});
  // Along the first dimension.
  expectTensor(evaluateOp("arg_reduce max, %0 {dim = 0 : i64}", "tensor<2xi64>",
                          {Tensor(DType::U8, {3, 2}, {1, 9, 200, 3, 4, 9})}),
               {2}, {1, 0});
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

TEST_F(Ops, AveragePoolDivisors) {
  // Window 3, stride 2, padding 1 and rounding up over ones: with the padding
  // counted an element is the share of the window that is no padding.
  Tensor ones(DType::F32, {6, 6});
  llvm::fill(ones.floats(), 36);
  auto pool = [&](const char *flags) {
    return evaluateOp(
        std::string("pool avg, %0 {window = array<i64: 3, 3>, strides = "
                    "array<i64: 2, 2>, pad_low = array<i64: 1, 1>, pad_high = "
                    "array<i64: 1, 1>, dilations = array<i64: 1, 1>") +
            flags + "}",
        "tensor<4x4xf32>", {ones});
  };
  // The last window starts at 5 and has the element 5 and one of padding: an
  // edge divides by 6, the corner by 4.
  expectTensor(pool(", ceil_mode, count_include_pad"), {4, 4},
               {16, 24, 24, 12, 24, 36, 36, 18, 24, 36, 36, 18, 12, 18, 18, 9});
  expectTensor(
      pool(", ceil_mode"), {4, 4},
      {36, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36});
}

TEST_F(Ops, MaxPool) {
  // Window 1, stride 2 and rounding up: no window of padding only.
  expectTensor(
      evaluateOp(
          "pool max, %0 {window = array<i64: 1, 1>, strides = array<i64: "
          "2, 2>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, "
          "0>, dilations = array<i64: 1, 1>, ceil_mode}",
          "tensor<2x3xf32>", {counting(DType::F32, {3, 6})}),
      {2, 3}, {0, 2, 4, 12, 14, 16});
  // Padding never wins, NaN does.
  Tensor x(DType::F32, {4}, {-5, -3, NaN, -7});
  expectTensor(
      evaluateOp(
          "pool max, %0 {window = array<i64: 3>, strides = array<i64: 1>, "
          "pad_low = array<i64: 2>, pad_high = array<i64: 0>, dilations = "
          "array<i64: 1>}",
          "tensor<4xf32>", {x}),
      {4}, {-5, -3, NaN, NaN});
  // Dilation 2 reads every other element.
  expectTensor(
      evaluateOp(
          "pool max, %0 {window = array<i64: 2>, strides = array<i64: 1>, "
          "pad_low = array<i64: 0>, pad_high = array<i64: 0>, dilations = "
          "array<i64: 2>}",
          "tensor<2xi8>", {Tensor(DType::I8, {4}, {-1, 9, -128, 3})}),
      {2}, {-1, 9});
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

TEST_F(Ops, Matmul) {
  Tensor a = counting(DType::F32, {2, 3}), b = counting(DType::F32, {3, 2});
  expectTensor(evaluateOp("matmul %0, %1", "tensor<2x2xf32>", {a, b}), {2, 2},
               {10, 13, 28, 40});
  expectTensor(
      evaluateOp("matmul %0, %1 {transpose_rhs}", "tensor<2x2xf32>", {a, a}),
      {2, 2}, {5, 14, 14, 50});
  expectTensor(
      evaluateOp("matmul %0, %1 {transpose_lhs}", "tensor<3x3xf32>", {a, a}),
      {3, 3}, {9, 12, 15, 12, 17, 22, 15, 22, 29});
  expectTensor(evaluateOp("matmul %0, %1", "tensor<2x1x1xi32>",
                          {counting(DType::I32, {2, 1, 2}),
                           counting(DType::I32, {2, 2, 1})}),
               {2, 1, 1}, {1, 13});
}

TEST_F(Ops, MatmulTypes) {
  Tensor bytes(DType::I8, {1, 2}, {100, 100});
  expectTensor(evaluateOp("matmul %0, %1 {transpose_rhs}", "tensor<1x1xi32>",
                          {bytes, bytes}),
               {1, 1}, {20000});
  expectTensor(evaluateOp("matmul %0, %1 {transpose_rhs}", "tensor<1x1xi8>",
                          {bytes, bytes}),
               {1, 1}, {32});
  Tensor half(DType::F16, {1, 2}, {300, 300});
  expectTensor(evaluateOp("matmul %0, %1 {transpose_rhs}", "tensor<1x1xf32>",
                          {half, half}),
               {1, 1}, {180000});
  expectTensor(evaluateOp("matmul %0, %1 {transpose_rhs}", "tensor<1x1xf16>",
                          {half, half}),
               {1, 1}, {Inf});
  // Nothing summed is 0.
  expectTensor(
      evaluateOp("matmul %0, %1", "tensor<1x2xf32>",
                 {Tensor(DType::F32, {1, 0}), Tensor(DType::F32, {0, 2})}),
      {1, 2}, {0, 0});
}

TEST_F(Ops, Convolution) {
  auto conv = [&](llvm::ArrayRef<Tensor> operands, const char *attributes,
                  const char *type) {
    const char *names = operands.size() == 3 ? "%0, %1, %2" : "%0, %1";
    return evaluateOp(std::string("conv ") + names + " {" + attributes + "}",
                      type, operands);
  };
  // One dimension, stride 2, asymmetric padding and a bias.
  expectTensor(conv({Tensor(DType::F32, {1, 1, 5}, {1, 2, 3, 4, 5}),
                     Tensor(DType::F32, {1, 1, 3}, {1, 10, 100}),
                     Tensor(DType::F32, {1}, {0.5})},
                    "strides = array<i64: 2>, pad_low = array<i64: 1>, "
                    "pad_high = array<i64: 0>, dilations = array<i64: 1>",
                    "tensor<1x1x2xf32>"),
               {1, 1, 2}, {210.5, 432.5});
  // Two dimensions, dilation 2.
  expectTensor(conv({counting(DType::I32, {1, 1, 3, 3}),
                     Tensor(DType::I32, {1, 1, 2, 2}, {1, 2, 3, 4})},
                    "strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, "
                    "pad_high = array<i64: 0, 0>, dilations = array<i64: 2, 2>",
                    "tensor<1x1x1x1xi32>"),
               {1, 1, 1, 1}, {0 * 1 + 2 * 2 + 6 * 3 + 8 * 4});
  // Two groups of one channel, two features each.
  expectTensor(
      conv({Tensor(DType::F32, {1, 2, 1}, {3, 5}),
            Tensor(DType::F32, {4, 1, 1}, {1, 2, 3, 4})},
           "strides = array<i64: 1>, pad_low = array<i64: 0>, pad_high "
           "= array<i64: 0>, dilations = array<i64: 1>, groups = 2 : "
           "i64",
           "tensor<1x4x1xf32>"),
      {1, 4, 1}, {3, 6, 15, 20});
  // Three dimensions: the sum of a cube, over two channels.
  expectTensor(
      conv({counting(DType::F64, {1, 2, 2, 2, 2}),
            Tensor(DType::F64, {1, 2, 2, 2, 2},
                   {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2})},
           "strides = array<i64: 1, 1, 1>, pad_low = array<i64: 0, 0, 0>, "
           "pad_high = array<i64: 0, 0, 0>, dilations = array<i64: 1, 1, 1>",
           "tensor<1x1x1x1x1xf64>"),
      {1, 1, 1, 1, 1}, {28 + 2 * 92});
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

TEST_F(Ops, Softmax) {
  Tensor x(DType::F32, {4, 2}, {1000, 1000, -Inf, 0, Inf, 1, -Inf, -Inf});
  expectTensor(evaluateOp("softmax %0 {dim = 1 : i64}", "tensor<4x2xf32>", {x}),
               {4, 2}, {0.5, 0.5, 0, 1, NaN, NaN, NaN, NaN});
  expectTensor(evaluateOp("softmax %0 {dim = 0 : i64}", "tensor<2x2xf64>",
                          {Tensor(DType::F64, {2, 2}, {0, 5, 0, 5})}),
               {2, 2}, {0.5, 0.5, 0.5, 0.5});
  // -log 2 and, in the second row, values that exp would overflow on.
  expectTensor(evaluateOp("log_softmax %0 {dim = 1 : i64}", "tensor<2x2xf32>",
                          {Tensor(DType::F32, {2, 2}, {3, 3, 1e30, -1e30})}),
               {2, 2},
               {-0.693147182464599609375, -0.693147182464599609375, 0.0,
                static_cast<float>(-2e30)});
}

TEST_F(Ops, LayerNorm) {
  Tensor x(DType::F32, {2, 2}, {1, 3, 8.5e37, 8.5e37}),
      weight(DType::F32, {2}, {2, 3}), bias(DType::F32, {2}, {10, 20});
  expectTensor(
      evaluateOp("layer_norm %0, %1, %2 {axis = 1 : i64, epsilon = 0.0 : f64}",
                 "tensor<2x2xf32>",
                 {Tensor(DType::F32, {2, 2}, {1, 3, 5, 7}), weight, bias}),
      {2, 2}, {8, 23, 8, 23});
  // A constant row near the largest float is the bias.
  Tensor result = evaluateOp(
      "layer_norm %0, %1, %2 {axis = 1 : i64, epsilon = 1.0e-5 : f64}",
      "tensor<2x2xf32>", {x, weight, bias});
  EXPECT_EQ(result.floats()[2], 10);
  EXPECT_EQ(result.floats()[3], 20);
}

TEST_F(Ops, OtherNorms) {
  expectTensor(
      evaluateOp("rms_norm %0, %1 {axis = 1 : i64, epsilon = 0.0 : f64}",
                 "tensor<1x2xf64>",
                 {Tensor(DType::F64, {1, 2}, {-4, 4}),
                  Tensor(DType::F64, {2}, {1, 0.5})}),
      {1, 2}, {-1, 0.5});
  // Two groups of two channels; the scale is per channel.
  expectTensor(
      evaluateOp("group_norm %0, %1 {groups = 2 : i64, epsilon = 0.0 : f64}",
                 "tensor<1x4x1xf64>",
                 {Tensor(DType::F64, {1, 4, 1}, {1, 3, 10, 20}),
                  Tensor(DType::F64, {4}, {1, 2, 3, 4})}),
      {1, 4, 1}, {-1, 2, -3, 4});
  expectTensor(evaluateOp("batch_norm %0, %1, %2 {epsilon = 0.0 : f64}",
                          "tensor<1x2x2xf64>",
                          {Tensor(DType::F64, {1, 2, 2}, {1, 2, 3, 4}),
                           Tensor(DType::F64, {2}, {1, 3}),
                           Tensor(DType::F64, {2}, {1, 0.25})}),
               {1, 2, 2}, {0, 1, 0, 2});
}

//===----------------------------------------------------------------------===//
// Graphs and arguments
//===----------------------------------------------------------------------===//

TEST_F(Ops, GroupsAndManyResults) {
  llvm::SmallVector<Tensor> results =
      evaluateAll(R"mlir(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0:2 = fusion.group "both" (%a = %x : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
        %1 = fusion.neg %a : (tensor<2xf32>) -> tensor<2xf32>
        %2 = fusion.mul %1, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        fusion.yield %1, %2 : tensor<2xf32>, tensor<2xf32>
      }
      return %0#1, %0#0 : tensor<2xf32>, tensor<2xf32>
    })mlir",
                  {Tensor(DType::F32, {2}, {1, 3})});
  EXPECT_EQ(errors, "");
  ASSERT_EQ(results.size(), 2u);
  expectTensor(results[0], {2}, {1, 9});
  expectTensor(results[1], {2}, {-1, -3});
}

TEST_F(Ops, WrongArguments) {
  const char *text = R"mlir(
    !n = tensor<?xf32, #fusion.layout<symbols = ["N"]>>
    func.func @main(%x: !n, %y: !n, %z: tensor<2xi32>) -> !n {
      return %x : !n
    })mlir";
  Tensor two(DType::F32, {2}), three(DType::F32, {3}), ints(DType::I32, {2});
  auto expectError = [&](llvm::ArrayRef<Tensor> arguments,
                         const char *expected) {
    EXPECT_TRUE(evaluateAll(text, arguments).empty());
    EXPECT_NE(errors.find(expected), std::string::npos) << errors;
  };
  expectError({two, two}, "takes 3 arguments, got 2");
  expectError({two, ints, ints}, "element type i32, expected");
  expectError({two, three, ints}, "symbol 'N'");
  expectError({two, two, Tensor(DType::I32, {3})}, "size 2 of dimension 0");
  expectError({two, two, Tensor(DType::I32, {2, 1})}, "has rank 1");
}

TEST_F(Ops, ForeignOpsAreAnError) {
  EXPECT_TRUE(evaluateAll(R"mlir(
    func.func private @other() -> tensor<f32>
    func.func @main() -> tensor<f32> {
      %0 = func.call @other() : () -> tensor<f32>
      return %0 : tensor<f32>
    })mlir",
                          {})
                  .empty());
  EXPECT_NE(errors.find("no reference evaluation"), std::string::npos)
      << errors;
}

//===- DecomposeTest.cpp - composites written out, by numbers -------------===//
//
// The reference evaluator knows composites as such and computes them in double;
// what fusion-decompose makes of them must agree within the rounding of the
// element type, and exactly in where NaN and infinities stand; so must what
// fusion-simplify then makes of it with all rewrites at work together.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Interpreter/Interpreter.h"
#include "fusion/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include <random>

using namespace fusion;
using namespace fusion::interpreter;
using namespace mlir;

namespace {

class Decompose : public Evaluation {
protected:
  /// Evaluates `@main` as written and decomposed and compares.
  void check(StringRef text, ArrayRef<Tensor> arguments) {
    SCOPED_TRACE(text.str());
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto function = module->lookupSymbol<func::FuncOp>("main");
    auto expected = evaluate(function, arguments);
    ASSERT_TRUE(succeeded(expected));

    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createDecomposePass());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    function.walk([](Operation *op) {
      EXPECT_FALSE((isa<SoftmaxOp, LogSoftmaxOp, LayerNormOp, RmsNormOp,
                        GroupNormOp, BatchNormOp>(op)));
    });
    expectNear(*expected, evaluate(function, arguments));

    PassManager simplify(&context);
    simplify.addNestedPass<func::FuncOp>(createSimplifyPass());
    ASSERT_TRUE(succeeded(simplify.run(*module)));
    expectNear(*expected, evaluate(function, arguments));
  }

  /// As `check`, with random arguments; `T` in the text is each float type.
  void checkTypes(std::string text, ArrayRef<SmallVector<int64_t>> sizes) {
    const std::pair<const char *, DType> types[] = {{"f64", DType::F64},
                                                    {"f32", DType::F32},
                                                    {"f16", DType::F16},
                                                    {"bf16", DType::BF16}};
    for (auto [name, dtype] : types) {
      std::string typed;
      for (char c : text)
        typed += c == 'T' ? std::string(name) : std::string(1, c);
      SmallVector<Tensor> arguments;
      for (const auto &argumentSizes : sizes)
        arguments.push_back(getRandom(dtype, argumentSizes));
      check(typed, arguments);
    }
  }

  /// Positive, as variances are, and around 1.
  Tensor getRandom(DType dtype, ArrayRef<int64_t> sizes) {
    std::uniform_real_distribution<double> uniform(0.1, 3);
    Tensor tensor(dtype, sizes);
    for (double &value : tensor.floats())
      value = uniform(random);
    return std::move(tensor).normalize();
  }

private:
  void expectNear(ArrayRef<Tensor> expected,
                  FailureOr<SmallVector<Tensor>> actual) {
    ASSERT_TRUE(succeeded(actual));
    const Tensor &left = expected.front(), &right = actual->front();
    ASSERT_EQ(left.getSizes(), right.getSizes());
    for (int64_t i = 0, e = left.getNumElements(); i < e; ++i)
      EXPECT_TRUE(isNear(left.floats()[i], right.floats()[i],
                         getTolerance(left.getDType())))
          << "element " << i << ": " << left.floats()[i] << " became "
          << right.floats()[i];
  }

  static double getTolerance(DType dtype) {
    switch (dtype) {
    case DType::F64:
      return 1e-13;
    case DType::F32:
      return 2e-6;
    case DType::F16:
      return 1.0 / 1024;
    default:
      return 1.0 / 128;
    }
  }
  static bool isNear(double a, double b, double tolerance) {
    if (!std::isfinite(a) || !std::isfinite(b))
      return isSame(a, b);
    return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(a));
  }

  std::mt19937_64 random{23};
};

} // namespace

TEST_F(Decompose, Softmax) {
  for (StringRef op : {"softmax", "log_softmax"}) {
    checkTypes(("func.func @main(%x: tensor<3x5xT>) -> tensor<3x5xT> {\n"
                "%y = fusion." +
                op +
                " %x {dim = 0 : i64} : (tensor<3x5xT>) -> tensor<3x5xT>\n"
                "return %y : tensor<3x5xT>\n}")
                   .str(),
               {{3, 5}});
    std::string symbolic =
        ("func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {\n"
         "%y = fusion." +
         op +
         " %x {dim = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>\n"
         "return %y : tensor<?x?xf32>\n}")
            .str();
    check(symbolic, {Tensor(DType::F32, {6, 3},
                            {1e30, -1e30, 0, NaN, 0, 1, Inf, 0, 1, -Inf, -Inf,
                             -Inf, -Inf, 2, 3, 88, 89, 1000})});
  }
}

TEST_F(Decompose, LayerNorm) {
  checkTypes("func.func @main(%x: tensor<3x4x5xT>, %w: tensor<4x5xT>, %b: "
             "tensor<4x5xT>) -> tensor<3x4x5xT> {\n"
             "%y = fusion.layer_norm %x, %w, %b {axis = 1 : i64, epsilon = "
             "1.0e-5 : f64} : (tensor<3x4x5xT>, tensor<4x5xT>, tensor<4x5xT>) "
             "-> tensor<3x4x5xT>\n"
             "return %y : tensor<3x4x5xT>\n}",
             {{3, 4, 5}, {4, 5}, {4, 5}});
  checkTypes("func.func @main(%x: tensor<?x?xT>, %w: tensor<?xT>) -> "
             "tensor<?x?xT> {\n"
             "%y = fusion.layer_norm %x, %w {axis = 1 : i64, epsilon = 1.0e-5 "
             ": f64} : (tensor<?x?xT>, tensor<?xT>) -> tensor<?x?xT>\n"
             "return %y : tensor<?x?xT>\n}",
             {{3, 7}, {7}});
}

// The sum of these rows is beyond f32, their mean is not.
TEST_F(Decompose, LargeRows) {
  check("func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {\n"
        "%y = fusion.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-5 : f64} : "
        "(tensor<2x4xf32>) -> tensor<2x4xf32>\n"
        "return %y : tensor<2x4xf32>\n}",
        {Tensor(DType::F32, {2, 4},
                {3e38, 3e38, 3e38, 3e38, 1e18, 2e18, 3e18, 4e18})});
}

TEST_F(Decompose, RmsNorm) {
  checkTypes("func.func @main(%x: tensor<3x8xT>, %w: tensor<8xT>) -> "
             "tensor<3x8xT> {\n"
             "%y = fusion.rms_norm %x, %w {axis = 1 : i64, epsilon = 1.0e-6 : "
             "f64} : (tensor<3x8xT>, tensor<8xT>) -> tensor<3x8xT>\n"
             "return %y : tensor<3x8xT>\n}",
             {{3, 8}, {8}});
}

TEST_F(Decompose, GroupNorm) {
  checkTypes("func.func @main(%x: tensor<2x6x3x2xT>, %w: tensor<6xT>, %b: "
             "tensor<6xT>) -> tensor<2x6x3x2xT> {\n"
             "%y = fusion.group_norm %x, %w, %b {groups = 3 : i64, epsilon = "
             "1.0e-5 : f64} : (tensor<2x6x3x2xT>, tensor<6xT>, tensor<6xT>) -> "
             "tensor<2x6x3x2xT>\n"
             "return %y : tensor<2x6x3x2xT>\n}",
             {{2, 6, 3, 2}, {6}, {6}});
  for (const char *type :
       {"tensor<?x6x3x2xT>", "tensor<?x6x3x?xT>", "tensor<?x6x?x2xT>",
        "tensor<2x?x3x2xT>", "tensor<?x6x?x?xT>"}) {
    std::string parameter = StringRef(type).starts_with("tensor<2x?")
                                ? "tensor<?xT>"
                                : "tensor<6xT>";
    checkTypes("func.func @main(%x: " + std::string(type) +
                   ", %w: " + parameter + ") -> " + type +
                   " {\n%y = fusion.group_norm %x, %w {groups = 2 : i64, "
                   "epsilon = 1.0e-5 : f64} : (" +
                   type + ", " + parameter + ") -> " + type +
                   "\nreturn %y : " + type + "\n}",
               {{2, 6, 3, 2}, {6}});
  }
}

TEST_F(Decompose, BatchNorm) {
  checkTypes("func.func @main(%x: tensor<2x3x4xT>, %m: tensor<3xT>, %v: "
             "tensor<3xT>, %w: tensor<3xT>, %b: tensor<3xT>) -> "
             "tensor<2x3x4xT> {\n"
             "%y = fusion.batch_norm %x, %m, %v, %w, %b {epsilon = 1.0e-5 : "
             "f64} : (tensor<2x3x4xT>, tensor<3xT>, tensor<3xT>, tensor<3xT>, "
             "tensor<3xT>) -> tensor<2x3x4xT>\n"
             "return %y : tensor<2x3x4xT>\n}",
             {{2, 3, 4}, {3}, {3}, {3}, {3}});
  checkTypes("func.func @main(%x: tensor<?x?xT>, %m: tensor<?xT>) -> "
             "tensor<?x?xT> {\n"
             "%y = fusion.batch_norm %x, %m, %m {epsilon = 1.0e-5 : f64} : "
             "(tensor<?x?xT>, tensor<?xT>, tensor<?xT>) -> tensor<?x?xT>\n"
             "return %y : tensor<?x?xT>\n}",
             {{2, 3}, {3}});
}

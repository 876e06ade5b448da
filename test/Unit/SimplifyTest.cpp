//===- SimplifyTest.cpp - every rewrite of fusion-simplify, by numbers ----===//
//
// Each rewrite alone must change its graph and leave every bit of the result
// unchanged, on random data mixed with the corner values of the element type.
//
//===----------------------------------------------------------------------===//

#include "fusion/Transforms/Simplify.h"
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

/// A graph that one rewrite applies to. `T` stands for the element type, `ONE`,
/// `TWO`, `ZERO` and `MZERO` (-0.0) for its constants.
struct Case {
  const char *rewrite;
  const char *types;
  const char *parameters;
  const char *result;
  const char *body;
};

constexpr const char *floats = "f32 f64 f16 bf16";
constexpr const char *integers = "i8 i16 i32 i64 ui8";
constexpr const char *numbers = "f32 f64 f16 bf16 i8 i16 i32 i64 ui8";

#define V "tensor<48xT>"
#define VV "(" V ", " V ") -> " V
#define CONSTANT(name, value)                                                  \
  "%" name " = fusion.constant dense<" value "> : " V "\n"

const Case cases[] = {
    {"mul-by-one", numbers, "%x: " V, V,
     CONSTANT("c", "ONE") "%r = fusion.mul %c, %x : " VV},
    {"div-by-one", numbers, "%x: " V, V,
     CONSTANT("c", "ONE") "%r = fusion.div %x, %c : " VV},
    {"mul-by-zero", integers, "%x: " V, V,
     CONSTANT("c", "ZERO") "%r = fusion.mul %x, %c : " VV},
    {"add-zero", integers, "%x: " V, V,
     CONSTANT("c", "ZERO") "%r = fusion.add %x, %c : " VV},
    {"add-zero", floats, "%x: " V, V,
     CONSTANT("c", "MZERO") "%r = fusion.add %x, %c : " VV},
    {"sub-zero", numbers, "%x: " V, V,
     CONSTANT("c", "ZERO") "%r = fusion.sub %x, %c : " VV},
    {"double-neg", numbers, "%x: " V, V,
     "%0 = fusion.neg %x : (" V ") -> " V "\n"
     "%r = fusion.neg %0 : (" V ") -> " V},
    {"add-neg", numbers, "%x: " V ", %y: " V, V,
     "%0 = fusion.neg %x : (" V ") -> " V "\n"
     "%r = fusion.add %0, %y : " VV},
    {"sub-neg", numbers, "%x: " V ", %y: " V, V,
     "%0 = fusion.neg %x : (" V ") -> " V "\n"
     "%r = fusion.sub %y, %0 : " VV},
    {"abs-neg", "f32 f64 f16 bf16 i8 i16 i32 i64", "%x: " V, V,
     "%0 = fusion.neg %x : (" V ") -> " V "\n"
     "%r = fusion.abs %0 : (" V ") -> " V},
    {"div-by-power-of-two", floats, "%x: " V, V,
     CONSTANT("c", "2.5e-1") "%r = fusion.div %x, %c : " VV},
    {"pow-small", numbers, "%x: " V, V,
     CONSTANT("c", "TWO") "%r = fusion.pow %x, %c : " VV},
    {"pow-small", numbers, "%x: " V, V,
     CONSTANT("c", "ONE") "%r = fusion.pow %x, %c : " VV},
    {"relu-of-relu", numbers, "%x: " V, V,
     "%0 = fusion.relu %x : (" V ") -> " V "\n"
     "%r = fusion.relu %0 : (" V ") -> " V},

    {"convert-of-convert", "f16 bf16 f32", "%x: " V, "tensor<48xi8>",
     "%0 = fusion.convert %x : (" V ") -> tensor<48xf64>\n"
     "%r = fusion.convert %0 : (tensor<48xf64>) -> tensor<48xi8>"},
    {"convert-of-convert", "f16 bf16 i8 i16 ui8", "%x: " V, V,
     "%0 = fusion.convert %x : (" V ") -> tensor<48xf32>\n"
     "%r = fusion.convert %0 : (tensor<48xf32>) -> " V},
    {"convert-of-convert", "i8 i16 i32 ui8", "%x: " V, "tensor<48xui8>",
     "%0 = fusion.convert %x : (" V ") -> tensor<48xi64>\n"
     "%r = fusion.convert %0 : (tensor<48xi64>) -> tensor<48xui8>"},
    {"convert-of-convert", "f16 bf16 i8 ui8", "%x: " V, "tensor<48xi1>",
     "%0 = fusion.convert %x : (" V ") -> tensor<48xf64>\n"
     "%r = fusion.convert %0 : (tensor<48xf64>) -> tensor<48xi1>"},

    {"bits-with-constant", integers, "%x: " V, V,
     CONSTANT("c", "ZERO") "%r = fusion.and %x, %c : " VV},
    {"bits-with-constant", integers, "%x: " V, V,
     CONSTANT("c", "ZERO") "%r = fusion.or %c, %x : " VV},
    {"bits-with-constant", integers, "%x: " V, V,
     CONSTANT("c", "ZERO") "%r = fusion.xor %x, %c : " VV},
    {"bits-with-constant", "i8 i16 i32 i64", "%x: " V, V,
     CONSTANT("c", "-1") "%r = fusion.and %x, %c : " VV},
    {"bits-with-constant", "ui8", "%x: " V, V,
     CONSTANT("c", "255") "%r = fusion.or %x, %c : " VV},
    {"idempotent", numbers, "%x: " V, V, "%r = fusion.min %x, %x : " VV},
    {"idempotent", numbers, "%x: " V, V, "%r = fusion.max %x, %x : " VV},
    {"idempotent", integers, "%x: " V, V, "%r = fusion.and %x, %x : " VV},
    {"idempotent", integers, "%x: " V, V, "%r = fusion.or %x, %x : " VV},
    {"cancel-same", integers, "%x: " V, V, "%r = fusion.xor %x, %x : " VV},
    {"cancel-same", integers, "%x: " V, V, "%r = fusion.sub %x, %x : " VV},
    {"double-not", integers, "%x: " V, V,
     "%0 = fusion.not %x : (" V ") -> " V "\n"
     "%r = fusion.not %0 : (" V ") -> " V},
    {"not-of-compare", integers, "%x: " V ", %y: " V, "tensor<48xi1>",
     "%0 = fusion.compare lt, %x, %y : (" V ", " V ") -> tensor<48xi1>\n"
     "%r = fusion.not %0 : (tensor<48xi1>) -> tensor<48xi1>"},
    {"not-of-compare", integers, "%x: " V ", %y: " V, "tensor<48xi1>",
     "%0 = fusion.compare ge, %x, %y : (" V ", " V ") -> tensor<48xi1>\n"
     "%r = fusion.not %0 : (tensor<48xi1>) -> tensor<48xi1>"},
    {"not-of-compare", numbers, "%x: " V ", %y: " V, "tensor<48xi1>",
     "%0 = fusion.compare eq, %x, %y : (" V ", " V ") -> tensor<48xi1>\n"
     "%r = fusion.not %0 : (tensor<48xi1>) -> tensor<48xi1>"},
    {"compare-same", integers, "%x: " V, "tensor<48xi1>",
     "%r = fusion.compare le, %x, %x : (" V ", " V ") -> tensor<48xi1>"},
    {"compare-same", numbers, "%x: " V, "tensor<48xi1>",
     "%r = fusion.compare gt, %x, %x : (" V ", " V ") -> tensor<48xi1>"},
    {"select-of-not", numbers, "%c: tensor<48xi1>, %x: " V ", %y: " V, V,
     "%0 = fusion.not %c : (tensor<48xi1>) -> tensor<48xi1>\n"
     "%r = fusion.select %0, %x, %y : (tensor<48xi1>, " V ", " V ") -> " V},
    {"select-of-bools", "i1", "%c: tensor<48xi1>", V,
     CONSTANT("t", "true")
         CONSTANT("f", "false") "%r = fusion.select %c, %f, %t : (" V ", " V
                                ", " V ") -> " V},
    {"select-of-splat", numbers, "%x: " V ", %y: " V, V,
     "%t = fusion.constant dense<true> : tensor<i1>\n"
     "%c = fusion.broadcast %t {dims = array<i64>} : (tensor<i1>) -> "
     "tensor<48xi1>\n"
     "%r = fusion.select %c, %x, %y : (tensor<48xi1>, " V ", " V ") -> " V},

    {"view-of-splat", numbers, "", "tensor<6x8xT>",
     "%c = fusion.constant dense<TWO> : tensor<T>\n"
     "%0 = fusion.broadcast %c {dims = array<i64>} : (tensor<T>) -> " V "\n"
     "%r = fusion.reshape %0 : (" V ") -> tensor<6x8xT>"},
    {"view-of-splat", numbers, "", "tensor<5xT>",
     "%c = fusion.constant dense<TWO> : tensor<2xT>\n"
     "%v = fusion.constant dense<TWO> : tensor<T>\n"
     "%r = fusion.pad %c, %v {low = array<i64: 1>, high = array<i64: 2>} : "
     "(tensor<2xT>, tensor<T>) -> tensor<5xT>"},
    {"convert-of-splat", numbers, "", "tensor<48xbf16>",
     CONSTANT("c", "TWO") "%r = fusion.convert %c : (" V
                          ") -> tensor<48xbf16>"},
    {"convert-of-splat", "f32 f64", "", "tensor<48xi8>",
     CONSTANT("c", "-3.0e+9") "%r = fusion.convert %c : (" V
                              ") -> tensor<48xi8>"},
    {"convert-of-splat", "f32 f64", "", "tensor<48xui8>",
     CONSTANT("c", "2.9e+2") "%r = fusion.convert %c : (" V
                             ") -> tensor<48xui8>"},
    {"convert-of-splat", "f32", "", "tensor<48xi32>",
     CONSTANT("c", "0x7FC00000") "%r = fusion.convert %c : (" V
                                 ") -> tensor<48xi32>"},
    {"convert-of-splat", "f32", "", "tensor<48xi1>",
     CONSTANT("c", "0x7FC00000") "%r = fusion.convert %c : (" V
                                 ") -> tensor<48xi1>"},
    {"convert-of-splat", "i16", "", "tensor<48xui8>",
     CONSTANT("c", "-5") "%r = fusion.convert %c : (" V ") -> tensor<48xui8>"},

    {"merge-transposes", numbers, "%x: tensor<2x4x6xT>", "tensor<6x2x4xT>",
     "%0 = fusion.transpose %x {permutation = array<i64: 1, 0, 2>} : "
     "(tensor<2x4x6xT>) -> tensor<4x2x6xT>\n"
     "%r = fusion.transpose %0 {permutation = array<i64: 2, 1, 0>} : "
     "(tensor<4x2x6xT>) -> tensor<6x2x4xT>"},
    {"merge-reshapes", numbers, "%x: tensor<?x6xT>", "tensor<2x?xT>",
     "%0 = fusion.reshape %x : (tensor<?x6xT>) -> tensor<?xT>\n"
     "%r = fusion.reshape %0 : (tensor<?xT>) -> tensor<2x?xT>"},
    {"merge-broadcasts", numbers, "%x: tensor<1x6xT>", "tensor<3x8x6xT>",
     "%0 = fusion.broadcast %x {dims = array<i64: 0, 1>} : (tensor<1x6xT>) -> "
     "tensor<8x6xT>\n"
     "%r = fusion.broadcast %0 {dims = array<i64: 1, 2>} : (tensor<8x6xT>) -> "
     "tensor<3x8x6xT>"},
    {"merge-slices", numbers, "%x: tensor<?xT>", "tensor<?xT>",
     "%0 = fusion.slice %x {starts = array<i64: 3>, steps = array<i64: 2>} : "
     "(tensor<?xT>) -> tensor<?xT>\n"
     "%r = fusion.slice %0 {starts = array<i64: 1>, steps = array<i64: 3>} : "
     "(tensor<?xT>) -> tensor<?xT>"},
    {"merge-concats", numbers, "%x: " V ", %y: " V, "tensor<144xT>",
     "%0 = fusion.concat %x, %y {dim = 0 : i64} : (" V ", " V
     ") -> tensor<96xT>\n"
     "%r = fusion.concat %y, %0 {dim = 0 : i64} : (" V
     ", tensor<96xT>) -> tensor<144xT>"},
    {"transpose-of-broadcast", numbers, "%x: tensor<6xT>", "tensor<6x8xT>",
     "%0 = fusion.broadcast %x {dims = array<i64: 1>} : (tensor<6xT>) -> "
     "tensor<8x6xT>\n"
     "%r = fusion.transpose %0 {permutation = array<i64: 1, 0>} : "
     "(tensor<8x6xT>) -> tensor<6x8xT>"},
    {"reshape-of-broadcast", numbers, "%x: tensor<T>", "tensor<48xT>",
     "%0 = fusion.broadcast %x {dims = array<i64>} : (tensor<T>) -> "
     "tensor<8x6xT>\n"
     "%r = fusion.reshape %0 : (tensor<8x6xT>) -> tensor<48xT>"},
    {"broadcast-of-reshape", numbers, "%x: tensor<?x6xT>, %l: tensor<?x4x6xT>",
     "tensor<?x4x6xT>",
     "%0 = fusion.reshape %x : (tensor<?x6xT>) -> tensor<?x1x6xT>\n"
     "%r = fusion.broadcast %0, %l {dims = array<i64: 0, 1, 2>} : "
     "(tensor<?x1x6xT>, tensor<?x4x6xT>) -> tensor<?x4x6xT>"},
    {"transpose-as-reshape", numbers, "%x: tensor<6x1x8xT>", "tensor<1x6x8xT>",
     "%r = fusion.transpose %x {permutation = array<i64: 1, 0, 2>} : "
     "(tensor<6x1x8xT>) -> tensor<1x6x8xT>"},

    {"sink-reshape", numbers, "%x: tensor<?x8xT>", "tensor<?x4xT>",
     "%0 = fusion.reshape %x : (tensor<?x8xT>) -> tensor<?x4xT>\n"
     "%r = fusion.abs %0 : (tensor<?x4xT>) -> tensor<?x4xT>"},
    {"sink-reshape", numbers, "%x: tensor<6x8xT>, %y: tensor<6x8xT>", V,
     "%0 = fusion.reshape %x : (tensor<6x8xT>) -> " V "\n"
     "%1 = fusion.reshape %y : (tensor<6x8xT>) -> " V "\n"
     "%r = fusion.sub %0, %1 : " VV},
    {"sink-reshape", numbers, "%x: tensor<?x8xT>, %s: tensor<T>", "tensor<?xT>",
     "%0 = fusion.reshape %x : (tensor<?x8xT>) -> tensor<?xT>\n"
     "%1 = fusion.broadcast %s, %0 {dims = array<i64>} : (tensor<T>, "
     "tensor<?xT>) -> tensor<?xT>\n"
     "%r = fusion.mul %1, %0 : (tensor<?xT>, tensor<?xT>) -> tensor<?xT>"},

    {"transpose-into-matmul", "f32 f64 i32",
     "%x: tensor<8x4xT>, %y: tensor<8x6xT>", "tensor<4x6xT>",
     "%0 = fusion.transpose %x {permutation = array<i64: 1, 0>} : "
     "(tensor<8x4xT>) -> tensor<4x8xT>\n"
     "%r = fusion.matmul %0, %y : (tensor<4x8xT>, tensor<8x6xT>) -> "
     "tensor<4x6xT>"},
    {"pad-into-conv", "i32 i64", "%x: tensor<2x3x4xT>, %w: tensor<2x3x3xT>",
     "tensor<2x2x5xT>",
     "%z = fusion.constant dense<ZERO> : tensor<T>\n"
     "%0 = fusion.pad %x, %z {low = array<i64: 0, 0, 1>, high = array<i64: 0, "
     "0, 1>} : (tensor<2x3x4xT>, tensor<T>) -> tensor<2x3x6xT>\n"
     "%r = fusion.conv %0, %w {strides = array<i64: 1>, pad_low = array<i64: "
     "0>, pad_high = array<i64: 1>, dilations = array<i64: 1>} : "
     "(tensor<2x3x6xT>, tensor<2x3x3xT>) -> tensor<2x2x5xT>"},
    {"pad-into-conv", "f32 f64 f16", "%x: tensor<2x1x4xT>", "tensor<2x1x4xT>",
     "%z = fusion.constant dense<ZERO> : tensor<T>\n"
     "%w = fusion.constant dense<[[[1.5, -0.0, -2.5]]]> : tensor<1x1x3xT>\n"
     "%0 = fusion.pad %x, %z {low = array<i64: 0, 0, 1>, high = array<i64: 0, "
     "0, 1>} : (tensor<2x1x4xT>, tensor<T>) -> tensor<2x1x6xT>\n"
     "%r = fusion.conv %0, %w {strides = array<i64: 1>, pad_low = array<i64: "
     "0>, pad_high = array<i64: 0>, dilations = array<i64: 1>} : "
     "(tensor<2x1x6xT>, tensor<1x1x3xT>) -> tensor<2x1x4xT>"},
    {"merge-reduces", numbers, "%x: tensor<2x4x6xT>", "tensor<4xT>",
     "%0 = fusion.reduce max, %x {dims = array<i64: 0>} : (tensor<2x4x6xT>) -> "
     "tensor<4x6xT>\n"
     "%r = fusion.reduce max, %0 {dims = array<i64: 1>} : (tensor<4x6xT>) -> "
     "tensor<4xT>"},
    {"merge-reduces", integers, "%x: tensor<2x4x6xT>", "tensor<T>",
     "%0 = fusion.reduce prod, %x {dims = array<i64: 1>} : (tensor<2x4x6xT>) "
     "-> tensor<2x6xT>\n"
     "%r = fusion.reduce prod, %0 {dims = array<i64: 0, 1>} : (tensor<2x6xT>) "
     "-> tensor<T>"},
};

#undef V
#undef VV
#undef CONSTANT

std::string replaced(std::string text, StringRef from, StringRef to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to.str());
  return text;
}

class Simplify : public Evaluation {
protected:
  /// `text` of `test` for element type `type`.
  static std::string getText(const Case &test, StringRef type) {
    std::string text = std::string("func.func @main(") + test.parameters +
                       ") -> " + test.result + " {\n" + test.body +
                       "\nreturn %r : " + test.result + "\n}\n";
    bool isFloat = type.contains('f');
    text = replaced(text, "MZERO", "-0.0");
    text = replaced(text, "ZERO", isFloat ? "0.0" : "0");
    text = replaced(text, "ONE", isFloat ? "1.0" : "1");
    text = replaced(text, "TWO", isFloat ? "2.0" : "2");
    return replaced(replaced(text, "xT>", "x" + type.str() + ">"), "<T>",
                    "<" + type.str() + ">");
  }

  /// Corner values among random ones; symbolic sizes become 6.
  Tensor getRandom(RankedTensorType type) {
    SmallVector<int64_t> sizes(type.getShape());
    for (int64_t &size : sizes)
      size = ShapedType::isDynamic(size) ? 6 : size;
    DType dtype = *getDType(type.getElementType());
    Tensor tensor(dtype, sizes);
    std::uniform_int_distribution<int> choice(0, 15);
    std::normal_distribution<double> normal(0, 3);
    const double corners[] = {NaN, Inf, -Inf, 0.0, -0.0, 1e-40, 65504, 3e38};
    const int64_t corner[] = {getMinOf(dtype), getMaxOf(dtype), 0, -1};
    for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i) {
      unsigned pick = choice(random);
      if (tensor.isFloat())
        tensor.floats()[i] = pick < 8 ? corners[pick] : normal(random);
      else
        tensor.ints()[i] =
            pick < 4 ? corner[pick] : static_cast<int64_t>(random());
    }
    return std::move(tensor).normalize();
  }
  static int64_t getMinOf(DType dtype) {
    return isFloat(dtype) ? 0 : getMin(dtype);
  }
  static int64_t getMaxOf(DType dtype) {
    return isFloat(dtype) ? 0 : getMax(dtype);
  }

  /// Simplifies `function` with this rewrite only.
  LogicalResult simplify(ModuleOp module, StringRef rewrite) {
    SimplifyPassOptions options;
    for (const SimplifyRewrite &other : getSimplifyRewrites())
      if (other.name != rewrite)
        options.disable.push_back(other.name.str());
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createSimplifyPass(options));
    return passes.run(module);
  }

  /// Evaluates two graphs on the same random arguments.
  void expectEqualResults(ModuleOp before, ModuleOp after) {
    auto function = before.lookupSymbol<func::FuncOp>("main");
    SmallVector<Tensor> arguments;
    for (Type argument : function.getArgumentTypes())
      arguments.push_back(getRandom(cast<RankedTensorType>(argument)));
    auto expected = evaluate(function, arguments);
    auto actual = evaluate(after.lookupSymbol<func::FuncOp>("main"), arguments);
    ASSERT_TRUE(succeeded(expected) && succeeded(actual)) << print(after);
    const Tensor &left = expected->front(), &right = actual->front();
    ASSERT_EQ(left.getSizes(), right.getSizes());
    for (int64_t i = 0, e = left.getNumElements(); i < e; ++i)
      ASSERT_TRUE(isSame(left.getAsDouble(i), right.getAsDouble(i)))
          << "element " << i << ": " << left.getAsDouble(i) << " became "
          << right.getAsDouble(i) << "\n"
          << print(after);
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }

  std::mt19937_64 random{17};
};

} // namespace

TEST_F(Simplify, EveryRewriteHasACase) {
  for (const SimplifyRewrite &rewrite : getSimplifyRewrites())
    EXPECT_TRUE(llvm::any_of(cases, [&](const Case &test) {
      return rewrite.name == test.rewrite;
    })) << rewrite.name.str();
}

TEST_F(Simplify, EveryRewriteKeepsEveryBit) {
  for (const Case &test : cases) {
    SmallVector<StringRef> types;
    StringRef(test.types).split(types, ' ');
    for (StringRef type : types) {
      std::string text = getText(test, type);
      SCOPED_TRACE(std::string(test.rewrite) + "\n" + text);
      auto module = parseSourceString<ModuleOp>(text, &context);
      ASSERT_TRUE(module);
      OwningOpRef<ModuleOp> original = module->clone();
      std::string before = print(*module);
      ASSERT_TRUE(succeeded(simplify(*module, test.rewrite)));
      EXPECT_NE(print(*module), before) << "the rewrite does not apply";
      for (int round = 0; round < 8; ++round)
        expectEqualResults(*original, *module);
    }
  }
}

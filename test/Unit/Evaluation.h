//===- Evaluation.h - graphs in text for tests of the evaluator -----------===//
//
// Evaluates graphs written as MLIR text and compares results bit by bit: a NaN
// equals a NaN only, and zeros differ by their sign.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNIT_EVALUATION_H
#define FUSION_TEST_UNIT_EVALUATION_H

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Interpreter/Interpreter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace fusion::interpreter {

constexpr double Inf = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

class Evaluation : public ::testing::Test {
protected:
  Evaluation() {
    context.loadDialect<FusionDialect, mlir::func::FuncDialect>();
  }

  /// Results of `@main` in `text`; none on failure, with what was reported in
  /// `errors`.
  llvm::SmallVector<Tensor> evaluateAll(llvm::StringRef text,
                                        llvm::ArrayRef<Tensor> arguments) {
    errors.clear();
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            errors += diagnostic.str() + "\n";
                                            return mlir::success();
                                          });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return {};
    auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
    auto results = evaluate(function, arguments);
    return mlir::succeeded(results) ? *results : llvm::SmallVector<Tensor>();
  }

  /// The first result.
  Tensor evaluateText(llvm::StringRef text, llvm::ArrayRef<Tensor> arguments) {
    llvm::SmallVector<Tensor> results = evaluateAll(text, arguments);
    EXPECT_EQ(errors, "");
    return results.empty() ? Tensor() : results[0];
  }

  /// Evaluates one op on `arguments`; `op` is the op with its operands `%0`,
  /// `%1` ... and attributes, `type` its result type.
  Tensor evaluateOp(llvm::StringRef op, llvm::StringRef type,
                    llvm::ArrayRef<Tensor> arguments) {
    std::string parameters, types;
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      std::string text = "tensor<";
      for (int64_t size : argument.getSizes())
        text += std::to_string(size) + "x";
      text += getName(argument.getDType()).str() + ">";
      parameters += (i ? ", %" : "%") + std::to_string(i) + ": " + text;
      types += (i ? ", " : "") + text;
    }
    return evaluateText("func.func @main(" + parameters + ") -> " + type.str() +
                            " {\n  %r = fusion." + op.str() + " : (" + types +
                            ") -> " + type.str() +
                            "\n  return %r : " + type.str() + "\n}",
                        arguments);
  }

  mlir::MLIRContext context;
  std::string errors;
};

inline bool isSame(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

/// Expects these sizes and, bit by bit, these elements.
inline void expectTensor(const Tensor &tensor,
                         std::initializer_list<int64_t> sizes,
                         std::initializer_list<double> values) {
  EXPECT_EQ(formatSizes(tensor.getSizes()), formatSizes(sizes));
  ASSERT_EQ(tensor.getNumElements(), static_cast<int64_t>(values.size()));
  for (auto [i, value] : llvm::enumerate(values))
    EXPECT_TRUE(isSame(tensor.getAsDouble(i), value))
        << "element " << i << " is " << tensor.getAsDouble(i) << ", expected "
        << value;
}

} // namespace fusion::interpreter

#endif // FUSION_TEST_UNIT_EVALUATION_H

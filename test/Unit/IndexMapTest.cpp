//===- IndexMapTest.cpp - index maps and sizes of view ops ----------------===//
//
// Follows the accesses of a view op for every result index and compares with
// the reference evaluator, which moves elements without index maps. A second
// set of tests pins the maps that must stay free of divisions.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"
#include "fusion/Analysis/Dims.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Interpreter/Interpreter.h"

using namespace fusion;
using namespace fusion::interpreter;
using namespace mlir;

namespace {

class IndexMap : public Evaluation {
protected:
  /// Parses a function whose first op is the view under test.
  void parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    function = module->lookupSymbol<func::FuncOp>("main");
    auto analysis = DimAnalysis::create(function);
    ASSERT_TRUE(succeeded(analysis));
    dims = std::move(*analysis);
    for (Operation &op : function.getBody().front())
      if ((view = dyn_cast<IndexMapInterface>(op)))
        break;
    ASSERT_TRUE(view);
    EXPECT_TRUE(view.isView());
  }

  SmallVector<OperandAccess> getAccesses() {
    SmallVector<SmallVector<AffineExpr>> operands;
    for (Value operand : view->getOperands())
      operands.emplace_back(dims->getDims(operand));
    return view.getAccesses(operands, dims->getDims(view->getResult(0)));
  }

  /// The index expressions of the only access, as text.
  std::string getMap(StringRef text) {
    parse(text);
    SmallVector<OperandAccess> accesses = getAccesses();
    EXPECT_EQ(accesses.size(), 1u);
    EXPECT_TRUE(accesses.front().guard.empty());
    std::string map;
    llvm::raw_string_ostream stream(map);
    llvm::interleaveComma(accesses.front().index, stream);
    return map;
  }

  /// Follows the accesses for every element and compares with the evaluator.
  void check(StringRef text, ArrayRef<SmallVector<int64_t>> sizes) {
    SCOPED_TRACE(text.str());
    parse(text);
    SmallVector<Tensor> arguments;
    for (const auto &argumentSizes : sizes) {
      // Distinct values, also between arguments.
      Tensor &argument = arguments.emplace_back(DType::F32, argumentSizes);
      for (auto [i, value] : llvm::enumerate(argument.floats()))
        value = 1 + i + 1000 * arguments.size();
    }
    auto results = evaluate(function, arguments);
    ASSERT_TRUE(succeeded(results));
    const Tensor &expected = results->front();

    SmallVector<AffineExpr> symbols;
    for (const DimSymbol &symbol : dims->getSymbols())
      symbols.push_back(getAffineConstantExpr(
          arguments[symbol.argument].getSize(symbol.dim), &context));
    for (auto [dim, expr] : llvm::enumerate(dims->getDims(view->getResult(0))))
      EXPECT_EQ(eval(expr, {}, symbols), expected.getSize(dim));

    SmallVector<OperandAccess> accesses = getAccesses();
    for (int64_t i = 0, e = expected.getNumElements(); i < e; ++i) {
      SmallVector<AffineExpr> index;
      int64_t rest = i;
      for (int64_t size : llvm::reverse(expected.getSizes())) {
        index.insert(index.begin(),
                     getAffineConstantExpr(rest % size, &context));
        rest /= size;
      }
      EXPECT_EQ(read(accesses, arguments, index, symbols), expected.floats()[i])
          << "element " << i;
    }
  }

private:
  static int64_t eval(AffineExpr expr, ArrayRef<AffineExpr> index,
                      ArrayRef<AffineExpr> symbols) {
    auto constant = dyn_cast<AffineConstantExpr>(
        expr.replaceDimsAndSymbols(index, symbols));
    EXPECT_TRUE(constant);
    return constant ? constant.getValue() : -1;
  }

  /// The element that the first access whose guard holds reads.
  double read(ArrayRef<OperandAccess> accesses, ArrayRef<Tensor> arguments,
              ArrayRef<AffineExpr> index, ArrayRef<AffineExpr> symbols) {
    EXPECT_TRUE(accesses.back().guard.empty());
    for (const OperandAccess &access : accesses) {
      bool holds = llvm::all_of(access.guard, [&](AffineExpr guard) {
        return eval(guard, index, symbols) >= 0;
      });
      if (!holds)
        continue;
      auto argument =
          cast<BlockArgument>(view->getOperand(access.operand)).getArgNumber();
      const Tensor &tensor = arguments[argument];
      int64_t linear = 0;
      for (auto [dim, expr] : llvm::enumerate(access.index)) {
        int64_t position = eval(expr, index, symbols);
        EXPECT_GE(position, 0);
        EXPECT_LT(position, tensor.getSize(dim));
        linear = linear * tensor.getSize(dim) + position;
      }
      return tensor.floats()[linear];
    }
    ADD_FAILURE() << "no access holds";
    return 0;
  }

  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::optional<DimAnalysis> dims;
  IndexMapInterface view;
};

/// A function that applies `op` to its arguments.
std::string graph(StringRef parameters, StringRef op, StringRef types,
                  StringRef result) {
  return ("func.func @main(" + parameters + ") -> " + result +
          " {\n%r = fusion." + op + " : (" + types + ") -> " + result +
          "\nreturn %r : " + result + "\n}\n")
      .str();
}

std::string reshape(StringRef from, StringRef to) {
  return graph(("%x: " + from).str(), "reshape %x", from, to);
}

} // namespace

TEST_F(IndexMap, Reshape) {
  check(reshape("tensor<4x6xf32>", "tensor<2x12xf32>"), {{4, 6}});
  check(reshape("tensor<4x6xf32>", "tensor<3x8xf32>"), {{4, 6}});
  check(reshape("tensor<2x1x12xf32>", "tensor<2x3x1x4x1xf32>"), {{2, 1, 12}});
  check(reshape("tensor<1xf32>", "tensor<f32>"), {{1}});
  check(reshape("tensor<f32>", "tensor<1x1xf32>"), {{}});
  check(reshape("tensor<0x4xf32>", "tensor<2x0xf32>"), {{0, 4}});
  check(reshape("tensor<?x6xf32>", "tensor<?x3xf32>"), {{4, 6}});
  check(reshape("tensor<?x4x6xf32>", "tensor<?x24xf32>"), {{3, 4, 6}});
  check(reshape("tensor<?x?x4xf32>", "tensor<?x?xf32>"), {{3, 5, 4}});
  check(reshape("tensor<?x?xf32>", "tensor<?xf32>"), {{3, 5}});
  check(reshape("tensor<?x6x?xf32>", "tensor<?x2x3x?xf32>"), {{3, 6, 5}});
}

TEST_F(IndexMap, Broadcast) {
  check(graph("%x: tensor<3x1xf32>", "broadcast %x {dims = array<i64: 0, 2>}",
              "tensor<3x1xf32>", "tensor<3x2x4xf32>"),
        {{3, 1}});
  // A size that is 1 at run time is repeated.
  std::string symbolic =
      graph("%x: tensor<?xf32>, %l: tensor<2x?xf32>",
            "broadcast %x, %l {dims = array<i64: 1>}",
            "tensor<?xf32>, tensor<2x?xf32>", "tensor<2x?xf32>");
  check(symbolic, {{1}, {2, 5}});
  check(symbolic, {{5}, {2, 5}});
}

TEST_F(IndexMap, TransposeSliceReverse) {
  check(graph("%x: tensor<2x3x?xf32>",
              "transpose %x {permutation = array<i64: 2, 0, 1>}",
              "tensor<2x3x?xf32>", "tensor<?x2x3xf32>"),
        {{2, 3, 4}});
  check(graph("%x: tensor<8x?xf32>",
              "slice %x {starts = array<i64: 1, 2>, steps = array<i64: 3, 2>}",
              "tensor<8x?xf32>", "tensor<2x?xf32>"),
        {{8, 7}});
  check(graph("%x: tensor<2x?xf32>", "reverse %x {dims = array<i64: 1>}",
              "tensor<2x?xf32>", "tensor<2x?xf32>"),
        {{2, 5}});
}

TEST_F(IndexMap, Pad) {
  check(graph("%x: tensor<3x?xf32>, %v: tensor<f32>",
              "pad %x, %v {low = array<i64: 1, -1>, high = array<i64: 2, 1>}",
              "tensor<3x?xf32>, tensor<f32>", "tensor<6x?xf32>"),
        {{3, 4}, {}});
  check(graph("%x: tensor<5xf32>, %v: tensor<f32>",
              "pad %x, %v {low = array<i64: -1>, high = array<i64: -2>}",
              "tensor<5xf32>, tensor<f32>", "tensor<2xf32>"),
        {{5}, {}});
}

TEST_F(IndexMap, Concat) {
  check(graph("%x: tensor<2x?xf32>, %y: tensor<2x3xf32>, %z: tensor<2x?xf32>",
              "concat %x, %y, %z {dim = 1 : i64}",
              "tensor<2x?xf32>, tensor<2x3xf32>, tensor<2x?xf32>",
              "tensor<2x?xf32>"),
        {{2, 4}, {2, 3}, {2, 1}});
  std::string withEmpty = graph(
      "%x: tensor<3xf32>, %y: tensor<0xf32>", "concat %x, %y {dim = 0 : i64}",
      "tensor<3xf32>, tensor<0xf32>", "tensor<3xf32>");
  check(withEmpty, {{3}, {0}});
}

TEST_F(IndexMap, ReshapeAvoidsDivisions) {
  EXPECT_EQ(getMap(reshape("tensor<4x6xf32>", "tensor<4x1x6xf32>")), "d0, d2");
  EXPECT_EQ(getMap(reshape("tensor<4x1x6xf32>", "tensor<4x6xf32>")),
            "d0, 0, d1");
  EXPECT_EQ(getMap(reshape("tensor<?x4x6xf32>", "tensor<?x24xf32>")),
            "d0, d1 floordiv 6, d1 mod 6");
  EXPECT_EQ(getMap(reshape("tensor<?x24x?xf32>", "tensor<?x4x6x?xf32>")),
            "d0, d1 * 6 + d2, d3");
  EXPECT_EQ(getMap(reshape("tensor<?x?xf32>", "tensor<?xf32>")),
            "d0 floordiv s1, d0 mod s1");
}

//===- FragmentTest.cpp - layouts of fragments ----------------------------===//
//
// Layouts are compared with the formulas of the PTX manual's figures, with
// their own expressions, and with what ldmatrix gives to each lane.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Fragment.h"
#include "gtest/gtest.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace mlir;
using namespace fusion::tile;

namespace {

constexpr MmaKind kinds[] = {MmaKind::m16n8k16_f16, MmaKind::m16n8k16_bf16,
                             MmaKind::m16n8k8_tf32, MmaKind::m16n8k32_s8,
                             MmaKind::m16n8k32_u8,  MmaKind::m8n8k4_f64};
constexpr FragmentRole roles[] = {FragmentRole::A, FragmentRole::B,
                                  FragmentRole::Accumulator};

using Place = std::pair<int64_t, int64_t>;

Place at(const FragmentLayout &layout, int64_t lane, int64_t element) {
  FragmentPosition position = layout.getPosition(lane, element);
  return {position.row, position.column};
}

Place evaluate(const FragmentIndex &index, int64_t lane) {
  AffineExpr number = getAffineConstantExpr(lane, index.row.getContext());
  auto value = [&](AffineExpr expr) {
    return cast<AffineConstantExpr>(expr.replaceDims(number)).getValue();
  };
  return {value(index.row), value(index.column)};
}

std::string print(const FragmentIndex &index) {
  std::string text;
  llvm::raw_string_ostream(text) << index.row << ", " << index.column;
  return text;
}

TEST(Fragment, IsABijectionOntoTheTile) {
  for (MmaKind kind : kinds)
    for (FragmentRole role : roles) {
      FragmentLayout layout(kind, role);
      std::set<Place> places;
      for (int64_t lane = 0; lane < warpSize; ++lane)
        for (int64_t i = 0; i < layout.getNumElements(); ++i) {
          Place place = at(layout, lane, i);
          EXPECT_LT(place.first, layout.getNumRows());
          EXPECT_LT(place.second, layout.getNumColumns());
          places.insert(place);
        }
      EXPECT_EQ(int64_t(places.size()),
                layout.getNumRows() * layout.getNumColumns());
    }
}

TEST(Fragment, HasTheShapeOfTheKind) {
  MLIRContext context;
  for (MmaKind kind : kinds) {
    MmaShape shape = getMmaShape(kind);
    FragmentLayout a(kind, FragmentRole::A), b(kind, FragmentRole::B),
        sum(kind, FragmentRole::Accumulator);
    EXPECT_EQ(Place(a.getNumRows(), a.getNumColumns()),
              Place(shape.m, shape.k));
    EXPECT_EQ(Place(b.getNumRows(), b.getNumColumns()),
              Place(shape.k, shape.n));
    EXPECT_EQ(Place(sum.getNumRows(), sum.getNumColumns()),
              Place(shape.m, shape.n));
  }
  VectorType a =
      getFragmentType(MmaKind::m16n8k32_s8, FragmentRole::A, &context);
  EXPECT_EQ(a, VectorType::get(16, IntegerType::get(&context, 8)));
  VectorType sum = getFragmentType(MmaKind::m16n8k16_bf16,
                                   FragmentRole::Accumulator, &context);
  EXPECT_EQ(sum, VectorType::get(4, Float32Type::get(&context)));
}

//===----------------------------------------------------------------------===//
// The PTX manual, "Matrix Fragments for mma", with its own variables
//===----------------------------------------------------------------------===//

/// The position of element `i` of the lane of `groupID` and `tid`.
using Formula = Place (*)(int64_t groupID, int64_t tid, int64_t i);

void expectFormula(std::initializer_list<MmaKind> kinds, FragmentRole role,
                   Formula formula) {
  for (MmaKind kind : kinds) {
    FragmentLayout layout(kind, role);
    for (int64_t lane = 0; lane < warpSize; ++lane)
      for (int64_t i = 0; i < layout.getNumElements(); ++i)
        EXPECT_EQ(at(layout, lane, i), formula(lane >> 2, lane % 4, i))
            << stringifyMmaKind(kind).str() << " lane " << lane << " element "
            << i;
  }
}

TEST(Fragment, AgreesWithTheManualOn16Bits) {
  auto halves = {MmaKind::m16n8k16_f16, MmaKind::m16n8k16_bf16};
  expectFormula(halves, FragmentRole::A,
                [](int64_t groupID, int64_t tid, int64_t i) {
                  bool isUpper = (0 <= i && i < 2) || (4 <= i && i < 6);
                  return Place(isUpper ? groupID : groupID + 8,
                               tid * 2 + (i & 1) + (i >= 4 ? 8 : 0));
                });
  expectFormula(halves, FragmentRole::B,
                [](int64_t groupID, int64_t tid, int64_t i) {
                  return Place(tid * 2 + (i & 1) + (i >= 2 ? 8 : 0), groupID);
                });
}

TEST(Fragment, AgreesWithTheManualOnTF32) {
  expectFormula({MmaKind::m16n8k8_tf32}, FragmentRole::A,
                [](int64_t groupID, int64_t tid, int64_t i) {
                  return Place(i == 0 || i == 2 ? groupID : groupID + 8,
                               i < 2 ? tid : tid + 4);
                });
  expectFormula({MmaKind::m16n8k8_tf32}, FragmentRole::B,
                [](int64_t groupID, int64_t tid, int64_t i) {
                  return Place(i == 0 ? tid : tid + 4, groupID);
                });
}

TEST(Fragment, AgreesWithTheManualOnIntegers) {
  auto bytes = {MmaKind::m16n8k32_s8, MmaKind::m16n8k32_u8};
  expectFormula(bytes, FragmentRole::A,
                [](int64_t groupID, int64_t tid, int64_t i) {
                  bool isUpper = (0 <= i && i < 4) || (8 <= i && i < 12);
                  return Place(isUpper ? groupID : groupID + 8,
                               tid * 4 + (i & 3) + (i >= 8 ? 16 : 0));
                });
  expectFormula(bytes, FragmentRole::B,
                [](int64_t groupID, int64_t tid, int64_t i) {
                  return Place(tid * 4 + (i & 3) + (i >= 4 ? 16 : 0), groupID);
                });
}

TEST(Fragment, AgreesWithTheManualOnF64) {
  expectFormula({MmaKind::m8n8k4_f64}, FragmentRole::A,
                [](int64_t groupID, int64_t tid, int64_t) {
                  return Place(groupID, tid);
                });
  expectFormula({MmaKind::m8n8k4_f64}, FragmentRole::B,
                [](int64_t groupID, int64_t tid, int64_t) {
                  return Place(tid, groupID);
                });
  expectFormula({MmaKind::m8n8k4_f64}, FragmentRole::Accumulator,
                [](int64_t groupID, int64_t tid, int64_t i) {
                  return Place(groupID, tid * 2 + (i & 1));
                });
}

TEST(Fragment, AgreesWithTheManualOnAccumulators) {
  expectFormula(
      {MmaKind::m16n8k16_f16, MmaKind::m16n8k16_bf16, MmaKind::m16n8k8_tf32,
       MmaKind::m16n8k32_s8, MmaKind::m16n8k32_u8},
      FragmentRole::Accumulator, [](int64_t groupID, int64_t tid, int64_t i) {
        return Place(i < 2 ? groupID : groupID + 8, tid * 2 + (i & 1));
      });
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

TEST(Fragment, GivesExpressionsOfTheLane) {
  MLIRContext context;
  AffineExpr lane = getAffineDimExpr(0, &context);
  for (MmaKind kind : kinds)
    for (FragmentRole role : roles) {
      FragmentLayout layout(kind, role);
      for (int64_t i = 0; i < layout.getNumElements(); ++i)
        for (int64_t number = 0; number < warpSize; ++number)
          EXPECT_EQ(evaluate(layout.getIndex(lane, i), number),
                    at(layout, number, i));
    }
  FragmentLayout sum(MmaKind::m16n8k16_f16, FragmentRole::Accumulator);
  EXPECT_EQ(print(sum.getIndex(lane, 0)), "d0 floordiv 4, (d0 mod 4) * 2");
  EXPECT_EQ(print(sum.getIndex(lane, 3)),
            "d0 floordiv 4 + 8, (d0 mod 4) * 2 + 1");
}

//===----------------------------------------------------------------------===//
// Loads of matrices
//===----------------------------------------------------------------------===//

/// What a load of matrices gives: where in the tile lies the first of the
/// elements that lane `lane` receives of `matrix`, by the definition of
/// ldmatrix on the rows that the layout names.
Place receive(const FragmentLayout &layout, FragmentRole role, bool transposed,
              int64_t perRegister, int64_t lane, int64_t matrix,
              MLIRContext &context) {
  FragmentIndex rows =
      layout.getMatrixRow(getAffineDimExpr(0, &context), transposed);
  int64_t row = transposed ? lane % 4 * 2 : lane / 4;
  int64_t offset = transposed ? lane / 4 : lane % 4 * perRegister;
  Place start = evaluate(rows, matrix * 8 + row);
  bool isAlongColumns = (role == FragmentRole::A) != transposed;
  return isAlongColumns ? Place(start.first, start.second + offset)
                        : Place(start.first + offset, start.second);
}

TEST(Fragment, NamesTheRowsOfMatrices) {
  MLIRContext context;
  for (MmaKind kind : kinds)
    for (FragmentRole role : {FragmentRole::A, FragmentRole::B})
      for (bool transposed : {false, true}) {
        FragmentLayout layout(kind, role);
        if (!layout.canLoadMatrix(transposed))
          continue;
        int64_t matrices = role == FragmentRole::A ? 4 : 2;
        int64_t perRegister = layout.getNumElements() / matrices;
        for (int64_t lane = 0; lane < warpSize; ++lane)
          for (int64_t matrix = 0; matrix < matrices; ++matrix)
            EXPECT_EQ(receive(layout, role, transposed, perRegister, lane,
                              matrix, context),
                      at(layout, lane, matrix * perRegister))
                << stringifyMmaKind(kind).str() << " lane " << lane
                << " matrix " << matrix << (transposed ? " transposed" : "");
      }
}

TEST(Fragment, LoadsWhatFillsRegisters) {
  auto canLoad = [](MmaKind kind, FragmentRole role, bool transposed) {
    return FragmentLayout(kind, role).canLoadMatrix(transposed);
  };
  EXPECT_TRUE(canLoad(MmaKind::m16n8k16_f16, FragmentRole::B, true));
  EXPECT_TRUE(canLoad(MmaKind::m16n8k32_s8, FragmentRole::A, false));
  EXPECT_FALSE(canLoad(MmaKind::m16n8k32_s8, FragmentRole::A, true));
  EXPECT_FALSE(canLoad(MmaKind::m16n8k8_tf32, FragmentRole::B, true));
  EXPECT_FALSE(canLoad(MmaKind::m8n8k4_f64, FragmentRole::A, false));
  EXPECT_FALSE(canLoad(MmaKind::m16n8k16_f16, FragmentRole::Accumulator,
                       /*transposed=*/false));
}

TEST(Fragment, RepeatsRowsForLanesThatAreNotAsked) {
  MLIRContext context;
  AffineExpr lane = getAffineDimExpr(0, &context);
  FragmentLayout b(MmaKind::m16n8k16_f16, FragmentRole::B);
  FragmentIndex rows = b.getMatrixRow(lane, /*transposed=*/false);
  EXPECT_EQ(print(rows), "((d0 floordiv 8) mod 2) * 8, d0 mod 8");
  for (int64_t number = 0; number < 16; ++number)
    EXPECT_EQ(evaluate(rows, number), evaluate(rows, number + 16));
}

} // namespace

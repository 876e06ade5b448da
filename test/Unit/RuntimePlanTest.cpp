//===- RuntimePlanTest.cpp - size expressions, plan files, arenas ---------===//

#include "fusion/Runtime/Arena.h"
#include "fusion/Runtime/Hash.h"
#include "fusion/Runtime/Plan.h"
#include "gtest/gtest.h"
#include <random>

using namespace fusion::runtime;

using Op = SizeExpr::Op;

static SizeExpr binary(Op op, int64_t lhs, int64_t rhs) {
  return {{{Op::Constant, lhs}, {Op::Constant, rhs}, {op, 0}}};
}

static int64_t evaluate(Op op, int64_t lhs, int64_t rhs) {
  return binary(op, lhs, rhs).evaluate({});
}

TEST(SizeExpr, DividesLikeAffineExpressions) {
  for (int64_t a = -9; a <= 9; ++a)
    for (int64_t b : {-4, -3, -1, 1, 3, 4}) {
      double exact = double(a) / b;
      EXPECT_EQ(evaluate(Op::FloorDiv, a, b), std::floor(exact));
      EXPECT_EQ(evaluate(Op::CeilDiv, a, b), std::ceil(exact));
      int64_t rest = evaluate(Op::Mod, a, b);
      EXPECT_TRUE(rest >= 0 && rest < std::abs(b) && (a - rest) % b == 0);
    }
}

TEST(SizeExpr, SaturatesAndSurvivesZero) {
  EXPECT_EQ(evaluate(Op::Mul, INT64_MAX, 2), INT64_MAX);
  EXPECT_EQ(evaluate(Op::Mul, INT64_MAX, -2), INT64_MIN);
  EXPECT_EQ(evaluate(Op::Add, INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(evaluate(Op::Add, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(evaluate(Op::FloorDiv, INT64_MIN, -1), INT64_MAX);
  EXPECT_EQ(evaluate(Op::Mod, INT64_MIN, -1), 0);
  for (Op op : {Op::FloorDiv, Op::CeilDiv, Op::Mod})
    EXPECT_EQ(evaluate(op, 7, 0), 0);
}

TEST(SizeExpr, ReadsSymbolsAndLongExpressions) {
  EXPECT_EQ(SizeExpr::symbol(1).evaluate({3, 5}), 5);
  EXPECT_EQ(SizeExpr::symbol(2).evaluate({3, 5}), 0);
  SizeExpr sum; // 1 + (1 + (1 + ...)), all constants first
  for (int i = 0; i < 100; ++i)
    sum.items.push_back({Op::Constant, 1});
  for (int i = 0; i < 99; ++i)
    sum.items.push_back({Op::Add, 0});
  EXPECT_TRUE(sum.isValid(0));
  EXPECT_EQ(sum.evaluate({}), 100);
}

TEST(SizeExpr, FindsWhatIsInvalid) {
  EXPECT_FALSE(SizeExpr().isValid(0));
  EXPECT_FALSE(SizeExpr::symbol(1).isValid(1));
  EXPECT_FALSE(SizeExpr::symbol(-1).isValid(1));
  EXPECT_FALSE((SizeExpr{{{Op::Constant, 1}, {Op::Add, 0}}}.isValid(0)));
  EXPECT_FALSE((SizeExpr{{{Op::Constant, 1}, {Op::Constant, 1}}}.isValid(0)));
  EXPECT_EQ((SizeExpr{{{Op::Add, 0}}}.evaluate({})), 0);
}

//===----------------------------------------------------------------------===//
// Plan files
//===----------------------------------------------------------------------===//

static Plan makePlan() {
  Plan plan;
  plan.arch = "sm_90a";
  plan.target = TargetKind::CUDA;
  plan.symbols = {{0, 0, false}, {0, 1, true}};
  plan.arguments = {{DType::BF16,
                     {SizeExpr::symbol(0), SizeExpr::constant(8)},
                     {SizeExpr::symbol(1), SizeExpr::constant(1)},
                     16,
                     "x"}};
  plan.results = {{DType::F32,
                   {binary(Op::CeilDiv, 9, 2)},
                   {SizeExpr::constant(1)},
                   1,
                   ""}};
  plan.constants = {{std::string("\0\1\2", 3), 64}};
  plan.temporaries = {{SizeExpr::constant(1024), 4, 0, 1}};
  plan.kernels = {{"k", ".version 8.0", 128, 32, 4096}};
  using Kind = BufferRef::Kind;
  Launch first = {
      0,
      {{Kind::Argument, 0}, {Kind::Constant, 0}, {Kind::Temporary, 0}},
      {SizeExpr::symbol(0)},
      SizeExpr::constant(2),
      {},
      "a.py:1:2"};
  Launch second = {0,
                   {{Kind::Temporary, 0}, {Kind::Result, 0}},
                   {},
                   SizeExpr::constant(1),
                   SizeExpr::symbol(0),
                   ""};
  plan.launches = {first, second};
  plan.report = "{}";
  return plan;
}

TEST(PlanFile, RoundTrips) {
  Plan plan = makePlan(), copy;
  ASSERT_EQ(check(plan), "");
  std::string data = write(plan), reason;
  ASSERT_TRUE(read(data, copy, reason)) << reason;
  EXPECT_EQ(write(copy), data);
  EXPECT_EQ(copy.arguments[0].name, "x");
  EXPECT_EQ(copy.launches[1].work.evaluate({5, 6}), 5);
  EXPECT_EQ(copy.constants[0].data, std::string("\0\1\2", 3));
}

TEST(PlanFile, RefusesEveryChangedByte) {
  std::string data = write(makePlan()), reason;
  Plan plan;
  for (size_t i = 0; i < data.size(); ++i)
    for (int flip : {1, 0x80, 0xff}) {
      std::string damaged = data;
      damaged[i] ^= flip;
      reason.clear();
      EXPECT_FALSE(read(damaged, plan, reason)) << "byte " << i;
      EXPECT_FALSE(reason.empty());
    }
}

TEST(PlanFile, RefusesEveryOtherLength) {
  std::string data = write(makePlan()), reason;
  Plan plan;
  for (size_t length = 0; length < data.size(); ++length)
    EXPECT_FALSE(read(data.substr(0, length), plan, reason)) << length;
  EXPECT_FALSE(read(data + "x", plan, reason));
  EXPECT_FALSE(read("not a plan, but longer than its header is in bytes, yes",
                    plan, reason));
  EXPECT_EQ(reason, "not a saved executable");
}

/// Damage that a checksum was made over: the structure alone must hold.
TEST(PlanFile, SurvivesForgedBodies) {
  std::string data = write(makePlan()), reason;
  constexpr size_t header = 40, hashAt = 24;
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string forged = data;
    for (int i = 0; i < 1 + round % 3; ++i)
      forged[header + random() % (data.size() - header)] = char(random());
    Hash128 sum = hash(forged.data() + header, forged.size() - header);
    std::memcpy(&forged[hashAt], &sum, sizeof(sum));
    Plan plan;
    if (read(forged, plan, reason))
      EXPECT_EQ(check(plan), "");
  }
}

TEST(PlanCheck, FindsIndicesOutOfRange) {
  auto broken = [](auto change) {
    Plan plan = makePlan();
    change(plan);
    return !check(plan).empty();
  };
  EXPECT_TRUE(broken([](Plan &p) { p.symbols[0].argument = 1; }));
  EXPECT_TRUE(broken([](Plan &p) { p.symbols[0].dim = 2; }));
  EXPECT_TRUE(broken([](Plan &p) { p.arguments[0].align = 3; }));
  EXPECT_TRUE(broken([](Plan &p) { p.results[0].strides.clear(); }));
  EXPECT_TRUE(broken([](Plan &p) { p.launches[0].kernel = -1; }));
  EXPECT_TRUE(broken([](Plan &p) { p.launches[0].buffers[1].index = 7; }));
  EXPECT_TRUE(broken([](Plan &p) { p.launches[0].grid = {}; }));
  EXPECT_TRUE(broken([](Plan &p) { p.kernels[0].indexBits = 16; }));
  EXPECT_TRUE(broken([](Plan &p) { p.temporaries[0].lastUse = 2; }));
  EXPECT_TRUE(broken([](Plan &p) { p.temporaries[0].lastUse = 0; }));
}

TEST(Hash, IsMurmur3AndDependsOnEverything) {
  // The reference implementation's digest of this sentence.
  EXPECT_EQ(hash("The quick brown fox jumps over the lazy dog").low,
            0xe34bbc7bbc071b6cULL);
  EXPECT_EQ(hash("").str(), std::string(32, '0'));
  EXPECT_NE(hash("a"), hash("b"));
  EXPECT_NE(hash(std::string(1, '\0')), hash(std::string(2, '\0')));
  EXPECT_NE(hash("a", 1), hash("a", 2));
}

//===----------------------------------------------------------------------===//
// Arenas
//===----------------------------------------------------------------------===//

TEST(Arena, ReusesMemoryOfTheDead) {
  ArenaLayout layout = layOut({{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}});
  EXPECT_EQ(layout.bytes, 2048);
  EXPECT_EQ(layout.offsets[0], layout.offsets[2]);
  EXPECT_EQ(layOut({}).bytes, 0);
  EXPECT_EQ(layOut({{0, 0, 5}, {-3, 0, 5}}).bytes, 0);
}

TEST(Arena, TakesTheSmallestGap) {
  // While the last lives, the first (large) and third (small) are dead: it goes
  // to the small one's place.
  ArenaLayout layout = layOut(
      {{4096, 0, 0}, {2048, 0, 1}, {1024, 0, 0}, {512, 0, 1}, {256, 1, 1}});
  EXPECT_EQ(layout.offsets[4], layout.offsets[2]);
}

TEST(Arena, SaturatesOnHugeBuffers) {
  ArenaLayout layout = layOut({{INT64_MAX, 0, 1}, {INT64_MAX, 0, 1}});
  EXPECT_GT(layout.bytes, INT64_MAX / 2);
}

TEST(Arena, NeverOverlapsWhatLivesTogether) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<ArenaBuffer> buffers(1 + random() % 30);
    int64_t sum = 0;
    for (ArenaBuffer &buffer : buffers) {
      buffer.bytes = random() % 5000;
      buffer.first = random() % 20;
      buffer.last = buffer.first + random() % 6;
      sum += buffer.bytes + ArenaLayout::alignment;
    }
    ArenaLayout layout = layOut(buffers);
    EXPECT_LE(layout.bytes, sum);
    for (size_t i = 0; i < buffers.size(); ++i) {
      int64_t begin = layout.offsets[i], end = begin + buffers[i].bytes;
      ASSERT_TRUE(begin % ArenaLayout::alignment == 0 && begin >= 0 &&
                  end <= layout.bytes);
      for (size_t j = 0; j < i; ++j) {
        bool together = buffers[i].first <= buffers[j].last &&
                        buffers[j].first <= buffers[i].last;
        bool apart = end <= layout.offsets[j] ||
                     layout.offsets[j] + buffers[j].bytes <= begin;
        ASSERT_TRUE(!together || apart || buffers[i].bytes == 0 ||
                    buffers[j].bytes == 0);
      }
    }
  }
}

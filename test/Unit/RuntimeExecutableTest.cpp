//===- RuntimeExecutableTest.cpp - plans run, arguments checked -----------===//
//
// A code loader that hands out functions of this file by name stands in for the
// linker, so that plans run without a compiler.
//
//===----------------------------------------------------------------------===//

#include "fusion/Runtime/Driver.h"
#include "fusion/Runtime/Executable.h"
#include "fusion/Runtime/MemoryPool.h"
#include "fusion/Runtime/ThreadPool.h"
#include "gtest/gtest.h"
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>

using namespace fusion::runtime;

//===----------------------------------------------------------------------===//
// Kernels: one block handles 64 elements
//===----------------------------------------------------------------------===//

template <class Function>
static void forEachElement(int64_t *sizes, int64_t first, int64_t end,
                           Function function) {
  for (int64_t i = first * 64; i < end * 64 && i < sizes[0]; ++i)
    function(i);
}

/// buffers: x, y; sizes: n, stride of x.
static void doubleKernel(void **buffers, int64_t *sizes, int64_t first,
                         int64_t end) {
  auto *x = static_cast<float *>(buffers[0]);
  auto *y = static_cast<float *>(buffers[1]);
  forEachElement(sizes, first, end,
                 [&](int64_t i) { y[i] = 2 * x[i * sizes[1]]; });
}

/// buffers: x, constant, y; sizes: n.
static void addKernel(void **buffers, int64_t *sizes, int64_t first,
                      int64_t end) {
  auto *x = static_cast<float *>(buffers[0]);
  auto *c = static_cast<float *>(buffers[1]);
  auto *y = static_cast<float *>(buffers[2]);
  forEachElement(sizes, first, end, [&](int64_t i) { y[i] = x[i] + c[0]; });
}

namespace {
class TestLoader : public CodeLoader {
public:
  Status load(const Kernel &kernel, void *&address) override {
    if (kernel.name == "double")
      address = reinterpret_cast<void *>(&doubleKernel);
    else if (kernel.name == "add")
      address = reinterpret_cast<void *>(&addKernel);
    else
      return Status::error("compile", "no kernel '" + kernel.name + "'");
    return Status::success();
  }
};

/// (2 * x + 3 in a temporary) * 2, on a vector of any size and stride.
Plan makePlan() {
  using Kind = BufferRef::Kind;
  SizeExpr n = SizeExpr::symbol(0), stride = SizeExpr::symbol(1);
  SizeExpr one = SizeExpr::constant(1);
  SizeExpr grid = {{{SizeExpr::Op::Symbol, 0},
                    {SizeExpr::Op::Constant, 64},
                    {SizeExpr::Op::CeilDiv, 0}}};
  SizeExpr bytes = {{{SizeExpr::Op::Symbol, 0},
                     {SizeExpr::Op::Constant, 4},
                     {SizeExpr::Op::Mul, 0}}};
  float three = 3;
  Plan plan;
  plan.symbols = {{0, 0, false}, {0, 0, true}};
  plan.arguments = {{DType::F32, {n}, {}, 4, "x"}};
  plan.results = {{DType::F32, {n}, {one}, 4, ""}};
  plan.constants = {{std::string(reinterpret_cast<char *>(&three), 4), 64}};
  plan.temporaries = {{bytes, 4, 0, 1}, {bytes, 4, 1, 2}};
  plan.kernels = {{"double", "", 1, 64, 0}, {"add", "", 1, 64, 0}};
  plan.launches = {
      {0,
       {{Kind::Argument, 0}, {Kind::Temporary, 0}},
       {n, stride},
       grid,
       {},
       ""},
      {1,
       {{Kind::Temporary, 0}, {Kind::Constant, 0}, {Kind::Temporary, 1}},
       {n},
       grid,
       {},
       ""},
      {0, {{Kind::Temporary, 1}, {Kind::Result, 0}}, {n, one}, grid, {}, ""}};
  return plan;
}

/// Two matrices: x of ?x8 and w of 8 by x's rows, contiguous, to a result of
/// one row less; it launches nothing.
Plan makeMatrixPlan() {
  SizeExpr n = SizeExpr::symbol(0), one = SizeExpr::constant(1);
  SizeExpr eight = SizeExpr::constant(8);
  SizeExpr less = {{{SizeExpr::Op::Symbol, 0},
                    {SizeExpr::Op::Constant, -1},
                    {SizeExpr::Op::Add, 0}}};
  Plan plan;
  plan.symbols = {{0, 0, false}};
  plan.arguments = {{DType::F32, {n, eight}, {eight, one}, 16, "x"},
                    {DType::F32, {eight, n}, {n, one}, 4, "w"}};
  plan.results = {{DType::F32, {less}, {one}, 4, ""}};
  return plan;
}

fusion_tensor tensor(void *data, std::vector<int64_t> sizes,
                     std::vector<int64_t> strides = {},
                     fusion_dtype dtype = FUSION_F32) {
  fusion_tensor result = {};
  result.data = data;
  result.dtype = dtype;
  result.rank = sizes.size();
  int64_t stride = 1;
  for (int dim = result.rank - 1; dim >= 0; --dim) {
    result.sizes[dim] = sizes[dim];
    result.strides[dim] = strides.empty() ? stride : strides[dim];
    stride *= sizes[dim];
  }
  return result;
}

class ExecutableTest : public testing::Test {
protected:
  void SetUp() override {
    setCodeLoaderFactory(
        [](TargetKind) { return std::unique_ptr<CodeLoader>(new TestLoader); });
  }
  std::unique_ptr<Executable> create(Plan plan) {
    std::unique_ptr<Executable> executable;
    Status status = Executable::create(std::move(plan), executable);
    EXPECT_EQ(status.message, "");
    return executable;
  }
  /// Runs the vector plan on `x` and checks the result.
  void runVector(Executable &executable, std::vector<float> x,
                 int64_t stride = 1, const fusion_allocator *alloc = nullptr) {
    int64_t n = x.size() / stride;
    std::vector<float> y(n, -1);
    fusion_tensor in = tensor(x.data(), {n}, {stride});
    fusion_tensor out = tensor(y.data(), {n});
    Status status = executable.run(&in, 1, &out, 1, nullptr, alloc);
    ASSERT_EQ(status.message, "");
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y[i], (2 * x[i * stride] + 3) * 2) << i;
  }
  /// The message for this call of the matrix plan.
  std::string complain(fusion_tensor x, fusion_tensor w) {
    std::unique_ptr<Executable> executable = create(makeMatrixPlan());
    fusion_tensor arguments[] = {x, w};
    alignas(64) static float y[64];
    fusion_tensor result = tensor(y, {x.sizes[0] - 1});
    Status status = executable->run(arguments, 2, &result, 1, nullptr, nullptr);
    EXPECT_TRUE(!status.failed() || status.kind == "argument");
    EXPECT_EQ(status.failed(), !status.remedy.empty());
    return status.message;
  }

  alignas(64) float data[256] = {};
};
} // namespace

static std::vector<float> iota(int64_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST_F(ExecutableTest, RunsAnySizeAndStride) {
  std::unique_ptr<Executable> executable = create(makePlan());
  for (int64_t n : {0, 1, 63, 64, 65, 1000, 300000})
    runVector(*executable, iota(n));
  runVector(*executable, iota(900), 3);
}

TEST_F(ExecutableTest, RunsOnManyThreadsAtOnce) {
  std::unique_ptr<Executable> executable = create(makePlan());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i)
        runVector(*executable, iota((t * 37 + i * 911) % 20000));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(ExecutableTest, TakesTheCallersMemory) {
  struct Counter {
    int allocated = 0, released = 0;
  } counter;
  fusion_allocator allocator = {
      &counter,
      [](void *context, size_t bytes, void *) -> void * {
        ++static_cast<Counter *>(context)->allocated;
        return bytes < (1 << 20) ? malloc(bytes) : nullptr;
      },
      [](void *context, void *memory, void *) {
        ++static_cast<Counter *>(context)->released;
        free(memory);
      }};
  std::unique_ptr<Executable> executable = create(makePlan());
  runVector(*executable, iota(1000), 1, &allocator);
  EXPECT_EQ(counter.allocated, 1);
  EXPECT_EQ(counter.released, 1);
  std::vector<float> x(1 << 20), y(1 << 20);
  fusion_tensor in = tensor(x.data(), {1 << 20}), out = in;
  out.data = y.data();
  Status status = executable->run(&in, 1, &out, 1, nullptr, &allocator);
  EXPECT_EQ(status.kind, "memory");
  EXPECT_EQ(counter.released, 1);
}

TEST_F(ExecutableTest, SurvivesSaving) {
  Plan plan;
  std::string reason;
  ASSERT_TRUE(read(write(makePlan()), plan, reason)) << reason;
  runVector(*create(std::move(plan)), iota(100));
}

TEST_F(ExecutableTest, InfersWithoutData) {
  std::unique_ptr<Executable> executable = create(makeMatrixPlan());
  fusion_tensor arguments[] = {tensor(nullptr, {5, 8}),
                               tensor(nullptr, {8, 5})};
  fusion_tensor result;
  ASSERT_FALSE(executable->infer(arguments, 2, &result).failed());
  EXPECT_EQ(result.rank, 1);
  EXPECT_EQ(result.sizes[0], 4);
  EXPECT_EQ(result.strides[0], 1);
  EXPECT_EQ(result.data, nullptr);
  arguments[0] = tensor(nullptr, {0, 8});
  arguments[1] = tensor(nullptr, {8, 0});
  Status status = executable->infer(arguments, 2, &result);
  EXPECT_EQ(status.message, "the sizes of the arguments make dimension 0 of "
                            "result 0 of @main -1");
}

TEST_F(ExecutableTest, NamesWhatIsWrongWithAnArgument) {
  fusion_tensor x = tensor(data, {4, 8}), w = tensor(data + 64, {8, 4});
  EXPECT_EQ(complain(x, w), "");
  EXPECT_EQ(complain(tensor(data, {4, 9}), w),
            "argument 0 ('x') of @main has shape 4x9, expected 4x8");
  EXPECT_EQ(complain(x, tensor(data + 64, {8, 3})),
            "argument 1 ('w') of @main has shape 8x3, expected 8x4: its "
            "dimension 1 must equal dimension 0 of argument 0 ('x') of @main");
  EXPECT_EQ(complain(x, tensor(data + 64, {8, 4}, {}, FUSION_I32)),
            "argument 1 ('w') of @main has dtype i32, expected f32");
  EXPECT_EQ(complain(x, tensor(data + 64, {32})),
            "argument 1 ('w') of @main has 1 dimensions, expected 2");
  EXPECT_EQ(complain(x, tensor(data + 64, {8, 4}, {1, 8})),
            "argument 1 ('w') of @main has strides (1, 8), expected (4, 1)");
  EXPECT_EQ(complain(x, tensor(data + 64, {8, 4}, {-4, 1})),
            "argument 1 ('w') of @main has a negative stride in (-4, 1)");
  EXPECT_EQ(complain(x, tensor(data + 64, {-8, 4})),
            "argument 1 ('w') of @main has a negative size in shape -8x4");
  EXPECT_EQ(complain(x, tensor(nullptr, {8, 4})),
            "argument 1 ('w') of @main has no data");
  EXPECT_EQ(complain(tensor(data + 1, {4, 8}), w),
            "argument 0 ('x') of @main is not aligned to 16 bytes");
}

TEST_F(ExecutableTest, IgnoresStridesThatSeparateNothing) {
  EXPECT_EQ(complain(tensor(data, {1, 8}, {999, 1}),
                     tensor(data + 64, {8, 1}, {1, -5})),
            "");
  EXPECT_EQ(complain(tensor(nullptr, {1, 8}), tensor(data, {8, 1})),
            "argument 0 ('x') of @main has no data");
}

TEST_F(ExecutableTest, ChecksNumbersAndOverlaps) {
  std::unique_ptr<Executable> executable = create(makePlan());
  fusion_tensor x = tensor(data, {16}), y = tensor(data + 128, {16});
  auto message = [&](size_t numArguments, size_t numResults) {
    fusion_tensor arguments[] = {x, x}, results[] = {y, y};
    return executable
        ->run(arguments, numArguments, results, numResults, nullptr, nullptr)
        .message;
  };
  EXPECT_EQ(message(1, 1), "");
  EXPECT_EQ(message(2, 1), "@main takes 1 argument, got 2");
  EXPECT_EQ(message(1, 0), "@main has 1 result, got 0");
  y.data = data + 8;
  EXPECT_EQ(message(1, 1),
            "result 0 of @main overlaps argument 0 ('x') of @main");
  y = tensor(data + 128, {15});
  EXPECT_EQ(message(1, 1),
            "result 0 of @main has shape 15, expected 16: its dimension 0 must "
            "equal dimension 0 of argument 0 ('x') of @main");
}

TEST_F(ExecutableTest, BoundsWhatA32BitKernelCounts) {
  Plan plan = makePlan();
  for (Kernel &kernel : plan.kernels)
    kernel.indexBits = 32;
  std::unique_ptr<Executable> executable = create(std::move(plan));
  runVector(*executable, iota(100));
  int64_t n = int64_t(1) << 31;
  fusion_tensor x = tensor(data, {n}, {0}), y = tensor(data, {n});
  Status status = executable->run(&x, 1, &y, 1, nullptr, nullptr);
  EXPECT_EQ(status.kind, "unsupported");
  x = tensor(data, {int64_t(1) << 62}, {4});
  EXPECT_TRUE(executable->run(&x, 1, &y, 1, nullptr, nullptr).failed());
}

TEST_F(ExecutableTest, RefusesPlansThatPointOutside) {
  Plan plan = makePlan();
  plan.launches[0].buffers[0].index = 3;
  std::unique_ptr<Executable> executable;
  EXPECT_TRUE(Executable::create(std::move(plan), executable).failed());
  EXPECT_EQ(executable, nullptr);
}

TEST_F(ExecutableTest, CompilesForAGpuThatIsNotThere) {
  Status status;
  if (Driver::get(status))
    GTEST_SKIP() << "there is one";
  EXPECT_EQ(status.kind, "device");
  EXPECT_FALSE(status.remedy.empty());
  Plan plan = makePlan();
  plan.target = TargetKind::CUDA;
  plan.arch = "sm_90a";
  std::unique_ptr<Executable> executable = create(std::move(plan));
  fusion_tensor x = tensor(data, {16}), y = tensor(data + 128, {16});
  EXPECT_EQ(executable->run(&x, 1, &y, 1, nullptr, nullptr).message,
            status.message);
}

/// A call of one small kernel takes less than 5 us. The bound here leaves room
/// for a busy machine; the best of many counts.
TEST_F(ExecutableTest, CostsLittlePerCall) {
  std::unique_ptr<Executable> executable = create(makePlan());
  fusion_tensor x = tensor(data, {16}), y = tensor(data + 128, {16});
  double best = 1e9;
  for (int i = 0; i < 2000; ++i) {
    auto begin = std::chrono::steady_clock::now();
    executable->run(&x, 1, &y, 1, nullptr, nullptr);
    std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count());
  }
  RecordProperty("microseconds", std::to_string(best));
  // 0.5 on an idle machine; the bound leaves room for a busy one.
  EXPECT_LT(best, 200);
}

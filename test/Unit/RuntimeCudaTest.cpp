//===- RuntimeCudaTest.cpp - the driver path, where there is a GPU --------===//
//
// Plans with PTX written by hand. Linking is tested wherever nvJitLink is
// installed, the rest is skipped on a machine without a GPU.
//
//===----------------------------------------------------------------------===//

#include "fusion/Runtime/Driver.h"
#include "fusion/Runtime/Executable.h"
#include "fusion/Runtime/Linker.h"
#include "gtest/gtest.h"
#include <chrono>
#include <dlfcn.h>
#include <numeric>

using namespace fusion::runtime;
using namespace fusion::runtime::cuda;

/// y[i] = x[i] + x[i] for i < n, and y[i] = x[i] + c[0].
static const char kernelText[] = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry double_it(.param .u64 x, .param .u64 y, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %a<4>; .reg .f32 %f<3>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 128, %r2;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p, %r3, %r4;
  @%p bra done;
  ld.param.u64 %a1, [x]; ld.param.u64 %a2, [y];
  mul.wide.u32 %a3, %r3, 4;
  add.u64 %a1, %a1, %a3; add.u64 %a2, %a2, %a3;
  ld.global.f32 %f1, [%a1];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%a2], %f2;
done:
  ret;
}
)";
static const char addText[] = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry add_c(.param .u64 x, .param .u64 c, .param .u64 y,
                      .param .u64 n) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %a<7>; .reg .f32 %f<4>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 128, %r2;
  cvt.u64.u32 %a5, %r3;
  ld.param.u64 %a6, [n];
  setp.ge.u64 %p, %a5, %a6;
  @%p bra done;
  ld.param.u64 %a1, [x]; ld.param.u64 %a2, [y]; ld.param.u64 %a4, [c];
  mul.wide.u32 %a3, %r3, 4;
  add.u64 %a1, %a1, %a3; add.u64 %a2, %a2, %a3;
  ld.global.f32 %f1, [%a1]; ld.global.f32 %f3, [%a4];
  add.f32 %f2, %f1, %f3;
  st.global.f32 [%a2], %f2;
done:
  ret;
}
)";

/// 2 * x + 3 with the product in a temporary.
static Plan makePlan() {
  using Kind = BufferRef::Kind;
  using Op = SizeExpr::Op;
  SizeExpr n = SizeExpr::symbol(0), one = SizeExpr::constant(1);
  SizeExpr grid = {{{Op::Symbol, 0}, {Op::Constant, 128}, {Op::CeilDiv, 0}}};
  SizeExpr bytes = {{{Op::Symbol, 0}, {Op::Constant, 4}, {Op::Mul, 0}}};
  float three = 3;
  Plan plan;
  plan.target = TargetKind::CUDA;
  plan.arch = "sm_80";
  plan.symbols = {{0, 0, false}};
  plan.arguments = {{DType::F32, {n}, {one}, 4, "x"}};
  plan.results = {{DType::F32, {n}, {one}, 4, ""}};
  plan.constants = {{std::string(reinterpret_cast<char *>(&three), 4), 64}};
  plan.temporaries = {{bytes, 4, 0, 1}};
  plan.kernels = {{"double_it", kernelText, 128, 32, 0},
                  {"add_c", addText, 128, 64, 0}};
  plan.launches = {
      {0, {{Kind::Argument, 0}, {Kind::Temporary, 0}}, {n}, grid, {}, "a:1:1"},
      {1,
       {{Kind::Temporary, 0}, {Kind::Constant, 0}, {Kind::Result, 0}},
       {n},
       grid,
       {},
       "a:2:1"}};
  return plan;
}

static fusion_tensor tensor(void *data, int64_t n) {
  fusion_tensor result = {};
  result.data = data;
  result.dtype = FUSION_F32;
  result.rank = 1;
  result.sizes[0] = n;
  result.strides[0] = 1;
  return result;
}

TEST(Linker, MakesMachineCodeAndSaysWhyNot) {
  std::string cubin, log;
  if (getLinkerVersion().empty()) {
    EXPECT_FALSE(linkToCubin(kernelText, "sm_90a", cubin, log));
    EXPECT_EQ(log, "nvJitLink is not installed");
    return;
  }
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    ASSERT_TRUE(linkToCubin(kernelText, arch, cubin, log)) << log;
    EXPECT_EQ(cubin.substr(0, 4), "\177ELF");
  }
  EXPECT_FALSE(linkToCubin(".version 7.8\nnonsense", "sm_90a", cubin, log));
  EXPECT_NE(log.find("error"), std::string::npos) << log;
}

class Cuda : public testing::Test {
protected:
  void SetUp() override {
    Status status;
    driver = Driver::get(status);
    if (!driver)
      GTEST_SKIP() << status.message;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    copyBack =
        reinterpret_cast<decltype(copyBack)>(dlsym(library, "cuMemcpyDtoH_v2"));
    begin = reinterpret_cast<decltype(begin)>(
        dlsym(library, "cuStreamBeginCapture_v2"));
    end = reinterpret_cast<decltype(end)>(dlsym(library, "cuStreamEndCapture"));
    instantiate = reinterpret_cast<decltype(instantiate)>(
        dlsym(library, "cuGraphInstantiateWithFlags"));
    launch =
        reinterpret_cast<decltype(launch)>(dlsym(library, "cuGraphLaunch"));
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 1.0f);
    scope = std::make_unique<ContextScope>(*driver);
    ASSERT_FALSE(scope->enter(0).failed());
    ASSERT_EQ(driver->streamCreate(&stream, /*nonBlocking=*/1), success);
    ASSERT_FALSE(driver->allocate(0, 4 * n, stream, x).failed());
    ASSERT_FALSE(driver->allocate(0, 4 * n, stream, y).failed());
    driver->memcpyHtoDAsync(CUdeviceptr(x), values.data(), 4 * n, stream);
    clear();
  }
  void TearDown() override {
    if (!driver)
      return;
    driver->release(0, x);
    driver->release(0, y);
    driver->streamDestroy(stream);
  }
  void clear() {
    std::vector<float> zeros(n);
    driver->memcpyHtoDAsync(CUdeviceptr(y), zeros.data(), 4 * n, stream);
    driver->streamSynchronize(stream);
  }
  std::unique_ptr<Executable> create(Plan plan) {
    std::unique_ptr<Executable> executable;
    EXPECT_FALSE(Executable::create(std::move(plan), executable).failed());
    return executable;
  }
  Status run(Executable &executable) {
    fusion_tensor in = tensor(x, n), out = tensor(y, n);
    return executable.run(&in, 1, &out, 1, stream, nullptr);
  }
  void expectResult() {
    ASSERT_EQ(driver->streamSynchronize(stream), success);
    std::vector<float> values(n);
    ASSERT_EQ(copyBack(values.data(), CUdeviceptr(y), 4 * n), success);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(values[i], 2 * float(i + 1) + 3) << i;
  }

  const Driver *driver = nullptr;
  std::unique_ptr<ContextScope> scope;
  int64_t n = 100001;
  CUstream stream = nullptr;
  void *x = nullptr, *y = nullptr;
  CUresult (*copyBack)(void *, CUdeviceptr, size_t) = nullptr;
  CUresult (*begin)(CUstream, int) = nullptr;
  CUresult (*end)(CUstream, void **) = nullptr;
  CUresult (*instantiate)(void **, void *, unsigned long long) = nullptr;
  CUresult (*launch)(void *, CUstream) = nullptr;
};

TEST_F(Cuda, Runs) {
  std::unique_ptr<Executable> executable = create(makePlan());
  for (int i = 0; i < 3; ++i) {
    clear();
    ASSERT_EQ(run(*executable).message, "");
    expectResult();
  }
}

TEST_F(Cuda, RunsWithoutACurrentContext) {
  scope.reset();
  std::unique_ptr<Executable> executable = create(makePlan());
  ASSERT_EQ(run(*executable).message, "");
  CUcontext current = nullptr;
  driver->ctxGetCurrent(&current);
  EXPECT_EQ(current, nullptr);
  scope = std::make_unique<ContextScope>(*driver);
  ASSERT_FALSE(scope->enter(0).failed());
  expectResult();
}

TEST_F(Cuda, IsCapturedIntoAGraphAtItsFirstRun) {
  std::unique_ptr<Executable> executable = create(makePlan());
  void *graph = nullptr, *ready = nullptr;
  constexpr int globalMode = 0;
  ASSERT_EQ(begin(stream, globalMode), success);
  Status status = run(*executable);
  ASSERT_EQ(end(stream, &graph), success);
  ASSERT_EQ(status.message, "");
  ASSERT_EQ(instantiate(&ready, graph, 0), success);
  for (int i = 0; i < 2; ++i) {
    clear();
    ASSERT_EQ(launch(ready, stream), success);
    expectResult();
  }
}

TEST_F(Cuda, RefusesHostMemory) {
  std::unique_ptr<Executable> executable = create(makePlan());
  std::vector<float> host(n);
  fusion_tensor in = tensor(host.data(), n), out = tensor(y, n);
  Status status = executable->run(&in, 1, &out, 1, stream, nullptr);
  EXPECT_EQ(status.message, "argument 0 of @main is not in memory of a GPU");
}

TEST_F(Cuda, RunsNothingOnNothing) {
  std::unique_ptr<Executable> executable = create(makePlan());
  fusion_tensor in = tensor(nullptr, 0), out = tensor(nullptr, 0);
  EXPECT_EQ(executable->run(&in, 1, &out, 1, stream, nullptr).message, "");
}

TEST_F(Cuda, SaysWhyCodeDoesNotLoad) {
  Plan plan = makePlan();
  plan.kernels[0].code = ".version 7.8\n.target sm_80\nnonsense";
  Status status = run(*create(plan));
  EXPECT_EQ(status.kind, "device");
  EXPECT_NE(status.message.find("kernel 'double_it': cuModuleLoadDataEx"),
            std::string::npos)
      << status.message;
  EXPECT_NE(status.message.find("ptxas"), std::string::npos) << status.message;
  plan = makePlan();
  plan.arch = "sm_121a";
  std::string arch;
  ASSERT_FALSE(driver->getArch(0, arch).failed());
  if (arch != plan.arch)
    EXPECT_NE(run(*create(plan)).message.find("compiled for sm_121a"),
              std::string::npos);
}

TEST_F(Cuda, EnqueuesInMicroseconds) {
  std::unique_ptr<Executable> executable = create(makePlan());
  ASSERT_EQ(run(*executable).message, "");
  driver->streamSynchronize(stream);
  double best = 1e9;
  for (int i = 0; i < 500; ++i) {
    auto start = std::chrono::steady_clock::now();
    run(*executable);
    std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
    driver->streamSynchronize(stream);
  }
  RecordProperty("microseconds", std::to_string(best));
  EXPECT_LT(best, 50);
}

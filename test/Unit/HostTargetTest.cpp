//===- HostTargetTest.cpp - kernels run on the CPU and by the emulator ----===//
//
// Tile programs as text go the whole way: conversion, object code, linker,
// executable; and are compared with what C++ computes.
//
//===----------------------------------------------------------------------===//

#include "KernelText.h"
#include "fusion/Conversion/Passes.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include "fusion/Runtime/Executable.h"
#include "fusion/Target/CPU.h"
#include "fusion/Target/CPU/Linker.h"
#include "fusion/Target/Emulator.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace fusion;
using namespace fusion::runtime;
using namespace fusion::test;

namespace {
template <typename T> constexpr DType dtypeOf = DType::F32;
template <> constexpr DType dtypeOf<double> = DType::F64;
template <> constexpr DType dtypeOf<int8_t> = DType::I8;
template <> constexpr DType dtypeOf<uint16_t> = DType::BF16;
template <> constexpr DType dtypeOf<int32_t> = DType::I32;
template <> constexpr DType dtypeOf<int64_t> = DType::I64;

/// How a test kernel @k(%x, %y, %n) is launched.
struct Shape {
  int64_t grid = 1;
  int32_t threads = 1;
  size_t results = 0;
};
} // namespace

/// Compiles the kernel to object code that a plan may hold.
static Kernel compile(const std::string &text, TargetKind target, Shape shape) {
  Kernel kernel;
  kernel.name = "k";
  kernel.threads = shape.threads;
  KernelText source(text);
  bool isCpu = target == TargetKind::CPU;
  EXPECT_TRUE(
      source.convert(isCpu ? KernelTarget::CPU : KernelTarget::Emulator))
      << source.getErrors();
  source.getModule()->walk([&](mlir::Operation *op) {
    if (auto bytes = op->getAttrOfType<mlir::IntegerAttr>(sharedBytesAttrName))
      kernel.sharedBytes = bytes.getInt();
  });
  auto object = emitObject(source.getModule());
  EXPECT_TRUE(mlir::succeeded(object)) << source.getErrors();
  if (mlir::succeeded(object))
    kernel.code = *object;
  return kernel;
}

/// A plan of one launch from a vector of `In` to one of `Out`.
template <typename In, typename Out>
static Plan createPlan(Kernel kernel, TargetKind target, size_t size,
                       Shape shape) {
  registerCpuTarget();
  registerEmulatorTarget();
  auto spec = [](DType dtype, int64_t size) {
    TensorSpec spec;
    spec.dtype = dtype;
    spec.sizes = {SizeExpr::constant(size)};
    spec.strides = {SizeExpr::constant(1)};
    return spec;
  };
  Plan plan;
  plan.target = target;
  plan.arguments = {spec(dtypeOf<In>, size)};
  plan.results = {spec(dtypeOf<Out>, shape.results)};
  plan.kernels = {std::move(kernel)};
  Launch launch;
  launch.buffers = {{BufferRef::Kind::Argument, 0},
                    {BufferRef::Kind::Result, 0}};
  launch.sizes = {SizeExpr::constant(size)};
  launch.grid = SizeExpr::constant(shape.grid);
  plan.launches = {launch};
  return plan;
}

template <typename T> static fusion_tensor getTensor(std::vector<T> &data) {
  fusion_tensor tensor = {};
  tensor.data = data.data();
  tensor.dtype = static_cast<int32_t>(dtypeOf<T>);
  tensor.rank = 1;
  tensor.sizes[0] = data.size();
  tensor.strides[0] = 1;
  return tensor;
}

/// Runs `text` on `x`; the test fails if anything does.
template <typename Out, typename In>
static std::vector<Out> run(const std::string &text, std::vector<In> x,
                            TargetKind target, Shape shape) {
  if (shape.results == 0)
    shape.results = x.size();
  std::vector<Out> y(shape.results);
  std::unique_ptr<Executable> executable;
  Status status =
      Executable::create(createPlan<In, Out>(compile(text, target, shape),
                                             target, x.size(), shape),
                         executable);
  EXPECT_FALSE(status.failed()) << status.message;
  if (status.failed())
    return y;
  fusion_tensor argument = getTensor(x), result = getTensor(y);
  status = executable->run(&argument, 1, &result, 1, nullptr, nullptr);
  EXPECT_FALSE(status.failed()) << status.message;
  return y;
}

//===----------------------------------------------------------------------===//
// The CPU
//===----------------------------------------------------------------------===//

/// Blocks of 64 elements: vectors of 16, then the rest one by one.
static constexpr const char *doubled = R"mlir(
tile.kernel @k(%x: memref<?xf32> {tile.access = "read"},
               %y: memref<?xf32> {tile.access = "write"}, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 64)>, threads = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %block = gpu.block_id x
  %first = arith.muli %block, %c64 : index
  %next = arith.addi %first, %c64 : index
  %end = arith.minsi %next, %n : index
  %size = arith.subi %end, %first : index
  %rest = arith.remsi %size, %c16 : index
  %middle = arith.subi %end, %rest : index
  scf.for %i = %first to %middle step %c16 {
    %0 = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %1 = arith.addf %0, %0 : vector<16xf32>
    vector.store %1, %y[%i] : memref<?xf32>, vector<16xf32>
  }
  scf.for %i = %middle to %end step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %y[%i] : memref<?xf32>
  }
  tile.return
}
)mlir";

TEST(CpuTarget, RunsBlocksOfVectors) {
  std::vector<float> x(1000);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = i * 0.5f;
  auto y = run<float>(doubled, x, TargetKind::CPU, {/*grid=*/16});
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], 2 * x[i]) << i;
}

/// A kernel of one block that applies `body`, from %0 to %1, to each element.
static std::string elementwise(const char *in, const char *out,
                               const char *body) {
  return llvm::formatv(R"mlir(
tile.kernel @k(%x: memref<?x{0}>, %y: memref<?x{1}>, %n: index)
    attributes {{grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {{
    %0 = memref.load %x[%i] : memref<?x{0}>
    {2}
    memref.store %1, %y[%i] : memref<?x{1}>
  }
  tile.return
}
)mlir",
                       in, out, body)
      .str();
}

TEST(CpuTarget, CallsLibm) {
  std::vector<double> x = {-1.5, 0.0, 0.25, 3.0};
  auto y = run<double>(elementwise("f64", "f64", "%1 = math.erf %0 : f64"), x,
                       TargetKind::CPU, {});
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], std::erf(x[i]));
}

/// A rounding by way of f32 would lose what decides between two neighbours.
TEST(CpuTarget, RoundsDoubleToBfloatOnce) {
  double tiny = std::ldexp(1.0, -40), half = std::ldexp(1.0, -8);
  double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> x = {1.0,
                           1.0 + half,
                           1.0 + half + tiny,
                           -1.0 - half - tiny,
                           1.0 + 3 * half - tiny,
                           1e300,
                           -infinity,
                           0.0,
                           std::nan("")};
  auto y = run<uint16_t>(
      elementwise("f64", "bf16", "%1 = arith.truncf %0 : f64 to bf16"), x,
      TargetKind::CPU, {});
  std::vector<uint16_t> expected = {0x3F80, 0x3F80, 0x3F81, 0xBF81,
                                    0x3F81, 0x7F80, 0xFF80, 0x0000};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(y[i], expected[i]) << i;
  EXPECT_EQ(y.back() & 0x7FC0, 0x7FC0) << "NaN stays a quiet NaN";
}

/// 10 bits behind the point are kept; a half of the last one rounds away.
TEST(CpuTarget, RoundsToTF32) {
  float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = {
      0x1.002p0f, -0x1.002p0f,   0x1.001ffep0f, 0x1.ffep0f, 0x1.fffffep127f,
      0x1p-149f,  0x1.ff8p-127f, -0.0f,         infinity,   std::nanf("1")};
  std::vector<float> expected = {0x1.004p0f,    -0x1.004p0f, 0x1p0f,
                                 0x1p1f,        infinity,    0.0f,
                                 0x1.ff8p-127f, -0.0f,       infinity};
  std::string text = elementwise("f32", "f32", "%1 = tile.round_tf32 %0 : f32");
  for (TargetKind target : {TargetKind::CPU, TargetKind::Emulator}) {
    auto y = run<float>(text, x, target, {});
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(y[i], expected[i]) << i;
      EXPECT_EQ(std::signbit(y[i]), std::signbit(expected[i])) << i;
    }
    EXPECT_TRUE(std::isnan(y.back()));
  }
}

TEST(CpuTarget, RoundsEachHalfOperation) {
  // 1 + 2^-7 squared is 1 + 2^-6 + 2^-14: the last term must be lost before the
  // subtraction.
  std::vector<uint16_t> x = {0x3F81};
  auto y = run<uint16_t>(elementwise("bf16", "bf16", R"mlir(
    %one = arith.constant 1.0 : bf16
    %square = arith.mulf %0, %0 : bf16
    %1 = arith.subf %square, %one : bf16)mlir"),
                         x, TargetKind::CPU, {});
  EXPECT_EQ(y[0], 0x3C80) << "2^-6";
}

/// The last vector reaches past both buffers, which the mask must prevent;
/// scratch memory reverses it, a gather turns it back.
static constexpr const char *masked = R"mlir(
tile.kernel @k(%x: memref<?xf32>, %y: memref<?xf32>, %n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %on = arith.constant dense<true> : vector<8xi1>
  %down = arith.constant dense<[7, 6, 5, 4, 3, 2, 1, 0]> : vector<8xi32>
  scf.for %i = %c0 to %n step %c8 {
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<8xi1>
    %0 = vector.maskedload %x[%i], %mask, %zero
        : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %scratch = memref.alloca() : memref<8xf32>
    vector.scatter %scratch[%c0] [%down], %on, %0
        : memref<8xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
    %1 = vector.gather %scratch[%c0] [%down], %on, %zero
        : memref<8xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.maskedstore %y[%i], %mask, %1
        : memref<?xf32>, vector<8xi1>, vector<8xf32>
  }
  tile.return
}
)mlir";

TEST(CpuTarget, MasksVectors) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(run<float>(masked, x, TargetKind::CPU, {}), x);
  EXPECT_EQ(run<float>(masked, x, TargetKind::Emulator, {}), x);
}

TEST(CpuTarget, ReportsCodeThatDoesNotLink) {
  Shape shape{/*grid=*/1, /*threads=*/1, /*results=*/1};
  Kernel kernel = compile(doubled, TargetKind::CPU, shape);
  std::unique_ptr<Executable> executable;

  Kernel damaged = kernel;
  damaged.code.resize(damaged.code.size() / 2);
  Status status = Executable::create(
      createPlan<float, float>(damaged, TargetKind::CPU, 1, shape), executable);
  EXPECT_EQ(status.kind, "compile");
  EXPECT_NE(status.message.find("kernel 'k' cannot be linked"),
            std::string::npos)
      << status.message;

  Kernel renamed = kernel;
  renamed.name = "missing";
  status = Executable::create(
      createPlan<float, float>(renamed, TargetKind::CPU, 1, shape), executable);
  EXPECT_EQ(status.kind, "compile") << status.message;
}

//===----------------------------------------------------------------------===//
// Reductions over threads, by the emulator
//===----------------------------------------------------------------------===//

/// Each thread's element, reduced by `op` over `width` threads; twice, since a
/// loop must not let one reduction overtake the one before.
static std::string reduction(const char *type, const char *op, int width) {
  return llvm::formatv(R"mlir(
tile.kernel @k(%x: memref<?x{0}>, %y: memref<?x{0}>, %n: index)
    attributes {{grid = affine_map<()[s0] -> (1)>, threads = 256 : i64} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %thread = gpu.thread_id x
  %size = arith.divsi %n, %c2 : index
  scf.for %half = %c0 to %c2 step %c1 {{
    %first = arith.muli %half, %size : index
    %i = arith.addi %first, %thread : index
    %0 = memref.load %x[%i] : memref<?x{0}>
    %1 = tile.reduce %0 {{width = {2} : i64} : {0} {{
    ^bb0(%a: {0}, %b: {0}):
      %2 = {1} %a, %b : {0}
      tile.yield %2 : {0}
    }
    memref.store %1, %y[%i] : memref<?x{0}>
  }
  tile.return
}
)mlir",
                       type, op, width)
      .str();
}

template <typename T>
static void checkSums(const char *type, const char *op, int width) {
  std::vector<T> x(512);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<T>(i * 7 % 23);
  auto y = run<T>(reduction(type, op, width), x, TargetKind::Emulator,
                  {/*grid=*/1, /*threads=*/256});
  for (size_t i = 0; i < x.size(); ++i) {
    T sum = 0;
    for (int lane = 0; lane < width; ++lane)
      sum = static_cast<T>(sum + x[i / width * width + lane]);
    EXPECT_EQ(y[i], sum) << type << " " << width << " at " << i;
  }
}

TEST(Reductions, OfEveryWidth) {
  for (int width = 1; width <= 256; width *= 2)
    checkSums<float>("f32", "arith.addf", width);
}

TEST(Reductions, OfEveryType) {
  for (int width : {8, 128}) {
    checkSums<double>("f64", "arith.addf", width);
    checkSums<int64_t>("i64", "arith.addi", width);
    checkSums<int32_t>("i32", "arith.addi", width);
    checkSums<int8_t>("i8", "arith.addi", width);
  }
}

/// The position of the greatest value, the first one of several, and vectors.
static constexpr const char *several = R"mlir(
tile.kernel @k(%x: memref<?xf32>, %y: memref<?xi32>, %n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 64 : i64} {
  %thread = gpu.thread_id x
  %0 = memref.load %x[%thread] : memref<?xf32>
  %bf = arith.truncf %0 : f32 to bf16
  %v = vector.from_elements %0, %0 : vector<2xf32>
  %1:3 = tile.reduce %bf, %thread, %v {width = 64 : i64} : bf16, index, vector<2xf32> {
  ^bb0(%a: bf16, %i: index, %v0: vector<2xf32>, %b: bf16, %j: index, %v1: vector<2xf32>):
    %greater = arith.cmpf ogt, %a, %b : bf16
    %equal = arith.cmpf oeq, %a, %b : bf16
    %before = arith.cmpi slt, %i, %j : index
    %tie = arith.andi %equal, %before : i1
    %first = arith.ori %greater, %tie : i1
    %2 = arith.select %first, %a, %b : bf16
    %3 = arith.select %first, %i, %j : index
    %4 = arith.addf %v0, %v1 : vector<2xf32>
    tile.yield %2, %3, %4 : bf16, index, vector<2xf32>
  }
  %sum = vector.extract %1#2[1] : f32 from vector<2xf32>
  %total = arith.fptosi %sum : f32 to i32
  %position = arith.index_cast %1#1 : index to i32
  %c1000 = arith.constant 1000 : i32
  %5 = arith.muli %position, %c1000 : i32
  %6 = arith.addi %5, %total : i32
  memref.store %6, %y[%thread] : memref<?xi32>
  tile.return
}
)mlir";

TEST(Reductions, OfSeveralValuesAtOnce) {
  std::vector<float> x(64, 1.0f);
  x[20] = x[41] = 9.0f;
  auto y = run<int32_t>(several, x, TargetKind::Emulator,
                        {/*grid=*/1, /*threads=*/64});
  for (int32_t value : y)
    EXPECT_EQ(value, 20 * 1000 + 62 + 18);
}

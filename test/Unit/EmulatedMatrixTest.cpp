//===- EmulatedMatrixTest.cpp - mma, load_matrix and copies, emulated -----===//
//
// One warp copies A and B to shared memory asynchronously, loads them as
// matrices, multiplies them and stores the product, for each kind of mma. Then
// each step is left out or spoilt, and the emulator has to see it.
//
//===----------------------------------------------------------------------===//

#include "KernelText.h"
#include "fusion/Conversion/Passes.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include "fusion/Runtime/Executable.h"
#include "fusion/Target/CPU.h"
#include "fusion/Target/CPU/Linker.h"
#include "fusion/Target/Emulator.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cstring>
#include <random>

using namespace fusion;
using namespace fusion::runtime;
using namespace fusion::test;

namespace {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Text of a kernel's steps, of which a test replaces some.
struct Steps {
  std::string copy, wait, barrier, load, multiply, store;
};

/// How a kind of 32-bit registers is called, and the size of its elements.
struct Kind {
  const char *name, *element, *sum;
  int bytes;
  int k() const { return 32 / bytes; }
};
constexpr Kind half = {"m16n8k16_f16", "f16", "f32", 2};
constexpr Kind bfloat = {"m16n8k16_bf16", "bf16", "f32", 2};
constexpr Kind tf32 = {"m16n8k8_tf32", "f32", "f32", 4};
constexpr Kind int8 = {"m16n8k32_s8", "i8", "i32", 1};
constexpr Kind uint8 = {"m16n8k32_u8", "i8", "i32", 1};

/// In all these kinds a row of A, and a column of B, has 32 bytes. A lane
/// copies 16 bytes of A and 8 of B, whose columns are stored as rows; in shared
/// memory rows are 48 bytes apart. {0} is the kind, {1} the type of elements,
/// {2} that of sums; {3}, {4} and {5} are the elements of 8, 16 and 48 bytes,
/// {6} and {7} those of a fragment of A and B.
Steps makeSteps(const Kind &kind) {
  auto format = [&](const char *text) {
    int n = 16 / kind.bytes;
    return llvm::formatv(text, kind.name, kind.element, kind.sum, n / 2, n,
                         3 * n, n, n / 2)
        .str();
  };
  Steps steps;
  steps.copy = format(R"mlir(
  %s = tile.shared : memref<16x{5}x{1}, #gpu.address_space<workgroup>>
  %t = tile.shared : memref<8x{5}x{1}, #gpu.address_space<workgroup>>
  %n8 = arith.constant {3} : index
  %n16 = arith.constant {4} : index
  %r2 = arith.divui %lane, %c2 : index
  %m2 = arith.remui %lane, %c2 : index
  %r4 = arith.divui %lane, %c4 : index
  %m4 = arith.remui %lane, %c4 : index
  %ai = arith.muli %lane, %n16 : index
  %bi = arith.muli %lane, %n8 : index
  %ac = arith.muli %m2, %n16 : index
  %bc = arith.muli %m4, %n8 : index
  tile.async_copy %a[%ai] to %s[%r2, %ac], {4} : memref<?x{1}> to memref<16x{5}x{1}, #gpu.address_space<workgroup>>
  tile.async_copy %b[%bi] to %t[%r4, %bc], {3} : memref<?x{1}> to memref<8x{5}x{1}, #gpu.address_space<workgroup>>
  tile.async_commit
)mlir");
  steps.wait = "  tile.async_wait {pending = 0 : i64}\n";
  steps.barrier = "  gpu.barrier\n";
  steps.load = format(R"mlir(
  %m8 = arith.remui %lane, %c8 : index
  %q8 = arith.divui %lane, %c8 : index
  %o8 = arith.remui %q8, %c2 : index
  %m16 = arith.remui %lane, %c16 : index
  %q16 = arith.divui %lane, %c16 : index
  %sc = arith.muli %q16, %n16 : index
  %tc = arith.muli %o8, %n16 : index
  %fa = tile.load_matrix %s[%m16, %sc] : memref<16x{5}x{1}, #gpu.address_space<workgroup>>, vector<{6}x{1}>
  %fb = tile.load_matrix %t[%m8, %tc] : memref<8x{5}x{1}, #gpu.address_space<workgroup>>, vector<{7}x{1}>
)mlir");
  steps.multiply = format(R"mlir(
  %d = tile.mma {0} %fa, %fb, %zero_{2} : vector<{6}x{1}>, vector<{7}x{1}>, vector<4x{2}>
)mlir");
  steps.store = format(R"mlir(
  %yi = arith.muli %lane, %c2 : index
  %yj = arith.addi %yi, %c64 : index
  %low = vector.extract_strided_slice %d {{offsets = [0], sizes = [2], strides = [1]} : vector<4x{2}> to vector<2x{2}>
  %high = vector.extract_strided_slice %d {{offsets = [2], sizes = [2], strides = [1]} : vector<4x{2}> to vector<2x{2}>
  vector.store %low, %y[%yi] : memref<?x{2}>, vector<2x{2}>
  vector.store %high, %y[%yj] : memref<?x{2}>, vector<2x{2}>
)mlir");
  return steps;
}

std::string makeKernel(const char *element, const char *sum,
                       const std::string &body) {
  std::string text = llvm::formatv(R"mlir(
tile.kernel @k(%a: memref<?x{0}> {{tile.access = "read"}, %b: memref<?x{0}> {{tile.access = "read"},
               %y: memref<?x{1}> {{tile.access = "write"})
    attributes {{grid = affine_map<() -> (1)>, threads = 32 : i64} {{
  %lane = gpu.thread_id x
  %zero_f32 = arith.constant dense<0.0> : vector<4xf32>
  %zero_i32 = arith.constant dense<0> : vector<4xi32>
)mlir",
                                   element, sum);
  for (int i : {0, 2, 4, 8, 16, 64})
    text += llvm::formatv("  %c{0} = arith.constant {0} : index\n", i).str();
  return text + body + "  tile.return\n}\n";
}

std::string makeKernel(const Kind &kind, const Steps &steps) {
  return makeKernel(kind.element, kind.sum,
                    steps.copy + steps.wait + steps.barrier + steps.load +
                        steps.multiply + steps.store);
}

/// Replaces what stands in the text once.
void replace(std::string &text, const std::string &from,
             const std::string &to) {
  size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from << " is not in" << text;
  text.replace(at, from.size(), to);
}

//===----------------------------------------------------------------------===//
// Launches, on buffers of bytes
//===----------------------------------------------------------------------===//

using Bytes = std::vector<int8_t>;

template <typename T> Bytes toBytes(const std::vector<T> &values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T> std::vector<T> fromBytes(const Bytes &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Kernel compile(const std::string &text) {
  Kernel kernel;
  kernel.name = "k";
  kernel.threads = 32;
  KernelText source(text);
  EXPECT_TRUE(source.convert(KernelTarget::Emulator))
      << source.getErrors() << text;
  source.getModule()->walk([&](mlir::Operation *op) {
    if (auto bytes = op->getAttrOfType<mlir::IntegerAttr>(sharedBytesAttrName))
      kernel.sharedBytes = bytes.getInt();
  });
  auto object = emitObject(source.getModule());
  EXPECT_TRUE(mlir::succeeded(object)) << source.getErrors();
  kernel.code = object.value_or("");
  return kernel;
}

/// Runs a kernel on `a` and `b`, with a result of the size of `y`; returns the
/// error, empty if there is none.
std::string run(const std::string &text, Bytes a, Bytes b, Bytes &y) {
  registerCpuTarget();
  registerEmulatorTarget();
  Plan plan;
  plan.target = TargetKind::Emulator;
  auto spec = [](const Bytes &bytes) {
    TensorSpec spec;
    spec.dtype = DType::I8;
    spec.sizes = {SizeExpr::constant(bytes.size())};
    spec.strides = {SizeExpr::constant(1)};
    return spec;
  };
  plan.arguments = {spec(a), spec(b)};
  plan.results = {spec(y)};
  plan.kernels = {compile(text)};
  Launch launch;
  launch.buffers = {{BufferRef::Kind::Argument, 0},
                    {BufferRef::Kind::Argument, 1},
                    {BufferRef::Kind::Result, 0}};
  launch.grid = SizeExpr::constant(1);
  plan.launches = {launch};

  auto view = [](Bytes &bytes) {
    fusion_tensor tensor = {};
    tensor.data = bytes.data();
    tensor.dtype = FUSION_I8;
    tensor.rank = 1;
    tensor.sizes[0] = bytes.size();
    tensor.strides[0] = 1;
    return tensor;
  };
  fusion_tensor arguments[] = {view(a), view(b)}, result = view(y);
  std::unique_ptr<Executable> executable;
  Status status = Executable::create(std::move(plan), executable);
  if (!status.failed())
    status = executable->run(arguments, 2, &result, 1, nullptr, nullptr);
  return status.message;
}

void expectError(const std::string &error, const char *words) {
  EXPECT_NE(error.find(words), std::string::npos)
      << "error is '" << error << "'";
}

//===----------------------------------------------------------------------===//
// Right kernels
//===----------------------------------------------------------------------===//

uint16_t toHalf(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

double fromHalf(uint16_t bits, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(semantics, llvm::APInt(16, bits));
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

float truncateToTF32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits &= ~uint32_t(0x1fff);
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

template <typename T, typename Make>
std::vector<T> generate(int size, unsigned seed, Make make) {
  std::mt19937 random(seed);
  std::vector<T> values;
  for (int i = 0; i < size; ++i)
    values.push_back(make(random));
  return values;
}

/// Row `i` of A times row `j` of B, in f64.
template <typename T, typename Value>
double dot(const std::vector<T> &a, const std::vector<T> &b, int k, int i,
           int j, Value value) {
  double sum = 0;
  for (int p = 0; p < k; ++p)
    sum += double(value(a[i * k + p])) * double(value(b[j * k + p]));
  return sum;
}

/// Multiplies random matrices and compares with f64. `make` draws an element
/// and `value` is the number that it stands for.
template <typename T, typename Sum, typename Make, typename Value>
void testProduct(const Kind &kind, const Steps &steps, Make make, Value value) {
  auto a = generate<T>(16 * kind.k(), 1, make);
  auto b = generate<T>(8 * kind.k(), 2, make);
  Bytes y(16 * 8 * sizeof(Sum));
  ASSERT_EQ(run(makeKernel(kind, steps), toBytes(a), toBytes(b), y), "");
  std::vector<Sum> product = fromBytes<Sum>(y);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(product[i * 8 + j],
                static_cast<Sum>(dot(a, b, kind.k(), i, j, value)))
          << kind.name << " row " << i << " column " << j;
}

/// A multiple of 1/64, so that sums are exact in any order.
double drawFraction(std::mt19937 &random) {
  return (int(random() % 513) - 256) / 64.0;
}

void testHalf(const Kind &kind, const Steps &steps,
              const llvm::fltSemantics &semantics) {
  testProduct<uint16_t, float>(
      kind, steps,
      [&](std::mt19937 &random) {
        return toHalf(drawFraction(random), semantics);
      },
      [&](uint16_t bits) { return fromHalf(bits, semantics); });
}

TEST(EmulatedMatrix, MultipliesHalves) {
  testHalf(half, makeSteps(half), llvm::APFloat::IEEEhalf());
  testHalf(bfloat, makeSteps(bfloat), llvm::APFloat::BFloat());
}

TEST(EmulatedMatrix, ReadsTheUpperBitsOfTF32) {
  testProduct<float, float>(
      tf32, makeSteps(tf32),
      [](std::mt19937 &random) {
        return static_cast<float>(drawFraction(random) * (1 + 0x1p-12));
      },
      truncateToTF32);
}

TEST(EmulatedMatrix, MultipliesIntegers) {
  auto draw = [](std::mt19937 &random) { return random(); };
  testProduct<int8_t, int32_t>(int8, makeSteps(int8), draw,
                               [](int8_t value) { return value; });
  testProduct<uint8_t, int32_t>(uint8, makeSteps(uint8), draw,
                                [](uint8_t value) { return value; });
}

TEST(EmulatedMatrix, WrapsIntegerSums) {
  Steps steps = makeSteps(uint8);
  steps.multiply =
      "  %most = arith.constant dense<2147483647> : vector<4xi32>\n"
      "  %d = tile.mma m16n8k32_u8 %fa, %fb, %most"
      " : vector<16xi8>, vector<8xi8>, vector<4xi32>\n";
  Bytes y(16 * 8 * 4);
  ASSERT_EQ(run(makeKernel(uint8, steps), Bytes(512, 1), Bytes(256, 1), y), "");
  EXPECT_EQ(fromBytes<int32_t>(y)[0], INT32_MIN + 31);
}

/// B is stored as it is, rows along k, and transposed as it is loaded.
TEST(EmulatedMatrix, LoadsTransposedMatrices) {
  Steps steps = makeSteps(half);
  replace(steps.copy, "  tile.async_commit", R"mlir(
  %u = tile.shared : memref<16x8xf16, #gpu.address_space<workgroup>>
  %uc = arith.muli %m2, %c4 : index
  tile.async_copy %b[%bi] to %u[%r2, %uc], 4 : memref<?xf16> to memref<16x8xf16, #gpu.address_space<workgroup>>
  tile.async_commit)mlir");
  replace(steps.multiply, "%fb", "%fu");
  steps.load += R"mlir(
  %fu = tile.load_matrix %u[%m16, %c0] transposed : memref<16x8xf16, #gpu.address_space<workgroup>>, vector<4xf16>
)mlir";
  const llvm::fltSemantics &semantics = llvm::APFloat::IEEEhalf();
  auto draw = [&](std::mt19937 &random) {
    return toHalf(drawFraction(random), semantics);
  };
  auto a = generate<uint16_t>(16 * 16, 1, draw);
  auto b = generate<uint16_t>(16 * 8, 2, draw);
  Bytes y(16 * 8 * 4);
  ASSERT_EQ(run(makeKernel(half, steps), toBytes(a), toBytes(b), y), "");
  auto product = fromBytes<float>(y);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      double sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += fromHalf(a[i * 16 + k], semantics) *
               fromHalf(b[k * 8 + j], semantics);
      EXPECT_EQ(product[i * 8 + j], static_cast<float>(sum));
    }
}

/// Four steps along k; A and B are small enough for one element a lane.
TEST(EmulatedMatrix, MultipliesDoubles) {
  std::string body = R"mlir(
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %group = arith.divui %lane, %c4 : index
  %member = arith.remui %lane, %c4 : index
  %bk = arith.muli %member, %c8 : index
  %bi = arith.addi %bk, %group : index
  %zero = arith.constant dense<0.0> : vector<2xf64>
  %d = scf.for %at = %c0 to %c128 step %c32 iter_args(%c = %zero) -> (vector<2xf64>) {
    %i = arith.addi %at, %lane : index
    %j = arith.addi %at, %bi : index
    %fa = vector.load %a[%i] : memref<?xf64>, vector<1xf64>
    %fb = vector.load %b[%j] : memref<?xf64>, vector<1xf64>
    %next = tile.mma m8n8k4_f64 %fa, %fb, %c : vector<1xf64>, vector<1xf64>, vector<2xf64>
    scf.yield %next : vector<2xf64>
  }
  %yi = arith.muli %lane, %c2 : index
  vector.store %d, %y[%yi] : memref<?xf64>, vector<2xf64>
)mlir";
  // A is 4 tiles of 8 x 4, B 16 x 8.
  auto a = generate<double>(128, 1, drawFraction);
  auto b = generate<double>(128, 2, drawFraction);
  Bytes y(64 * 8);
  ASSERT_EQ(run(makeKernel("f64", "f64", body), toBytes(a), toBytes(b), y), "");
  auto product = fromBytes<double>(y);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      double sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += a[k / 4 * 32 + i * 4 + k % 4] * b[k * 8 + j];
      EXPECT_EQ(product[i * 8 + j], sum);
    }
}

/// Only the first half of k is there: the rest is zeros, and not read.
TEST(EmulatedMatrix, CopiesZerosWhereTheConditionIsFalse) {
  Steps steps = makeSteps(half);
  replace(steps.copy, "  tile.async_copy %a[%ai]", R"mlir(
  %first = arith.cmpi eq, %m2, %c0 : index
  %far = arith.constant 1000000 : index
  %where = arith.select %first, %ai, %far : index
  tile.async_copy %a[%where])mlir");
  Steps unconditional = steps;
  replace(steps.copy, ", 8 :", ", 8 if %first :");

  std::vector<uint16_t> ones(256, toHalf(1, llvm::APFloat::IEEEhalf()));
  Bytes a = toBytes(ones), b(a.begin(), a.begin() + 256), y(16 * 8 * 4);
  ASSERT_EQ(run(makeKernel(half, steps), a, b, y), "");
  for (float value : fromBytes<float>(y))
    EXPECT_EQ(value, 8);

  expectError(run(makeKernel(half, unconditional), a, b, y),
              "thread 1: reads 16 bytes at");
}

//===----------------------------------------------------------------------===//
// Wrong kernels
//===----------------------------------------------------------------------===//

/// The product of ones, with `spoil` applied to the steps of its kernel.
template <typename Spoil> std::string getError(Spoil spoil) {
  Steps steps = makeSteps(half);
  spoil(steps);
  Bytes y(16 * 8 * 4);
  return run(makeKernel(half, steps), Bytes(512), Bytes(256), y);
}

TEST(EmulatedMatrix, SeesAMissingWait) {
  expectError(getError([](Steps &steps) { steps.wait = ""; }),
              "block 0, thread 0: reads bytes 0 to 3 of shared memory, to "
              "which an asynchronous copy of thread 0 is under way: a wait is "
              "missing");
}

TEST(EmulatedMatrix, SeesAWaitForTooFewGroups) {
  expectError(getError([](Steps &steps) {
                steps.wait = "  tile.async_wait {pending = 1 : i64}\n";
              }),
              "is under way: a wait is missing");
}

TEST(EmulatedMatrix, SeesAMissingCommit) {
  expectError(getError([](Steps &steps) {
                replace(steps.copy, "tile.async_commit", "");
              }),
              "is under way: a wait is missing");
}

/// A wait makes the copies of its own thread alone visible, to that thread.
TEST(EmulatedMatrix, SeesAMissingBarrier) {
  expectError(getError([](Steps &steps) { steps.barrier = ""; }),
              "thread 0: reads bytes 384 to 387 of shared memory, which thread "
              "16 wrote with no barrier between: a data race");
  expectError(
      getError([](Steps &steps) { std::swap(steps.wait, steps.barrier); }),
      "with no barrier between: a data race");
}

TEST(EmulatedMatrix, SeesAStoreToTheDestinationOfACopy) {
  expectError(getError([](Steps &steps) {
                steps.copy += R"mlir(
  %one = arith.constant 1.0 : f16
  memref.store %one, %t[%r4, %bc] : memref<8x24xf16, #gpu.address_space<workgroup>>
)mlir";
              }),
              "thread 0: writes bytes 768 to 769 of shared memory, to which an "
              "asynchronous copy of thread 0 is under way");
}

/// The next stage may not overwrite what others have yet to read.
TEST(EmulatedMatrix, SeesACopyOverWhatIsRead) {
  expectError(getError([](Steps &steps) {
                steps.load += R"mlir(
  tile.async_copy %b[%bi] to %t[%r4, %bc], 4 : memref<?xf16> to memref<8x24xf16, #gpu.address_space<workgroup>>
)mlir";
              }),
              "with no barrier between: a data race");
}

TEST(EmulatedMatrix, SeesAMisalignedRow) {
  expectError(getError([](Steps &steps) {
                replace(steps.load, "%s[%m16, %sc]", "%s[%m16, %m16]");
              }),
              "thread 1: reads bytes 50 to 65 of shared memory, relying on an "
              "alignment of 16 bytes that the address lacks");
}

TEST(EmulatedMatrix, SeesAMisalignedCopy) {
  expectError(getError([](Steps &steps) {
                replace(steps.copy, "%a[%ai]", "%a[%lane]");
              }),
              "thread 1: reads bytes 2 to 17 of buffer 0, relying on an "
              "alignment of 16 bytes that the address lacks");
}

TEST(EmulatedMatrix, SeesARowOutOfBounds) {
  expectError(getError([](Steps &steps) {
                replace(steps.load, "%t[%m8, %tc]", "%t[%c16, %tc]");
              }),
              "thread 0: reads bytes 1536 to 1551 of shared memory, which has "
              "1152 bytes");
}

TEST(EmulatedMatrix, SeesUninitialisedRows) {
  expectError(getError([](Steps &steps) {
                replace(steps.load, "%s[%m16, %sc]", "%s[%m16, %c16]");
              }),
              "thread 0: reads bytes 32 to 35 of shared memory, which nothing "
              "has written");
}

TEST(EmulatedMatrix, SeesADivergentMma) {
  expectError(getError([](Steps &steps) {
                steps.multiply = R"mlir(
  %some = arith.cmpi ult, %lane, %c16 : index
  %d = scf.if %some -> (vector<4xf32>) {
    %0 = tile.mma m16n8k16_f16 %fa, %fb, %zero_f32 : vector<8xf16>, vector<4xf16>, vector<4xf32>
    scf.yield %0 : vector<4xf32>
  } else {
    scf.yield %zero_f32 : vector<4xf32>
  }
)mlir";
              }),
              "thread 0: waits at mma 3, but thread 16 of its warp has ended: "
              "divergent control flow");
}

} // namespace

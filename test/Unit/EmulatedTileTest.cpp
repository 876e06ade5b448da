//===- EmulatedTileTest.cpp - kernels compiled for the emulator -----------===//
//
// Tile programs take the compiler's own way, through conversion, LLVM and the
// linker to an executable, and then meet the emulator's checks. Faults are
// planted in the program's text.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/Passes.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include "fusion/Runtime/Executable.h"
#include "fusion/Target/CPU.h"
#include "fusion/Target/CPU/Linker.h"
#include "fusion/Target/Emulator.h"
#include "gtest/gtest.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <numeric>

using namespace mlir;
using namespace fusion::runtime;

namespace {

struct Outcome {
  std::string error; // empty if all went well
  std::vector<float> values;
};

/// Object code of kernel @k, whose body is `body`, with its shared memory.
Kernel compileKernel(const std::string &body, int64_t threads) {
  std::string text =
      "tile.kernel @k(%x: memref<?xf32> {tile.access = \"read\"}, "
      "%y: memref<?xf32> {tile.access = \"write\"}, %n: index) "
      "attributes {grid = affine_map<()[s0] -> (s0)>, threads = " +
      std::to_string(threads) +
      " : i64} {\n"
      "  %block = gpu.block_id x\n  %thread = gpu.thread_id x\n"
      "  %threads = arith.constant " +
      std::to_string(threads) +
      " : index\n"
      "  %first = arith.muli %block, %threads : index\n"
      "  %i = arith.addi %first, %thread : index\n" +
      body + "  tile.return\n}\n";
  DialectRegistry registry;
  registry
      .insert<fusion::tile::TileDialect, arith::ArithDialect, gpu::GPUDialect,
              memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  PassManager passes(&context);
  passes.addNestedPass<fusion::tile::KernelOp>(
      fusion::createTileExpandReduce());
  passes.addPass(
      fusion::createConvertTileToLLVM({fusion::KernelTarget::Emulator}));
  Kernel kernel;
  if (!module || failed(passes.run(*module))) {
    ADD_FAILURE() << "the kernel does not compile:\n" << text;
    return kernel;
  }
  for (Operation &op : *module->getBody())
    if (auto bytes = op.getAttrOfType<IntegerAttr>(fusion::sharedBytesAttrName))
      kernel.sharedBytes = bytes.getInt();
  FailureOr<std::string> code = fusion::emitObject(*module);
  EXPECT_TRUE(succeeded(code));
  kernel.name = "k";
  kernel.code = code.value_or("");
  kernel.threads = threads;
  return kernel;
}

TensorSpec vectorOf(int64_t size) {
  TensorSpec spec;
  spec.sizes = {SizeExpr::constant(size)};
  spec.strides = {SizeExpr::constant(1)};
  spec.align = 4;
  return spec;
}

fusion_tensor view(std::vector<float> &data) {
  fusion_tensor tensor = {};
  tensor.data = data.data();
  tensor.dtype = FUSION_F32;
  tensor.rank = 1;
  tensor.sizes[0] = data.size();
  tensor.strides[0] = 1;
  return tensor;
}

/// Runs @k on 1, 2, ... for every thread of `grid` blocks, with a result of
/// `size` elements.
Outcome run(const std::string &body, int64_t threads, int64_t grid,
            int64_t size) {
  registerCpuTarget();
  registerEmulatorTarget();

  Plan plan;
  plan.target = TargetKind::Emulator;
  plan.arguments = {vectorOf(threads * grid)};
  plan.results = {vectorOf(size)};
  plan.kernels = {compileKernel(body, threads)};
  Launch launch;
  launch.buffers = {{BufferRef::Kind::Argument, 0},
                    {BufferRef::Kind::Result, 0}};
  launch.sizes = {SizeExpr::constant(grid)};
  launch.grid = SizeExpr::constant(grid);
  launch.location = "model.py:7:5";
  plan.launches = {launch};

  Outcome outcome;
  std::vector<float> input(threads * grid);
  std::iota(input.begin(), input.end(), 1.f);
  outcome.values.resize(size);
  fusion_tensor argument = view(input), result = view(outcome.values);
  std::unique_ptr<Executable> executable;
  Status status = Executable::create(std::move(plan), executable);
  if (!status.failed())
    status = executable->run(&argument, 1, &result, 1, nullptr, nullptr);
  if (status.failed()) {
    EXPECT_EQ(status.kind, "device");
    EXPECT_EQ(status.location, "model.py:7:5");
  }
  outcome.error = status.message;
  return outcome;
}

testing::AssertionResult fails(const Outcome &outcome, const char *words) {
  if (outcome.error.find(words) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "error is '" << outcome.error << "'";
}

constexpr const char *load = "  %v = memref.load %x[%i] : memref<?xf32>\n";
constexpr const char *store = "  memref.store %v, %y[%i] : memref<?xf32>\n";

TEST(EmulatedTile, Copies) {
  Outcome outcome = run(std::string(load) + store, 64, 3, 192);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.values.front(), 1.f);
  EXPECT_EQ(outcome.values.back(), 192.f);
}

TEST(EmulatedTile, ReducesOverWarps) {
  std::string body = std::string(load) + R"(
  %sum = tile.reduce %v {width = 256 : i64} : f32 {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    tile.yield %0 : f32
  }
  memref.store %sum, %y[%i] : memref<?xf32>
)";
  Outcome outcome = run(body, 256, 2, 512);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.values[255], 256 * 257 / 2.f);
  EXPECT_EQ(outcome.values[256], 512 * 513 / 2.f - 256 * 257 / 2.f);
}

TEST(EmulatedTile, ChecksBounds) {
  EXPECT_TRUE(fails(run(std::string(load) + store, 64, 3, 191),
                    "block 2, thread 63: writes bytes 764 to 767 of buffer 1, "
                    "which has 764 bytes"));
  EXPECT_TRUE(
      fails(run(std::string(load) + store, 64, 3, 193),
            "ends without having written bytes 768 to 771 of buffer 1"));
}

TEST(EmulatedTile, ChecksAlignment) {
  std::string body = R"(
  %v = vector.load %x[%thread] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  vector.store %v, %y[%thread] : memref<?xf32>, vector<4xf32>
)";
  EXPECT_TRUE(fails(run(body, 4, 2, 8), "relying on an alignment of 16 bytes"));
}

TEST(EmulatedTile, ChecksMaskedLanes) {
  std::string body = R"(
  %c4 = arith.constant 4 : index
  %c3 = arith.constant 3 : index
  %at = arith.muli %thread, %c4 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %mask = vector.create_mask %count : vector<4xi1>
  %v = vector.maskedload %x[%at], %mask, %zero
      : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %y[%at], %mask, %v
      : memref<?xf32>, vector<4xi1>, vector<4xf32>
)";
  // One thread, and a grid of three blocks to have three elements.
  std::string onlyFirst = "  %c0 = arith.constant 0 : index\n"
                          "  %is = arith.cmpi eq, %block, %c0 : index\n"
                          "  scf.if %is {\n";
  std::string three = "  %count = arith.constant 3 : index\n";
  std::string four = "  %count = arith.constant 4 : index\n";
  EXPECT_EQ(run(onlyFirst + three + body + "}\n", 1, 3, 3).error, "");
  EXPECT_TRUE(fails(run(onlyFirst + four + body + "}\n", 1, 3, 3),
                    "reads bytes 12 to 15 of buffer 0, which has 12 bytes"));
}

/// Each thread hands its value to the next one through shared memory.
std::string rotate(const std::string &between) {
  return std::string(load) + R"(
  %s = tile.shared : memref<64xf32, #gpu.address_space<workgroup>>
  memref.store %v, %s[%thread] : memref<64xf32, #gpu.address_space<workgroup>>
)" + between +
         R"(
  %c1 = arith.constant 1 : index
  %next = arith.addi %thread, %c1 : index
  %j = arith.remui %next, %threads : index
  %w = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
  memref.store %w, %y[%i] : memref<?xf32>
)";
}

TEST(EmulatedTile, ChecksSharedMemory) {
  Outcome outcome = run(rotate("  gpu.barrier\n"), 64, 2, 128);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.values[0], 2.f);
  EXPECT_EQ(outcome.values[63], 1.f);
  EXPECT_EQ(outcome.values[127], 65.f);
  EXPECT_TRUE(fails(run(rotate(""), 64, 2, 128), "which nothing has written"));
}

TEST(EmulatedTile, ChecksBarriers) {
  std::string divergent = R"(
  %c32 = arith.constant 32 : index
  %some = arith.cmpi ult, %thread, %c32 : index
  scf.if %some {
    gpu.barrier
  }
)";
  EXPECT_TRUE(fails(run(std::string(load) + store + divergent, 64, 1, 64),
                    "block 0, thread 0: waits at barrier 0, but thread 32 of "
                    "its block has ended"));
}

} // namespace

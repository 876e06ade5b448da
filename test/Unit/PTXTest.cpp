//===- PTXTest.cpp - kernels as PTX ---------------------------------------===//
//
// What the text must hold for strict numerics and fast loads, and that NVIDIA's
// assembler takes it for every architecture.
//
//===----------------------------------------------------------------------===//

#include "KernelText.h"
#include "fusion/Conversion/Passes.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include "fusion/Target/NVPTX.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace fusion;
using namespace fusion::test;

/// Arithmetic whose rounding must be the graph's own, step by step.
static constexpr const char *arithmetic = R"mlir(
tile.kernel @arithmetic(
    %x: memref<?xf32> {tile.access = "read", tile.align = 16 : i64},
    %y: memref<?xf32> {tile.access = "write", tile.align = 16 : i64}, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, threads = 128 : i64,
                index_bits = 32 : i64} {
  %thread = gpu.thread_id x
  %block = gpu.block_id x
  %c512 = arith.constant 512 : index
  %c4 = arith.constant 4 : index
  %0 = arith.muli %block, %c512 : index
  %1 = arith.muli %thread, %c4 : index
  %i = arith.addi %0, %1 : index
  %a = vector.load %x[%i] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  %product = arith.mulf %a, %a : vector<4xf32>
  %sum = arith.addf %product, %a : vector<4xf32>
  %quotient = arith.divf %sum, %a : vector<4xf32>
  %root = math.sqrt %quotient : vector<4xf32>
  %least = arith.minimumf %root, %a : vector<4xf32>
  vector.store %least, %y[%i] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  tile.return
}
)mlir";

/// Functions of libdevice, reductions in a warp and over the block.
static constexpr const char *softmaxLike = R"mlir(
tile.kernel @softmax(%x: memref<?xf32> {tile.access = "read"},
                     %y: memref<?xf32> {tile.access = "write"}, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, threads = 256 : i64} {
  %thread = gpu.thread_id x
  %0 = memref.load %x[%thread] : memref<?xf32>
  %max = tile.reduce %0 {width = 256 : i64} : f32 {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.maximumf %a, %b : f32
    tile.yield %1 : f32
  }
  %2 = arith.subf %0, %max : f32
  %3 = math.exp %2 : f32
  %sum = tile.reduce %3 {width = 256 : i64} : f32 {
  ^bb0(%a: f32, %b: f32):
    %4 = arith.addf %a, %b : f32
    tile.yield %4 : f32
  }
  %5 = arith.divf %3, %sum : f32
  memref.store %5, %y[%thread] : memref<?xf32>
  tile.return
}
)mlir";

static std::string emit(const char *text, llvm::StringRef arch) {
  KernelText kernel(text);
  EXPECT_TRUE(kernel.convert(KernelTarget::NVVM)) << kernel.getErrors();
  auto ptx = emitPTX(kernel.getModule(), arch);
  EXPECT_TRUE(mlir::succeeded(ptx)) << kernel.getErrors();
  return mlir::succeeded(ptx) ? *ptx : "";
}

static bool contains(llvm::StringRef text, llvm::StringRef part) {
  return text.contains(part);
}

TEST(PTX, RoundsEveryStep) {
  std::string ptx = emit(arithmetic, "sm_90a");
  for (const char *instruction :
       {"mul.rn.f32", "add.rn.f32", "div.rn.f32", "sqrt.rn.f32", "min.NaN.f32"})
    EXPECT_TRUE(contains(ptx, instruction)) << instruction << "\n" << ptx;
  for (const char *instruction : {"fma", ".ftz", ".approx"})
    EXPECT_FALSE(contains(ptx, instruction)) << instruction << "\n" << ptx;
}

TEST(PTX, LoadsVectorsOfReadOnlyBuffers) {
  std::string ptx = emit(arithmetic, "sm_80");
  EXPECT_TRUE(contains(ptx, ".version 7.8\n.target sm_80")) << ptx;
  EXPECT_TRUE(contains(ptx, "ld.global.nc.v4.b32")) << ptx;
  EXPECT_TRUE(contains(ptx, "st.global.v4.b32")) << ptx;
  EXPECT_TRUE(contains(ptx, ".param .u32 arithmetic_param_2")) << ptx;
  EXPECT_TRUE(contains(ptx, ".reqntid 128")) << ptx;
}

TEST(PTX, RefusesAnUnknownArchitecture) {
  KernelText kernel(arithmetic);
  ASSERT_TRUE(kernel.convert(KernelTarget::NVVM)) << kernel.getErrors();
  EXPECT_TRUE(mlir::failed(emitPTX(kernel.getModule(), "sm_70")));
  EXPECT_TRUE(contains(kernel.getErrors(),
                       "unknown GPU architecture 'sm_70'; use one of sm_80"))
      << kernel.getErrors();
}

/// Path of ptxas, or empty.
static std::string findAssembler() {
  if (auto path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  llvm::StringRef toolkit = "/usr/local/cuda/bin";
  auto path = llvm::sys::findProgramByName("ptxas", toolkit);
  return path ? *path : "";
}

/// Assembles `ptx` and returns what ptxas prints of it, "" on failure.
static std::string assemble(llvm::StringRef assembler, llvm::StringRef ptx,
                            llvm::StringRef arch) {
  llvm::SmallString<128> source, object, log;
  for (auto [path, suffix] :
       {std::pair(&source, "ptx"), std::pair(&object, "cubin"),
        std::pair(&log, "log")})
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("kernel", suffix, *path));
  llvm::FileRemover removeSource(source), removeObject(object), removeLog(log);
  {
    std::error_code error;
    llvm::raw_fd_ostream(source, error) << ptx;
  }
  std::string option = ("-arch=" + arch).str();
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, log.str(),
                                                log.str()};
  int result = llvm::sys::ExecuteAndWait(
      assembler, {assembler, "-v", option, source, "-o", object}, std::nullopt,
      redirects);
  auto output = llvm::MemoryBuffer::getFile(log);
  std::string text = output ? (*output)->getBuffer().str() : "";
  EXPECT_EQ(result, 0) << text << ptx.str();
  return result == 0 ? text : "";
}

TEST(PTX, IsAssembledForEveryArchitecture) {
  std::string assembler = findAssembler();
  if (assembler.empty())
    GTEST_SKIP() << "ptxas is not installed";
  for (llvm::StringRef arch : getPTXArchitectures())
    for (const char *text : {arithmetic, softmaxLike}) {
      std::string log = assemble(assembler, emit(text, arch), arch);
      EXPECT_TRUE(contains(log, "0 bytes spill stores")) << arch.str() << log;
    }
}

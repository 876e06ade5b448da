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

/// A product of halves by way of shared memory, added to ones of tf32, whose
/// store is under a condition that lanes of a warp answer differently.
static constexpr const char *tensorCores = R"mlir(
tile.kernel @tensor_cores(
    %a: memref<?xf16> {tile.access = "read", tile.align = 16 : i64},
    %b: memref<?xbf16> {tile.access = "read", tile.align = 16 : i64},
    %y: memref<?xf32> {tile.access = "write", tile.align = 16 : i64}, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, threads = 32 : i64,
                index_bits = 32 : i64} {
  %s = tile.shared : memref<32x40xf16, #gpu.address_space<workgroup>>
  %t = tile.shared : memref<32x40xbf16, #gpu.address_space<workgroup>>
  %lane = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %i = arith.muli %lane, %c8 : index
  %inside = arith.cmpi slt, %i, %n : index
  tile.async_copy %a[%i] to %s[%lane, %c0], 8 if %inside : memref<?xf16> to memref<32x40xf16, #gpu.address_space<workgroup>>
  tile.async_copy %b[%i] to %t[%lane, %c0], 4 if %inside : memref<?xbf16> to memref<32x40xbf16, #gpu.address_space<workgroup>>
  tile.async_copy %b[%i] to %t[%lane, %c8], 2 : memref<?xbf16> to memref<32x40xbf16, #gpu.address_space<workgroup>>
  tile.async_commit
  tile.async_wait {pending = 0 : i64}
  gpu.barrier
  %0 = tile.load_matrix %s[%lane, %c0] : memref<32x40xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  %1 = tile.load_matrix %s[%lane, %c8] transposed : memref<32x40xf16, #gpu.address_space<workgroup>>, vector<4xf16>
  %2 = tile.load_matrix %t[%lane, %c0] : memref<32x40xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
  %3 = tile.load_matrix %t[%lane, %c8] transposed : memref<32x40xbf16, #gpu.address_space<workgroup>>, vector<4xbf16>
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %4 = tile.mma m16n8k16_f16 %0, %1, %zero : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %5 = tile.mma m16n8k16_bf16 %2, %3, %4 : vector<8xbf16>, vector<4xbf16>, vector<4xf32>
  %6 = tile.round_tf32 %5 : vector<4xf32>
  %7 = vector.extract_strided_slice %6 {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  %8 = tile.mma m16n8k8_tf32 %6, %7, %5 : vector<4xf32>, vector<2xf32>, vector<4xf32>
  scf.if %inside {
    vector.store %8, %y[%i] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  }
  tile.return
}
)mlir";

/// Products of integers and doubles; a matrix of bytes.
static constexpr const char *otherProducts = R"mlir(
tile.kernel @products(
    %a: memref<?xi8> {tile.access = "read", tile.align = 16 : i64},
    %b: memref<?xf64> {tile.access = "read", tile.align = 16 : i64},
    %y: memref<?xi32> {tile.access = "write", tile.align = 16 : i64},
    %z: memref<?xf64> {tile.access = "write", tile.align = 16 : i64})
    attributes {grid = affine_map<() -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<32x16xi8, #gpu.address_space<workgroup>>
  %lane = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %i = arith.muli %lane, %c16 : index
  %0 = vector.load %a[%i] {alignment = 16 : i64} : memref<?xi8>, vector<16xi8>
  vector.store %0, %s[%lane, %c0] {alignment = 16 : i64} : memref<32x16xi8, #gpu.address_space<workgroup>>, vector<16xi8>
  gpu.barrier
  %1 = tile.load_matrix %s[%lane, %c0] : memref<32x16xi8, #gpu.address_space<workgroup>>, vector<16xi8>
  %2 = tile.load_matrix %s[%lane, %c0] : memref<32x16xi8, #gpu.address_space<workgroup>>, vector<8xi8>
  %zero = arith.constant dense<0> : vector<4xi32>
  %3 = tile.mma m16n8k32_s8 %1, %2, %zero : vector<16xi8>, vector<8xi8>, vector<4xi32>
  %4 = tile.mma m16n8k32_u8 %1, %2, %3 : vector<16xi8>, vector<8xi8>, vector<4xi32>
  %j = arith.muli %lane, %c4 : index
  vector.store %4, %y[%j] {alignment = 16 : i64} : memref<?xi32>, vector<4xi32>
  %5 = vector.load %b[%lane] : memref<?xf64>, vector<1xf64>
  %k = arith.muli %lane, %c2 : index
  %6 = vector.load %b[%k] {alignment = 16 : i64} : memref<?xf64>, vector<2xf64>
  %7 = tile.mma m8n8k4_f64 %5, %5, %6 : vector<1xf64>, vector<1xf64>, vector<2xf64>
  vector.store %7, %z[%k] {alignment = 16 : i64} : memref<?xf64>, vector<2xf64>
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

TEST(PTX, UsesTensorCores) {
  std::string ptx = emit(tensorCores, "sm_80");
  llvm::StringRef rest = ptx;
  for (llvm::StringRef instruction :
       {"cp.async.cg.shared.global [", "], 16, %r",
        "cp.async.ca.shared.global [", "], 8, %r",
        "cp.async.ca.shared.global [", "], 4;", "cp.async.commit_group;",
        "cp.async.wait_group", "bar.sync",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "cvt.rna.tf32.f32",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
        // No product has moved behind the condition.
        "bra", "st.global.v4.b32"}) {
    size_t at = rest.find(instruction);
    ASSERT_NE(at, llvm::StringRef::npos) << instruction.str() << "\n" << ptx;
    rest = rest.drop_front(at + instruction.size());
  }
  EXPECT_FALSE(contains(rest, "mma.sync")) << ptx;
  // Fragments come from ldmatrix as mma takes them.
  for (llvm::StringRef instruction : {"prmt", "cvt.u16", "mov.b64 {"})
    EXPECT_FALSE(contains(ptx, instruction)) << instruction.str() << ptx;
}

TEST(PTX, MultipliesIntegersAndDoubles) {
  std::string ptx = emit(otherProducts, "sm_80");
  for (const char *instruction :
       {"ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16",
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"})
    EXPECT_TRUE(contains(ptx, instruction)) << instruction << "\n" << ptx;
  EXPECT_FALSE(contains(ptx, "prmt")) << ptx;
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
    for (const char *text :
         {arithmetic, softmaxLike, tensorCores, otherProducts}) {
      std::string log = assemble(assembler, emit(text, arch), arch);
      EXPECT_TRUE(contains(log, "0 bytes spill stores")) << arch.str() << log;
    }
}

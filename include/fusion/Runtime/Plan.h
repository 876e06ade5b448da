//===- Plan.h - what an executable does, without MLIR ---------------------===//
//
// The compiler writes a Plan, the runtime runs it, and the disk cache stores
// it: plain data, no pointers into anything. Sizes are expressions over
// symbols, the sizes and strides of arguments, evaluated once a call.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_PLAN_H
#define FUSION_RUNTIME_PLAN_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fusion::runtime {

enum class DType : uint8_t { F64, F32, F16, BF16, I8, I16, I32, I64, U8, Bool };
/// Bytes of one element.
int64_t getSize(DType type);
/// "f32", "bf16", "ui8", "i1": as in the graph's text.
const char *getName(DType type);

/// An integer expression in postfix form over the plan's symbols.
struct SizeExpr {
  enum class Op : uint8_t {
    Constant,
    Symbol,
    Add,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod
  };
  struct Item {
    Op op;
    int64_t value = 0; // the constant, or the symbol's number
  };
  std::vector<Item> items;

  static SizeExpr constant(int64_t value) { return {{{Op::Constant, value}}}; }
  static SizeExpr symbol(int64_t number) { return {{{Op::Symbol, number}}}; }
  /// The value for `symbols`. Sums and products saturate, division rounds down
  /// and by zero gives zero, a remainder is never negative.
  int64_t evaluate(const std::vector<int64_t> &symbols) const;
  /// Whether this is one value, built from symbols below `numSymbols`.
  bool isValid(size_t numSymbols) const;
};

/// Where a symbol's value is found in a call: size or stride of an argument.
struct SymbolSource {
  int32_t argument = 0;
  int32_t dim = 0;
  bool stride = false;
};

/// Type of an argument, a result or a constant.
struct TensorSpec {
  DType dtype = DType::F32;
  std::vector<SizeExpr> sizes;
  /// In elements. Empty for an argument whose strides are symbols of the plan.
  std::vector<SizeExpr> strides;
  /// Alignment in bytes that kernels rely on (arguments only).
  int64_t align = 1;
  /// The argument's name in the source, for messages: "x". May be empty.
  std::string name;
};

/// A buffer that a launch reads or writes. Values are written once: the first
/// launch that names a result or a temporary writes it, later ones read it.
struct BufferRef {
  enum class Kind : uint8_t { Argument, Result, Constant, Temporary };
  Kind kind = Kind::Argument;
  int32_t index = 0;
};

/// Workspace of one call; lifetimes are launch numbers, both ends included.
struct Temporary {
  SizeExpr bytes;
  int32_t elementBytes = 1; // of one element, for the bound of 32-bit indices
  int32_t firstUse = 0;
  int32_t lastUse = 0;
};

struct Constant {
  std::string data; // raw bytes, row-major in the spec's order
  int64_t align = 64;
};

/// One compiled kernel: PTX text or a CPU object file.
struct Kernel {
  std::string name; // symbol in `code`
  std::string code;
  int32_t threads = 1;
  int32_t indexBits = 64;
  /// Shared memory of a block. A GPU kernel declares it in its code; the
  /// emulator allocates it.
  int64_t sharedBytes = 0;
};

struct Launch {
  int32_t kernel = 0;
  std::vector<BufferRef> buffers;
  std::vector<SizeExpr> sizes;
  SizeExpr grid; // number of blocks; 0 skips the launch
  /// Cost of the launch in bytes moved or, where greater, scalar operations; it
  /// decides how many CPU threads share it. Empty: the bytes of its buffers.
  SizeExpr work;
  std::string location; // of the group's first op, for messages
};

enum class TargetKind : uint8_t { CPU, CUDA, Emulator };

struct Plan {
  TargetKind target = TargetKind::CPU;
  std::string arch; // "sm_90a", or the CPU's feature key
  std::vector<SymbolSource> symbols;
  std::vector<TensorSpec> arguments;
  std::vector<TensorSpec> results;
  std::vector<Constant> constants;
  std::vector<Temporary> temporaries;
  std::vector<Kernel> kernels;
  std::vector<Launch> launches;
  std::string report; // the JSON of fusion_executable_report
};

/// What is inconsistent in a plan, such as an index out of range, or "".
std::string check(const Plan &plan);

/// Byte form of a plan, with a checksum; `read` returns false and a reason for
/// anything that `write` did not write.
std::string write(const Plan &plan);
bool read(const std::string &data, Plan &plan, std::string &reason);

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_PLAN_H

//===- Compiler.h - a graph's text to a plan ------------------------------===//
//
// The whole way in one call: parse, fuse, schedule, convert, emit code, and
// write down what has to be launched. What comes out is plain data, which the
// runtime runs without MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_COMPILER_COMPILER_H
#define FUSION_COMPILER_COMPILER_H

#include "fusion/Runtime/Executable.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace fusion {

struct CompileOptions {
  std::string target = "cpu";
  std::string numerics = "strict";
  bool useCache = true;
  std::string cacheFolder;
  std::vector<std::string> disable;
};

/// Compiles `func.func @main` of a module in MLIR text.
runtime::Status compile(llvm::StringRef text, const CompileOptions &options,
                        runtime::Plan &plan);

} // namespace fusion

#endif // FUSION_COMPILER_COMPILER_H

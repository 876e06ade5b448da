//===- Call.h - calls of the C ABI from the command-line tools ------------===//
//
// Ownership and errors of the C ABI in LLVM's terms, and the options that say
// how to compile.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_COMMON_CALL_H
#define FUSION_TOOLS_COMMON_CALL_H

#include "fusion-c/fusion.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>

namespace fusion::tools {

/// Takes the error; its text is "kind: location: message; remedy".
llvm::Error toError(fusion_error *error);

struct FreeExecutable {
  void operator()(fusion_executable *executable) const {
    fusion_executable_free(executable);
  }
};
using Executable = std::unique_ptr<fusion_executable, FreeExecutable>;

/// Contents of a file, or of standard input for "-".
llvm::Expected<std::string> readText(llvm::StringRef path);

/// The options --target, --numerics, --no-cache and --disable.
llvm::StringRef getTarget();
/// True if the target is a GPU, so that data has to lie in its memory.
bool isGpuTarget();
/// Compiles for the target of the command line.
llvm::Expected<Executable> compile(llvm::StringRef text);
/// The executable's report, parsed.
llvm::Expected<llvm::json::Object> getReport(const Executable &executable);
/// Writes the phases of compilation and their milliseconds.
void printTiming(const llvm::json::Object &report, llvm::raw_ostream &stream);

/// Parses the command line, runs `body`, and writes its error; the exit code.
int runTool(int argc, char **argv, const char *overview,
            llvm::function_ref<llvm::Error()> body);

} // namespace fusion::tools

#endif // FUSION_TOOLS_COMMON_CALL_H

//===- fusion-compile.cpp - compiles a graph to files ---------------------===//
//
// Compiles a graph for any target, present or not, and writes its code, its
// report or the whole executable, by the ending of the output's name.
//
//===----------------------------------------------------------------------===//

#include "common/Call.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace fusion::tools;
using namespace llvm;

static cl::OptionCategory category("Output");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<graph.mlir>"), cl::cat(category));
static cl::opt<std::string> output(
    "o", cl::init("-"), cl::cat(category),
    cl::desc(
        "where to write: .ptx or .o for the code of the kernels, .json for "
        "the report, .fusion for the executable; the report goes to the "
        "standard output by default"));
static cl::opt<bool> timing("timing", cl::cat(category),
                            cl::desc("show the phases of compilation"));

static Error writeFile(StringRef path, StringRef contents) {
  std::error_code code;
  ToolOutputFile file(path, code, sys::fs::OF_None);
  if (!code) {
    file.os() << contents;
    file.os().flush();
    code = file.os().error();
    file.os().clear_error();
  }
  if (code)
    return createStringError(code, "io: " + path + ": " + code.message());
  file.keep();
  return Error::success();
}

/// The code of the kernels; kernels that share a module have it once.
static SmallVector<StringRef> getModules(const Executable &executable) {
  SmallVector<StringRef> modules;
  StringSet<> seen;
  for (size_t i = 0, e = fusion_executable_num_kernels(executable.get()); i < e;
       ++i) {
    size_t length = 0;
    const char *code =
        fusion_executable_kernel_code(executable.get(), i, &length);
    StringRef module(code, length);
    if (seen.insert(module).second)
      modules.push_back(module);
  }
  return modules;
}

/// Writes one module to `path`, of several number i to `name.i.ending`.
static Error writeModules(const Executable &executable, StringRef path) {
  SmallVector<StringRef> modules = getModules(executable);
  if (modules.empty())
    return createStringError("compile: the graph needs no kernel, there is no "
                             "code to write; ask for a .json report");
  for (auto [i, module] : enumerate(modules)) {
    SmallString<128> name(path);
    if (modules.size() > 1) {
      StringRef ending = sys::path::extension(path);
      sys::path::replace_extension(name, Twine(i) + ending);
    }
    if (Error error = writeFile(name, module))
      return error;
    errs() << "wrote " << name << "\n";
  }
  return Error::success();
}

static Error writeExecutable(const Executable &executable, StringRef path) {
  char *data = nullptr;
  size_t length = 0;
  if (Error error =
          toError(fusion_executable_save(executable.get(), &data, &length)))
    return error;
  Error error = writeFile(path, StringRef(data, length));
  fusion_string_free(data);
  return error;
}

static Error writeReport(const json::Object &report, StringRef path) {
  return writeFile(path,
                   formatv("{0:2}\n", json::Value(json::Object(report))).str());
}

/// What the output's ending asks for must be what the target has.
static Error checkEnding(StringRef ending) {
  if (ending == ".ptx" && !isGpuTarget())
    return createStringError("argument: target '" + getTarget() +
                             "' has no PTX; use --target sm_90a, for example");
  if (ending == ".o" && isGpuTarget())
    return createStringError("argument: target '" + getTarget() +
                             "' has no object code; write a .ptx file");
  if (!is_contained({".ptx", ".o", ".json", ".fusion", ""}, ending))
    return createStringError("argument: unknown ending '" + ending +
                             "'; use .ptx, .o, .json or .fusion");
  return Error::success();
}

static Error run() {
  StringRef ending = sys::path::extension(output);
  if (Error error = checkEnding(ending))
    return error;
  Expected<std::string> text = readText(input);
  if (!text)
    return text.takeError();
  Expected<Executable> executable = compile(*text);
  if (!executable)
    return executable.takeError();
  Expected<json::Object> report = getReport(*executable);
  if (!report)
    return report.takeError();
  if (timing)
    printTiming(*report, errs());
  if (ending == ".ptx" || ending == ".o")
    return writeModules(*executable, output);
  if (ending == ".fusion")
    return writeExecutable(*executable, output);
  return writeReport(*report, output);
}

int main(int argc, char **argv) {
  return runTool(argc, argv, "compiles a graph of tensor operations\n", run);
}

//===- Call.cpp - calls of the C ABI from the command-line tools ----------===//

#include "Call.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace fusion::tools;
using namespace llvm;

static cl::OptionCategory category("Compilation");
static cl::opt<std::string>
    target("target", cl::init("cpu"), cl::cat(category),
           cl::desc("cpu (default), emulator, cuda, or sm_80 to sm_120"));
static cl::opt<std::string>
    numerics("numerics", cl::init("strict"), cl::cat(category),
             cl::desc("strict (default) rounds after every op, fast within "
                      "kernels only"));
static cl::opt<bool> noCache("no-cache", cl::cat(category),
                             cl::desc("compile anew, and keep nothing"));
static cl::list<std::string>
    disable("disable", cl::CommaSeparated, cl::cat(category),
            cl::desc("names of rewrites not to apply"));

Error fusion::tools::toError(fusion_error *error) {
  if (!error)
    return Error::success();
  std::string text = fusion_error_kind(error);
  text += ": ";
  if (StringRef location = fusion_error_location(error); !location.empty())
    text += (location + ": ").str();
  text += fusion_error_message(error);
  if (StringRef remedy = fusion_error_remedy(error); !remedy.empty())
    text += ("; " + remedy).str();
  fusion_error_free(error);
  return createStringError(inconvertibleErrorCode(), text);
}

Expected<std::string> fusion::tools::readText(StringRef path) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return createStringError(buffer.getError(),
                             path + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

StringRef fusion::tools::getTarget() { return target; }

bool fusion::tools::isGpuTarget() {
  return target == "cuda" || StringRef(target).starts_with("sm_");
}

Expected<Executable> fusion::tools::compile(StringRef text) {
  json::Object options{{"target", target.getValue()},
                       {"numerics", numerics.getValue()},
                       {"disable", json::Array(disable)}};
  if (noCache)
    options["cache"] = false;
  std::string json = formatv("{0}", json::Value(std::move(options)));
  fusion_executable *executable = nullptr;
  if (Error error = toError(
          fusion_compile(text.data(), text.size(), json.c_str(), &executable)))
    return std::move(error);
  return Executable(executable);
}

Expected<json::Object> fusion::tools::getReport(const Executable &executable) {
  Expected<json::Value> value =
      json::parse(fusion_executable_report(executable.get()));
  if (!value)
    return value.takeError();
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return createStringError("the report is no JSON object");
}

void fusion::tools::printTiming(const json::Object &report,
                                raw_ostream &stream) {
  if (report.getBoolean("from_cache").value_or(false))
    stream << "found in the cache, nothing compiled\n";
  const json::Array *phases = report.getArray("timing");
  double total = 0;
  for (const json::Value &value : phases ? *phases : json::Array()) {
    const json::Object *phase = value.getAsObject();
    if (!phase)
      continue;
    double ms = phase->getNumber("ms").value_or(0);
    stream << format("%10.2f ms  ", ms)
           << phase->getString("phase").value_or("") << "\n";
    total += ms;
  }
  stream << format("%10.2f ms  total\n", total);
}

int fusion::tools::runTool(int argc, char **argv, const char *overview,
                           function_ref<Error()> body) {
  InitLLVM init(argc, argv);
  cl::SetVersionPrinter([](raw_ostream &stream) {
    stream << "fusion " << fusion_version() << "\n";
  });
  cl::ParseCommandLineOptions(argc, argv, overview);
  Error error = body();
  if (!error)
    return 0;
  outs().flush();
  handleAllErrors(std::move(error), [](const ErrorInfoBase &info) {
    WithColor::error() << info.message() << "\n";
  });
  return 1;
}

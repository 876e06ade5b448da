//===- fusion-run.cpp - runs a graph --------------------------------------===//
//
// Compiles a graph and runs it on data from .npy files or on random data;
// checks the results against the reference evaluator, and times the run.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Execution.h"
#include "common/Call.h"
#include "common/Check.h"
#include "common/Npy.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

using namespace fusion::tools;
using namespace llvm;

static cl::OptionCategory category("Run");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<graph.mlir>"), cl::cat(category));
static cl::list<std::string>
    files(cl::Positional, cl::desc("[argument.npy...]"), cl::cat(category));
static cl::opt<uint64_t>
    seed("seed", cl::init(0), cl::cat(category),
         cl::desc("seed of the arguments for which no file is given"));
static cl::list<std::string>
    sizes("size", cl::CommaSeparated, cl::cat(category),
          cl::desc("N=4 for the symbol N, 16 for all other symbolic sizes "
                   "(default 13)"));
static cl::opt<bool>
    check("check", cl::cat(category),
          cl::desc("compare the results with the reference evaluator's"));
static cl::opt<double>
    tolerance("tolerance", cl::init(-1), cl::cat(category),
              cl::desc("largest relative error for --check (default: a few "
                       "units in the last place of the least precise type)"));
static cl::opt<bool> reference("reference", cl::cat(category),
                               cl::desc("only run the reference evaluator"));
static cl::opt<bool> timeRuns("time", cl::cat(category),
                              cl::desc("time the run: median and best"));
static cl::opt<bool> timing("timing", cl::cat(category),
                            cl::desc("show the phases of compilation"));
static cl::opt<int64_t>
    printLimit("print", cl::init(64), cl::cat(category),
               cl::desc("print results of at most this many elements whole"));
static cl::list<std::string>
    outputs("output", cl::CommaSeparated, cl::cat(category),
            cl::desc("files for the results, .npy, in order"));

/// Compares all results and says how each did.
static Error checkResults(StringRef text, ArrayRef<HostTensor> arguments,
                          ArrayRef<HostTensor> results) {
  Expected<std::vector<HostTensor>> expected =
      evaluateReference(text, arguments);
  if (!expected)
    return expected.takeError();
  double limit = tolerance >= 0 ? tolerance.getValue() : getTolerance(text);
  int64_t numWrong = 0;
  for (auto [i, result, right] : enumerate(results, *expected)) {
    outs() << "check " << i << ": ";
    if (result.getDType() != right.getDType() ||
        result.getSizes() != right.getSizes()) {
      outs() << "wrong, expected " << getName(right.getDType()) << " "
             << formatSizes(right.getSizes()) << "\n";
      ++numWrong;
      continue;
    }
    Check outcome = compare(result, right, limit);
    numWrong += outcome.numWrong;
    if (!outcome.numWrong) {
      outs() << "passed, largest error " << format("%.2g", outcome.maxError)
             << " (tolerance " << format("%.2g", limit) << ")\n";
      continue;
    }
    int64_t at = outcome.firstWrong;
    outs() << "failed, " << outcome.numWrong << " of " << right.getNumElements()
           << " elements wrong, the first is number " << at << ": "
           << formatNumber(result.getNumber(at), result.getDType())
           << ", expected "
           << formatNumber(right.getNumber(at), right.getDType())
           << " (tolerance " << format("%.2g", limit) << ")\n";
  }
  if (numWrong)
    return createStringError(
        "check: the results differ from the reference evaluator's");
  return Error::success();
}

static Error writeOutputs(ArrayRef<HostTensor> results) {
  if (outputs.size() > results.size())
    return createStringError("argument: %zu output files for %zu results",
                             static_cast<size_t>(outputs.size()),
                             results.size());
  for (auto [path, result] : zip(outputs, results))
    if (Error error = writeNpy(result, path))
      return error;
  return Error::success();
}

static void printResults(ArrayRef<HostTensor> results) {
  for (auto [i, result] : enumerate(results)) {
    outs() << "result " << i << ": ";
    result.print(outs(), printLimit);
    outs() << "\n";
  }
}

/// Compiles, runs and prints.
static Expected<std::vector<HostTensor>>
compileAndRun(StringRef text, ArrayRef<HostTensor> arguments) {
  Expected<Executable> executable = compile(text);
  if (!executable)
    return executable.takeError();
  if (timing) {
    Expected<json::Object> report = getReport(*executable);
    if (!report)
      return report.takeError();
    printTiming(*report, outs());
  }
  Timing runTiming;
  Expected<std::vector<HostTensor>> results =
      execute(*executable, arguments, timeRuns ? &runTiming : nullptr);
  if (results && timeRuns)
    outs() << "time: median " << format("%.4g", runTiming.median)
           << " ms, best " << format("%.4g", runTiming.best) << " ms of "
           << runTiming.numRuns << " runs\n";
  return results;
}

static Error run() {
  Expected<std::string> text = readText(input);
  if (!text)
    return text.takeError();
  Expected<std::vector<HostTensor>> arguments =
      makeArguments(*text, files, sizes, seed);
  if (!arguments)
    return arguments.takeError();
  Expected<std::vector<HostTensor>> results =
      reference ? evaluateReference(*text, *arguments)
                : compileAndRun(*text, *arguments);
  if (!results)
    return results.takeError();
  printResults(*results);
  if (Error error = writeOutputs(*results))
    return error;
  if (check && !reference)
    return checkResults(*text, *arguments, *results);
  return Error::success();
}

int main(int argc, char **argv) {
  return runTool(argc, argv, "runs a graph of tensor operations\n", run);
}

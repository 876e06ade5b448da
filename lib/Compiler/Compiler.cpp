//===- Compiler.cpp - from text to a plan ---------------------------------===//
//
// Parses, runs the graph pipeline once and the code generation once for each
// distinct kernel, side by side. A kernel that this process or an earlier one
// has compiled is found by its text: a new batch size compiles nothing.
//
//===----------------------------------------------------------------------===//

#include "fusion/Compiler/Compiler.h"
#include "PlanBuilder.h"
#include "Report.h"
#include "fusion/Compiler/Pipelines.h"
#include "fusion/Conversion/Passes.h"
#include "fusion/Runtime/Hash.h"
#include "fusion/Runtime/KernelCache.h"
#include "fusion/Runtime/Machine.h"
#include "fusion/Target/CPU.h"
#include "fusion/Target/NVPTX.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Threading.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Support/ThreadPool.h"
#include <chrono>
#include <mutex>

using namespace mlir;
using fusion::runtime::Status;

namespace fusion {

namespace {

/// Keeps the first error that MLIR reports, with its place.
class ErrorCollector {
public:
  explicit ErrorCollector(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          std::lock_guard<std::mutex> lock(mutex);
          if (message.empty()) {
            message = diagnostic.str();
            location = toString(diagnostic.getLocation());
          }
          return success();
        }) {}

  Status getStatus(const char *kind, const char *remedy) const {
    return Status::error(kind,
                         message.empty() ? "failed without a reason" : message,
                         remedy, location);
  }
  /// The verifier's messages start with the op's name.
  bool isVerification() const { return StringRef(message).starts_with("'"); }

private:
  std::mutex mutex;
  std::string message, location;
  ScopedDiagnosticHandler handler;
};

class Stopwatch {
public:
  explicit Stopwatch(Timing &timing) : timing(timing) {}
  /// Ends the phase that began with the last call.
  void lap(const char *phase) {
    auto now = std::chrono::steady_clock::now();
    timing.emplace_back(
        phase, std::chrono::duration<double, std::milli>(now - start).count());
    start = now;
  }

private:
  Timing &timing;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

/// Threads that all compilations of the process share.
llvm::ThreadPoolInterface &getThreadPool() {
  static llvm::DefaultThreadPool pool(llvm::hardware_concurrency());
  return pool;
}

const DialectRegistry &getRegistry() {
  static const DialectRegistry registry = [] {
    DialectRegistry result;
    registerDialects(result);
    registerBuiltinDialectTranslation(result);
    registerLLVMDialectTranslation(result);
    registerNVVMDialectTranslation(result);
    return result;
  }();
  return registry;
}

/// Machine code by the hash of the kernel's text and the target.
class CodeCache {
public:
  static CodeCache &get() {
    static CodeCache cache;
    return cache;
  }
  bool lookup(const std::string &key, runtime::KernelCache *disk,
              std::string &code) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto it = codes.find(key);
      if (it != codes.end()) {
        code = it->second;
        return true;
      }
    }
    return disk && disk->load(key, code);
  }
  void insert(const std::string &key, runtime::KernelCache *disk,
              const std::string &code) {
    std::string reason; // an unwritable folder is told by fusion_doctor
    if (disk)
      disk->store(key, code, reason);
    std::lock_guard<std::mutex> lock(mutex);
    codes[key] = code;
  }

private:
  std::mutex mutex;
  llvm::StringMap<std::string> codes;
};

class Compilation {
public:
  Compilation(const CompileOptions &options, runtime::Plan &plan)
      : options(options), plan(plan),
        context(getRegistry(), MLIRContext::Threading::DISABLED) {
    context.setThreadPool(getThreadPool());
    // Not by the passes: they run on several threads, which must not load.
    context.loadAllAvailableDialects();
    if (options.useCache)
      disk.emplace(options.cacheFolder);
  }

  Status run(StringRef text);

private:
  Status parse(StringRef text, OwningOpRef<ModuleOp> &module,
               func::FuncOp &function);
  LogicalResult generate(ModuleOp module);
  LogicalResult generateKernel(tile::KernelOp kernel, runtime::Kernel &entry);
  void setPipelineOptions(PipelineOptions &pipeline);
  bool isGPU() const { return StringRef(options.target).starts_with("sm_"); }

  const CompileOptions &options;
  runtime::Plan &plan;
  MLIRContext context;
  std::optional<runtime::KernelCache> disk;
  llvm::StringMap<int32_t> kernelNumbers;
};

void Compilation::setPipelineOptions(PipelineOptions &pipeline) {
  pipeline.target = options.target;
  pipeline.fast = options.numerics == "fast";
  pipeline.vectorBits = CpuTarget::host().vectorBits;
  pipeline.processors = runtime::getAvailableProcessors();
  for (const std::string &name : options.disable)
    pipeline.disable.push_back(name);
}

Status Compilation::parse(StringRef text, OwningOpRef<ModuleOp> &module,
                          func::FuncOp &function) {
  ErrorCollector errors(&context);
  module = parseSourceString<ModuleOp>(text, &context, "graph");
  if (!module)
    return errors.getStatus(errors.isVerification() ? "verify" : "parse",
                            "correct the graph's text");
  function = module->lookupSymbol<func::FuncOp>("main");
  if (!function)
    return Status::error("parse", "the module has no function @main",
                         "name the function to compile @main");
  if (!function.getBody().hasOneBlock())
    return Status::error("verify", "@main is not one block of fusion ops",
                         "write the graph without branches",
                         toString(function.getLoc()));
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isa<FusionDialect>(op.getDialect()))
      return Status::error("verify",
                           "'" + op.getName().getStringRef().str() +
                               "' is no op of the fusion dialect",
                           "use fusion ops only in @main",
                           toString(op.getLoc()));
  return Status::success();
}

LogicalResult Compilation::generateKernel(tile::KernelOp kernel,
                                          runtime::Kernel &entry) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder builder(&context);
  builder.setInsertionPointToStart(module->getBody());
  builder.clone(*kernel);
  PipelineOptions pipeline;
  setPipelineOptions(pipeline);
  PassManager pm(&context, ModuleOp::getOperationName());
  buildLLVMPipeline(pm, pipeline);
  if (failed(pm.run(*module)))
    return failure();
  FailureOr<std::string> code =
      isGPU() ? emitPTX(*module, options.target) : emitObject(*module);
  if (failed(code))
    return failure();
  entry.code = std::move(*code);
  // On hosts an inner function of the kernel's holds the attribute.
  module->walk([&](Operation *op) {
    if (auto bytes = op->getAttrOfType<IntegerAttr>(sharedBytesAttrName))
      entry.sharedBytes = bytes.getInt();
  });
  return success();
}

LogicalResult Compilation::generate(ModuleOp module) {
  SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
  plan.kernels.resize(kernels.size());
  return failableParallelForEachN(
      &context, 0, kernels.size(), [&](size_t i) -> LogicalResult {
        tile::KernelOp kernel = kernels[i];
        runtime::Kernel &entry = plan.kernels[i];
        entry.name = kernel.getSymName().str();
        entry.threads = (int32_t)kernel.getThreads();
        entry.indexBits = (int32_t)kernel.getIndexBits();
        std::string text;
        llvm::raw_string_ostream os(text);
        kernel.print(os);
        os << "\n"
           << plan.arch << "\n"
           << options.target << options.numerics << "\n"
           << runtime::getBuild();
        std::string key = runtime::hash(text).str(), stored;
        runtime::KernelCache *folder = disk ? &*disk : nullptr;
        // An entry is the shared memory's size, then the code.
        if (CodeCache::get().lookup(key, folder, stored) && stored.size() > 8) {
          memcpy(&entry.sharedBytes, stored.data(), 8);
          entry.code = stored.substr(8);
          return success();
        }
        if (failed(generateKernel(kernel, entry)))
          return failure();
        stored.assign(reinterpret_cast<const char *>(&entry.sharedBytes), 8);
        CodeCache::get().insert(key, folder, stored + entry.code);
        return success();
      });
}

Status Compilation::run(StringRef text) {
  Timing timing;
  Stopwatch watch(timing);
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  if (Status status = parse(text, module, function); status.failed())
    return status;
  watch.lap("parse");

  ErrorCollector errors(&context);
  FailureOr<DimAnalysis> graphDims = DimAnalysis::create(function);
  if (failed(graphDims))
    return errors.getStatus("verify", "name symbolic sizes in the types");
  UnfusedCost before = getUnfusedCost(function, *graphDims);
  PipelineOptions pipeline;
  setPipelineOptions(pipeline);
  PassManager pm(&context, ModuleOp::getOperationName());
  buildKernelPipeline(pm, pipeline);
  if (failed(pm.run(*module)))
    return errors.getStatus("compile", "");
  function = module->lookupSymbol<func::FuncOp>("main");
  watch.lap("fuse and schedule");

  plan.target = isGPU()                        ? runtime::TargetKind::CUDA
                : options.target == "emulator" ? runtime::TargetKind::Emulator
                                               : runtime::TargetKind::CPU;
  plan.arch = isGPU() ? options.target : CpuTarget::host().getKey();
  if (failed(generate(*module)))
    return errors.getStatus("compile", "");
  watch.lap("generate code");

  int32_t number = 0;
  for (auto kernel : module->getOps<tile::KernelOp>())
    kernelNumbers[kernel.getSymName()] = number++;
  if (failed(buildPlan(function, kernelNumbers, plan)))
    return errors.getStatus("compile", "");
  FailureOr<DimAnalysis> dims = DimAnalysis::create(function);
  if (failed(dims))
    return errors.getStatus("compile", "");
  watch.lap("plan");
  plan.report = makeReport(function, *dims, options, before, timing);
  return Status::success();
}

} // namespace

Status compile(StringRef text, const CompileOptions &options,
               runtime::Plan &plan) {
  Compilation compilation(options, plan);
  return compilation.run(text);
}

} // namespace fusion

//===- Compile.cpp - compiled, saved and loaded executables ---------------===//
//
// fusion_compile looks for the whole plan on disk first: a second process gets
// it without running LLVM. What cannot be used is compiled anew, what cannot be
// written is not kept.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Wrap.h"
#include "fusion/Runtime/Hash.h"
#include "fusion/Runtime/KernelCache.h"
#include "fusion/Runtime/Machine.h"
#include "fusion/Target/CPU/Linker.h"
#include "fusion/Target/Emulator.h"
#include "llvm/Support/JSON.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>

using namespace fusion;
using runtime::Executable;
using runtime::Plan;
using runtime::Status;

/// The processor that object code is compiled for.
static std::string getHost() {
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  std::sort(features.begin(), features.end());
  std::string text = llvm::sys::getHostCPUName().str();
  for (const std::string &feature : features)
    text += "," + feature;
  return text;
}

/// The hash of all that a plan depends on.
static std::string getKey(llvm::StringRef text, const CompileOptions &options) {
  static const std::string machine = std::string(fusion_version()) + "\n" +
                                     runtime::getBuild() + "\n" + getHost();
  std::string content = "plan\n" + machine + "\n" + options.target + "\n" +
                        options.numerics + "\n";
  std::vector<std::string> disabled = options.disable;
  std::sort(disabled.begin(), disabled.end());
  for (const std::string &name : disabled)
    content += name + ",";
  return runtime::hash(content + "\n" + text.str()).str();
}

/// Says in the report that the plan was not compiled now.
static void markFromCache(Plan &plan) {
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(plan.report);
  if (!report) {
    llvm::consumeError(report.takeError());
    return;
  }
  if (llvm::json::Object *object = report->getAsObject()) {
    (*object)["from_cache"] = true;
    plan.report = llvm::formatv("{0}", *report).str();
  }
}

static bool loadFromCache(runtime::KernelCache &cache, const std::string &key,
                          Plan &plan) {
  std::string data, reason;
  if (!cache.load(key, data))
    return false;
  if (!runtime::read(data, plan, reason)) {
    cache.remove(key);
    return false;
  }
  markFromCache(plan);
  return true;
}

static Status compileCached(llvm::StringRef text, const CompileOptions &options,
                            Plan &plan) {
  if (!options.useCache)
    return compile(text, options, plan);
  runtime::KernelCache cache(options.cacheFolder);
  std::string key = getKey(text, options), reason;
  if (loadFromCache(cache, key, plan))
    return Status::success();
  Status status = compile(text, options, plan);
  if (!status.failed())
    cache.store(key, runtime::write(plan), reason); // fusion_doctor tells why
  return status;
}

static Status makeExecutable(Plan plan, runtime::CacheOptions cache,
                             fusion_executable **result) {
  static const bool registered = [] {
    runtime::registerCpuTarget();
    runtime::registerEmulatorTarget();
    return true;
  }();
  (void)registered;
  std::unique_ptr<Executable> executable;
  Status status =
      Executable::create(std::move(plan), executable, std::move(cache));
  if (!status.failed())
    *result = new fusion_executable{std::move(executable)};
  return status;
}

fusion_error *fusion_compile(const char *text, size_t length,
                             const char *options, fusion_executable **result) {
  *result = nullptr;
  CompileOptions parsed;
  Plan plan;
  Status status = parseOptions(options, parsed);
  if (!status.failed())
    status = compileCached(llvm::StringRef(text, length), parsed, plan);
  if (!status.failed())
    status = makeExecutable(std::move(plan),
                            {parsed.useCache, parsed.cacheFolder}, result);
  return wrap(std::move(status));
}

fusion_error *fusion_executable_save(const fusion_executable *executable,
                                     char **data, size_t *length) {
  std::string bytes = runtime::write(executable->executable->getPlan());
  *length = bytes.size();
  *data = copyString(bytes);
  if (*data)
    return nullptr;
  return wrap(Status::error("memory",
                            "no memory for an executable of " +
                                std::to_string(bytes.size()) + " bytes",
                            "free memory"));
}

fusion_error *fusion_executable_load(const char *data, size_t length,
                                     fusion_executable **result) {
  *result = nullptr;
  Plan plan;
  std::string reason;
  if (!runtime::read(std::string(data, length), plan, reason))
    return wrap(Status::error("io", "cannot load the executable: " + reason,
                              "save it again with this version"));
  return wrap(makeExecutable(std::move(plan), {}, result));
}

void fusion_executable_free(fusion_executable *executable) {
  delete executable;
}

const char *fusion_executable_report(const fusion_executable *executable) {
  return executable->executable->getPlan().report.c_str();
}

size_t fusion_executable_num_kernels(const fusion_executable *executable) {
  return executable->executable->getPlan().kernels.size();
}

const char *fusion_executable_kernel_code(const fusion_executable *executable,
                                          size_t kernel, size_t *length) {
  const Plan &plan = executable->executable->getPlan();
  if (kernel >= plan.kernels.size()) {
    *length = 0;
    return nullptr;
  }
  *length = plan.kernels[kernel].code.size();
  return plan.kernels[kernel].code.data();
}

//===- Doctor.cpp - what this machine has and lacks -----------------------===//

#include "Wrap.h"
#include "fusion/Runtime/Driver.h"
#include "fusion/Runtime/KernelCache.h"
#include "fusion/Runtime/Linker.h"
#include "fusion/Runtime/Machine.h"
#include "fusion/Runtime/ThreadPool.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/TargetParser/Host.h"

using namespace fusion;
using namespace fusion::runtime;
using llvm::json::Array;
using llvm::json::Object;

static Object describeCpu() {
  std::vector<std::string> names;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      names.push_back(feature.first().str());
  llvm::sort(names);
  return Object{{"name", llvm::sys::getHostCPUName()},
                {"features", Array(names)},
                {"processors", getAvailableProcessors()},
                {"threads", ThreadPool::get().getNumThreads()},
                {"memory_bytes", getAvailableMemory()}};
}

/// {"usable", "reason"} and, where usable, what there is.
static Object describeCuda() {
  Status status;
  std::vector<DeviceInfo> devices;
  const Driver *driver = Driver::get(status);
  if (driver)
    status = driver->getDevices(devices);
  Object result{{"usable", !status.failed()},
                {"reason", status.message},
                {"remedy", status.remedy},
                {"linker", getLinkerVersion()}};
  if (!driver)
    return result;
  result["driver"] = driver->getVersion();
  Array list;
  for (const DeviceInfo &device : devices)
    list.push_back(Object{{"name", device.name},
                          {"arch", device.arch},
                          {"memory_bytes", device.memoryBytes}});
  result["devices"] = std::move(list);
  return result;
}

static Object describeCache() {
  KernelCache cache;
  std::string reason = cache.checkWritable();
  return Object{{"folder", cache.getFolder()},
                {"writable", reason.empty()},
                {"reason", reason}};
}

char *fusion_doctor(void) {
  llvm::json::Value report = Object{{"version", fusion_version()},
                                    {"abi", fusion_abi_version()},
                                    {"cpu", describeCpu()},
                                    {"cuda", describeCuda()},
                                    {"cache", describeCache()}};
  return copyString(llvm::formatv("{0:2}", report).str());
}

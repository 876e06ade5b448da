//===- Machine.cpp - what this process may use ----------------------------===//

#include "fusion/Runtime/Machine.h"
#include <algorithm>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace fusion::runtime;

/// The number a file starts with, or -1 for none ("max" among others).
static int64_t readNumber(const std::string &path) {
  std::ifstream file(path);
  int64_t value;
  return file >> value ? value : -1;
}

/// Calls `visit` with the folder of this process's control group and each one
/// above it, for version 2 and for version 1's `controller`. A container may
/// see another path than the host: then only the upper folders exist.
static void
forEachControlGroup(const std::string &controller,
                    std::function<void(const std::string &)> visit) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string root = "/sys/fs/cgroup";
    if (names.find("," + controller + ",") != std::string::npos)
      root += "/" + controller;
    else if (names != ",,")
      continue;
    std::string path = line.substr(second + 1);
    for (;;) {
      visit(root + path);
      size_t slash = path.rfind('/');
      if (slash == std::string::npos)
        break;
      path.resize(slash);
    }
  }
}

int fusion::runtime::getAvailableProcessors() {
  int count = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t mask; // 1024 processors; more than that fail and keep `count`
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
    count = CPU_COUNT(&mask);
  auto limit = [&](int64_t quota, int64_t period) {
    if (quota > 0 && period > 0)
      count = std::min<int64_t>(count, (quota + period - 1) / period);
  };
  forEachControlGroup("cpu", [&](const std::string &folder) {
    std::ifstream file(folder + "/cpu.max");
    int64_t quota, period;
    if (file >> quota >> period)
      limit(quota, period);
    limit(readNumber(folder + "/cpu.cfs_quota_us"),
          readNumber(folder + "/cpu.cfs_period_us"));
  });
  return std::max(count, 1);
}

int64_t fusion::runtime::getAvailableMemory() {
  int64_t bytes = sysconf(_SC_PHYS_PAGES) * int64_t(sysconf(_SC_PAGESIZE));
  forEachControlGroup("memory", [&](const std::string &folder) {
    for (const char *name : {"/memory.max", "/memory.limit_in_bytes"})
      if (int64_t limit = readNumber(folder + name); limit > 0)
        bytes = std::min(bytes, limit);
  });
  return bytes;
}

std::string fusion::runtime::getBuild() {
  Dl_info library;
  struct stat file;
  if (!dladdr(reinterpret_cast<void *>(&getBuild), &library) ||
      stat(library.dli_fname, &file) != 0)
    return "";
  return std::to_string(file.st_size) + "." +
         std::to_string(file.st_mtim.tv_sec) + "." +
         std::to_string(file.st_mtim.tv_nsec);
}

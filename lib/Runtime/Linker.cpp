//===- Linker.cpp - PTX to machine code by nvJitLink ----------------------===//

#include "fusion/Runtime/Linker.h"
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <type_traits>

using namespace fusion::runtime;

namespace {

/// nvJitLink's functions; a result of 0 is success.
struct Library {
  using Handle = struct nvJitLink *;
  int (*create)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*getCubinSize)(Handle, size_t *) = nullptr;
  int (*getCubin)(Handle, void *) = nullptr;
  int (*getLogSize)(Handle, size_t *) = nullptr;
  int (*getLog)(Handle, char *) = nullptr;
  std::string version;
};
constexpr int inputPtx = 2;

} // namespace

static Library openLibrary() {
  struct Candidate {
    const char *file;
    const char *suffix; // that the library's header gives to each name
  };
  for (Candidate candidate : {Candidate{"libnvJitLink.so.13", "_13_0"},
                              Candidate{"libnvJitLink.so.12", "_12_0"}}) {
    void *opened = dlopen(candidate.file, RTLD_NOW | RTLD_LOCAL);
    if (!opened)
      continue;
    bool complete = true;
    auto find = [&](auto &function, std::string name) {
      void *address = dlsym(opened, ("__" + name + candidate.suffix).c_str());
      if (!address)
        address = dlsym(opened, name.c_str());
      function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
      complete &= address != nullptr;
    };
    Library library;
    find(library.create, "nvJitLinkCreate");
    find(library.destroy, "nvJitLinkDestroy");
    find(library.addData, "nvJitLinkAddData");
    find(library.complete, "nvJitLinkComplete");
    find(library.getCubinSize, "nvJitLinkGetLinkedCubinSize");
    find(library.getCubin, "nvJitLinkGetLinkedCubin");
    find(library.getLogSize, "nvJitLinkGetErrorLogSize");
    find(library.getLog, "nvJitLinkGetErrorLog");
    if (!complete)
      continue;
    unsigned major = 0, minor = 0;
    using GetVersion = int (*)(unsigned *, unsigned *);
    if (auto getVersion =
            reinterpret_cast<GetVersion>(dlsym(opened, "nvJitLinkVersion")))
      getVersion(&major, &minor);
    library.version =
        "nvJitLink " + std::to_string(major) + "." + std::to_string(minor);
    return library;
  }
  return {};
}

/// The library, looked for once, when the first kernel is loaded.
static const Library *getLibrary() {
  static const Library library = openLibrary();
  return library.create ? &library : nullptr;
}

std::string fusion::runtime::getLinkerVersion() {
  const Library *library = getLibrary();
  return library ? library->version : "";
}

bool fusion::runtime::linkToCubin(const std::string &ptx,
                                  const std::string &arch, std::string &cubin,
                                  std::string &log) {
  const Library *library = getLibrary();
  if (!library) {
    log = "nvJitLink is not installed";
    return false;
  }
  std::string archOption = "-arch=" + arch;
  const char *options[] = {archOption.c_str(), "-O3"};
  Library::Handle handle = nullptr;
  size_t size = 0;
  bool done = library->create(&handle, 2, options) == 0 &&
              library->addData(handle, inputPtx, ptx.c_str(), ptx.size() + 1,
                               "kernel.ptx") == 0 &&
              library->complete(handle) == 0 &&
              library->getCubinSize(handle, &size) == 0;
  if (done) {
    cubin.resize(size);
    done = library->getCubin(handle, &cubin[0]) == 0;
  }
  if (!done && handle && library->getLogSize(handle, &size) == 0) {
    log.resize(size);
    library->getLog(handle, &log[0]);
  }
  if (!done && log.empty())
    log = library->version + " refuses " + arch;
  if (handle)
    library->destroy(&handle);
  return done;
}

//===- Linker.h - PTX to machine code by nvJitLink ------------------------===//
//
// nvJitLink compiles on any number of threads and needs no device; the driver's
// own compiler does one kernel at a time. It is used where it is installed: the
// libraries of CUDA 13 and 12 are tried.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_LINKER_H
#define FUSION_RUNTIME_LINKER_H

#include <string>

namespace fusion::runtime {

/// "nvJitLink 13.0", or "" where there is none.
std::string getLinkerVersion();

/// Compiles `ptx` for `arch` ("sm_90a"). False with the compiler's words in
/// `log` where there is no nvJitLink or it refuses.
bool linkToCubin(const std::string &ptx, const std::string &arch,
                 std::string &cubin, std::string &log);

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_LINKER_H

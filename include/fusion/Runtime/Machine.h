//===- Machine.h - what this process may use ------------------------------===//
//
// Processors and memory as the affinity mask and the control groups (versions 1
// and 2) allow, which in a container is less than what the machine has.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_MACHINE_H
#define FUSION_RUNTIME_MACHINE_H

#include <cstdint>
#include <string>

namespace fusion::runtime {

/// Number of processors, at least 1.
int getAvailableProcessors();
/// Bytes of memory.
int64_t getAvailableMemory();

/// Names the build of this library: the file that holds this function, by size
/// and time. A rebuilt compiler must not find what its predecessor cached.
std::string getBuild();

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_MACHINE_H

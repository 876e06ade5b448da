//===- Schedule.h - from a group to a tiled kernel ------------------------===//
//
// A schedule answers three questions: does it match this group on this target,
// which configurations are worth trying (the best guess first), and what is the
// kernel for one of them. One file for each kernel family; the list in
// Schedules.cpp is tried in order and ends with one that takes any group.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULE_SCHEDULE_H
#define FUSION_SCHEDULE_SCHEDULE_H

#include "fusion/Analysis/KernelSymbols.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include <memory>

namespace fusion {

/// What a schedule knows of the machine.
struct MachineModel {
  bool isGPU = false;
  /// Bytes of the widest vector register, or of the widest memory access.
  int64_t vectorBytes = 64;
  /// Cores, or multiprocessors.
  int64_t processors = 1;
  /// Shared memory of a block.
  int64_t sharedBytes = 0;
  /// A core's own second-level cache.
  int64_t cacheBytes = 1 << 20;

  static MachineModel getCPU(int64_t vectorBytes, int64_t cores);
  /// For "sm_90a" and its kin.
  static MachineModel getGPU(llvm::StringRef arch);
};

/// Parameters of a kernel. Each schedule reads those that it has.
struct Config {
  int64_t threads = 1; // a block
  int64_t lanes = 1;   // elements of a vector
  int64_t width = 1;   // threads that share a row, or a reduction
  int64_t rows = 1;    // rows of a block
  int64_t columns = 1; // columns of a block
  int64_t depth = 1;   // elements of a sum in a block
  int64_t unroll = 1;  // pieces of a row in registers, or points of a tile
};

class Schedule {
public:
  virtual ~Schedule() = default;
  virtual llvm::StringRef getName() const = 0;
  virtual bool matches(const GroupModel &model,
                       const MachineModel &machine) const = 0;
  /// At least one; the first is used where nothing was measured.
  virtual llvm::SmallVector<Config>
  getConfigs(const GroupModel &model, const MachineModel &machine) const = 0;
  /// Writes the kernel's body and its grid. The builder stands in the body of
  /// `kernel`, whose arguments are the inputs, the outputs and the symbols.
  virtual void emit(const GroupModel &model, const MachineModel &machine,
                    const Config &config, tile::KernelOp kernel,
                    mlir::OpBuilder &builder) const = 0;
};

std::unique_ptr<Schedule> createElementwiseSchedule();
std::unique_ptr<Schedule> createTransposeSchedule();
std::unique_ptr<Schedule> createReductionSchedule();
std::unique_ptr<Schedule> createCpuProductSchedule();
std::unique_ptr<Schedule> createContractionSchedule();
std::unique_ptr<Schedule> createGeneralSchedule();

/// All schedules, in the order in which they are tried.
llvm::ArrayRef<std::unique_ptr<Schedule>> getSchedules();

/// The kernel of `group` named `name`, inserted at the builder: by the first
/// schedule that matches.
tile::KernelOp emitKernel(const GroupModel &model, const MachineModel &machine,
                          llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace fusion

#endif // FUSION_SCHEDULE_SCHEDULE_H

//===- KernelFrame.h - what the bodies of all kernels share ---------------===//
//
// Small builders for the parts that every schedule writes: block and thread
// indices, loops with a scope of the emitter, the vector main part and its
// masked tail, conditions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULE_KERNELFRAME_H
#define FUSION_SCHEDULE_KERNELFRAME_H

#include "fusion/Schedule/Domain.h"
#include "fusion/Schedule/Schedule.h"

namespace fusion {

class KernelFrame {
public:
  KernelFrame(const GroupModel &model, tile::KernelOp kernel,
              mlir::OpBuilder &builder);

  ElementEmitter emitter;

  mlir::Value blockId();
  mlir::Value threadId();
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::Value logicalAnd(mlir::Value a, mlir::Value b);

  /// `for (i = lower; i < upper; i += step)`, carrying `values`.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value lower, mlir::Value upper, mlir::Value step,
       mlir::ValueRange values,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);
  void loop(mlir::Value lower, mlir::Value upper, mlir::Value step,
            llvm::function_ref<void(mlir::Value)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);

  /// Runs `body` for the vectors of [lower, upper) at `lower`, `lower + step`,
  /// ...: whole vectors of `lanes` first and, unless `lanes` is known to divide
  /// the range, a masked one at the end (only where one thread walks the range,
  /// `step == lanes`). `body` gets the index of the vector's first element.
  llvm::SmallVector<mlir::Value> vectorLoop(
      mlir::Value lower, mlir::Value upper, int64_t step, int64_t lanes,
      bool divides, int64_t lowerDivisor, mlir::ValueRange values,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::AffineExpr,
                                                        mlir::ValueRange)>
          body);

  /// Writes all outputs at `index`: everything is computed, then stored, so
  /// that no store stands between reads.
  void storeOutputs(const Index &index);

  /// The mask of the lanes below `count`.
  mlir::Value laneMask(mlir::Value count, int64_t lanes);

  /// Makes the values of dims available to the emitter.
  llvm::SmallVector<mlir::AffineExpr> addDims(mlir::ValueRange values);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// Sets the number of blocks and threads of `kernel`.
void setGrid(tile::KernelOp kernel, const GroupModel &model,
             mlir::AffineExpr grid, int64_t threads);

/// Lanes of a vector of the group's widest elements in `bytes`.
int64_t getLanes(const GroupModel &model, int64_t bytes);

/// Transposes a square of `rows.size()` vectors of as many lanes: at each step
/// blocks off the diagonal change places, of half the size of the step before.
void transposeInRegisters(llvm::SmallVectorImpl<mlir::Value> &rows,
                          mlir::OpBuilder &builder, mlir::Location loc);

/// The smallest power of two that is at least `value`.
int64_t roundUpToPowerOf2(int64_t value);

} // namespace fusion

#endif // FUSION_SCHEDULE_KERNELFRAME_H

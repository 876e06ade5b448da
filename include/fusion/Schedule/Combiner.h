//===- Combiner.h - how hero ops combine elements -------------------------===//
//
// The arithmetic of accumulators: what they hold at first, how an element or
// another accumulator joins, and what the result is. One accumulator is one or
// more values (an arg-reduction carries the extremum and its index).
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULE_COMBINER_H
#define FUSION_SCHEDULE_COMBINER_H

#include "mlir/IR/Builders.h"

namespace fusion {

class Combiner {
public:
  explicit Combiner(mlir::Operation *hero);
  /// One accumulator for several heroes: a single one, or a maximum and its
  /// exponential sum, made in one walk over the elements that both read.
  explicit Combiner(llvm::ArrayRef<mlir::Operation *> heroes);

  /// True if `hero` is the sum of exp(x - m) for the elements x of which
  /// `maximum` is m, as in softmax and log-sum-exp.
  static bool isExponentialSum(mlir::Operation *hero, mlir::Operation *maximum);

  /// Number of values of one accumulator.
  unsigned getNumValues() const { return types.size(); }
  /// Types of the values, or vectors of them.
  llvm::SmallVector<mlir::Type> getTypes(int64_t lanes) const;
  /// Neutral values.
  llvm::SmallVector<mlir::Value> getIdentity(mlir::OpBuilder &builder,
                                             mlir::Location loc,
                                             int64_t lanes) const;
  /// What one point adds to an accumulator.
  struct Contribution {
    mlir::Value element;
    mlir::Value position; // of type index or a vector of it; arg-reductions
    mlir::Value exists;   // null, or false (by lane) where there is no point
  };
  /// `accumulator` with these points.
  llvm::SmallVector<mlir::Value>
  absorb(mlir::OpBuilder &builder, mlir::Location loc,
         mlir::ValueRange accumulator,
         llvm::ArrayRef<Contribution> points) const;
  /// Combination of two accumulators, the same for either order.
  llvm::SmallVector<mlir::Value> combine(mlir::OpBuilder &builder,
                                         mlir::Location loc, mlir::ValueRange a,
                                         mlir::ValueRange b) const;
  /// `accumulator + a * b`, for contractions; a and b are not converted.
  llvm::SmallVector<mlir::Value>
  multiplyAdd(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::ValueRange accumulator, mlir::Value a, mlir::Value b) const;
  /// The result element of each hero, rounded to its result type.
  llvm::SmallVector<mlir::Value> finish(mlir::OpBuilder &builder,
                                        mlir::Location loc,
                                        mlir::ValueRange accumulator) const;
  /// One accumulator of all lanes of `accumulator`, combined as a tree.
  llvm::SmallVector<mlir::Value>
  reduceLanes(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::ValueRange accumulator) const;
  bool isArgReduce() const;
  /// Adds a value of the accumulator's type (a bias, converted).
  mlir::Value convertToAccumulator(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::Value element) const;

private:
  llvm::SmallVector<mlir::Value> wrap(mlir::OpBuilder &builder,
                                      mlir::Location loc,
                                      const Contribution &point) const;
  llvm::SmallVector<mlir::Value>
  absorbExponentials(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::ValueRange accumulator,
                     llvm::ArrayRef<Contribution> points) const;

  mlir::Operation *hero;
  mlir::Operation *exponentialSum = nullptr;
  bool isSigned = true;
  llvm::SmallVector<mlir::Type> types;
};

} // namespace fusion

#endif // FUSION_SCHEDULE_COMBINER_H

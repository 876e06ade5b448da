//===- ElementEmitter.h - code for an element of a group's value ----------===//
//
// Emits the element of any value of a group at any index, by recursion through
// the ops that produce it: views change the index, elementwise ops compute,
// block arguments load. Indices are affine expressions over dims that the
// schedule binds to loop variables, so equal elements are recognised and
// emitted once, and whether a vector reads consecutive memory is a question of
// algebra.
//
// One dim may be the lane dim: the emitter then works on vectors of consecutive
// indices along it, and keeps what does not depend on it scalar.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULE_ELEMENTEMITTER_H
#define FUSION_SCHEDULE_ELEMENTEMITTER_H

#include "fusion/Analysis/Hero.h"
#include "fusion/Analysis/KernelSymbols.h"
#include "mlir/IR/Builders.h"

namespace fusion {

using Index = llvm::SmallVector<mlir::AffineExpr>;

/// One point of a hero's reduced space, on its way into the result at `index`.
struct HeroStep {
  unsigned point; // number of the result among those that are made together
  Index index;
  llvm::SmallVector<mlir::AffineExpr> reduced;
};

/// The number of points of a reduced space of constant extents.
std::optional<int64_t> getNumTaps(const HeroSpec &spec);
/// The steps of all points over such a space, in order.
llvm::SmallVector<HeroStep> getAllSteps(const HeroSpec &spec,
                                        llvm::ArrayRef<Index> points);
/// A window is unrolled up to so many steps in all.
inline constexpr int64_t kMaxSteps = 160;

class ElementEmitter {
public:
  /// `buffers` are the kernel's arguments for the group's inputs, then its
  /// outputs; `sizes` its arguments for the model's symbols.
  ElementEmitter(const GroupModel &model, mlir::OpBuilder &builder,
                 mlir::ValueRange buffers, mlir::ValueRange sizes);

  mlir::OpBuilder &getBuilder() { return builder; }
  const GroupModel &getModel() const { return model; }
  const Divisors &getDivisors() const { return divisors; }

  /// A new dim bound to `value`, of which `divisor` is known to divide it.
  mlir::AffineExpr addDim(mlir::Value value, int64_t divisor = 1);
  /// The value of an index expression, for lane 0 where it depends on the lane.
  mlir::Value emitIndex(mlir::AffineExpr expr);

  /// The same for all lanes: a vector of indices while a lane dim is set.
  mlir::Value emitPosition(mlir::AffineExpr expr) {
    return splat(emitLaneIndex(expr));
  }

  /// Makes `dim` the lane dim with `lanes` lanes; `mask`, where not null, is
  /// the vector of lanes that exist. `lanes` 1 ends vector emission.
  void setLanes(mlir::AffineExpr dim, int64_t lanes,
                mlir::Value mask = nullptr);
  int64_t getLanes() const { return lanes; }
  /// Reduced spaces of up to so many points are unrolled.
  void setMaxTaps(int64_t taps) { maxTaps = taps; }
  mlir::Value getMask() const { return mask; }
  /// True if an element at `index` is a vector.
  bool dependsOnLane(llvm::ArrayRef<mlir::AffineExpr> index) const;

  /// The element of `value` at `index`: a vector if it differs by lane, else a
  /// scalar (also for some indices that depend on the lane).
  mlir::Value emit(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index);
  /// The same, a vector of all lanes while a lane dim is set.
  mlir::Value emitFull(mlir::Value value,
                       llvm::ArrayRef<mlir::AffineExpr> index);
  /// `element` as a vector of all lanes, while a lane dim is set.
  mlir::Value splat(mlir::Value element);
  /// States the element of `value` at `index`, so that it is not computed.
  void seed(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index,
            mlir::Value element);
  /// Writes `element` to output `output` at `index`.
  void store(unsigned output, llvm::ArrayRef<mlir::AffineExpr> index,
             mlir::Value element);

  /// What lies in memory for an element of an input, before bools leave their
  /// bytes; `fromStored` makes the element of it.
  mlir::Value loadStored(mlir::BlockArgument arg,
                         llvm::ArrayRef<mlir::AffineExpr> index);
  mlir::Value fromStored(mlir::BlockArgument arg, mlir::Value stored);

  /// The element of `value` at `index` where every expression of `guard` is at
  /// least zero, elsewhere zero.
  mlir::Value emitOrZero(mlir::Value value,
                         llvm::ArrayRef<mlir::AffineExpr> index,
                         llvm::ArrayRef<mlir::AffineExpr> guard);

  /// The element of a hero's result at `point` from its accumulated values:
  /// bias, average and rounding. `count` is the number of points of an average
  /// whose windows differ, else null.
  llvm::SmallVector<mlir::Value>
  finishHero(mlir::Operation *hero, const HeroSpec &spec,
             llvm::ArrayRef<mlir::AffineExpr> point, mlir::ValueRange sum,
             mlir::Value count = nullptr);

  /// Elements of a hero's result at several indices, computed in one nest of
  /// loops over the reduced space: reads that points share are made once.
  llvm::SmallVector<mlir::Value> emitHero(mlir::Operation *hero,
                                          llvm::ArrayRef<Index> points);

  /// What is emitted within a scope is forgotten at its end: one for each
  /// region that does not dominate what follows.
  class Scope {
  public:
    explicit Scope(ElementEmitter &emitter) : emitter(emitter) {
      emitter.frames.emplace_back();
    }
    ~Scope() { emitter.frames.pop_back(); }
    Scope(const Scope &) = delete;

  private:
    ElementEmitter &emitter;
  };

private:
  struct Frame {
    llvm::DenseMap<mlir::AffineExpr, mlir::Value> indices;
    llvm::DenseMap<mlir::Value,
                   llvm::SmallVector<std::pair<Index, mlir::Value>>>
        elements;
  };
  /// Restores the lane context at the end of a scope.
  struct LaneState {
    mlir::AffineExpr dim;
    int64_t lanes;
    mlir::Value mask;
    bool guarded;
  };
  LaneState getLaneState() const { return {laneDim, lanes, mask, guarded}; }
  void setLaneState(const LaneState &state);

  mlir::Value lookup(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index);
  mlir::Value emitUncached(mlir::Value value,
                           llvm::ArrayRef<mlir::AffineExpr> index);
  mlir::Value emitIota(mlir::Operation *op, mlir::AffineExpr position);
  mlir::Value emitGather(GatherOp gather,
                         llvm::ArrayRef<mlir::AffineExpr> index);
  mlir::Value makeMissing(mlir::Type type);
  mlir::Value emitElementwise(mlir::Operation *op,
                              llvm::ArrayRef<mlir::AffineExpr> index);
  mlir::Value emitView(mlir::Operation *op,
                       llvm::ArrayRef<mlir::AffineExpr> index);
  mlir::Value emitAccesses(mlir::Operation *op,
                           llvm::ArrayRef<OperandAccess> accesses, bool vector);
  mlir::Value loadLanes(mlir::Value buffer, mlir::AffineExpr offset);
  int64_t getAccessAlignment(mlir::Value buffer, mlir::AffineExpr offset);
  /// `expr >= 0` for one lane's index, or for every lane.
  mlir::Value emitScalarGuard(llvm::ArrayRef<mlir::AffineExpr> guard);
  mlir::Value emitLaneGuard(llvm::ArrayRef<mlir::AffineExpr> guard);
  bool isUniform(llvm::ArrayRef<mlir::AffineExpr> guard) const;
  mlir::Value emitLaneIndex(mlir::AffineExpr expr);
  /// Emits `body` under a scalar condition, `otherwise` where it is false.
  mlir::Value emitIf(mlir::Value condition, mlir::Type type,
                     llvm::function_ref<mlir::Value()> body,
                     llvm::function_ref<mlir::Value()> otherwise);
  /// Adds steps of points to their accumulators, which follow each other.
  void accumulate(mlir::Operation *hero, const HeroSpec &spec,
                  llvm::ArrayRef<HeroStep> steps,
                  llvm::SmallVectorImpl<mlir::Value> &accumulators);
  llvm::SmallVector<mlir::Value> accumulateInLoops(mlir::Operation *hero,
                                                   const HeroSpec &spec,
                                                   llvm::ArrayRef<Index> points,
                                                   mlir::ValueRange initial);
  void addStep(mlir::Operation *hero, const HeroSpec &spec,
               const HeroStep &step,
               llvm::MutableArrayRef<mlir::Value> accumulators);
  /// Counts a step of an average that the window's edge may leave out.
  void countStep(mlir::Operation *hero, const HeroSpec &spec,
                 const HeroStep &step,
                 llvm::MutableArrayRef<mlir::Value> accumulators);
  mlir::Type getElementType(mlir::Value value, bool vector);
  mlir::Location getLoc() const { return loc; }

  const GroupModel &model;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::ValueRange buffers;
  llvm::SmallVector<mlir::Value> dimValues, sizes;
  Divisors divisors;
  std::vector<Frame> frames;

  mlir::AffineExpr laneDim;
  int64_t lanes = 1;
  int64_t maxTaps = 16;
  mlir::Value mask;
  /// True while `mask` holds guards of views: a vector may have no lane at all.
  bool guarded = false;
};

} // namespace fusion

#endif // FUSION_SCHEDULE_ELEMENTEMITTER_H

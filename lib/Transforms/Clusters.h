//===- Clusters.h - sets of ops on their way to becoming groups -----------===//
//
// The graph as clusters, each of which will be one group. Every op that costs
// something is in exactly one cluster; free ops (views, constants, iotas, cheap
// widening conversions) belong to none and are repeated in each cluster that
// reads through them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TRANSFORMS_CLUSTERS_H
#define FUSION_LIB_TRANSFORMS_CLUSTERS_H

#include "fusion/Analysis/Dims.h"
#include "fusion/Analysis/GroupShape.h"
#include "llvm/ADT/SetVector.h"

namespace fusion {

struct Cluster {
  /// Ops that cost something, and views that must be written out.
  llvm::SetVector<mlir::Operation *> ops;
  /// Counts changes, so that failed attempts are not repeated.
  unsigned version = 0;
};

/// A value that one cluster makes and another reads.
struct ClusterEdge {
  unsigned producer = 0, consumer = 0;
  mlir::Value value;
  /// Bytes moved through memory because of this edge; 0 where unknown.
  int64_t bytes = 0;
  unsigned order = 0;
};

class ClusterGraph {
public:
  ClusterGraph(mlir::func::FuncOp function, const DimAnalysis &dims);

  llvm::ArrayRef<Cluster> getClusters() const { return clusters; }
  /// The cluster of an op; none for free ops.
  std::optional<unsigned> getCluster(mlir::Operation *op) const;
  bool isFree(mlir::Operation *op) const;

  /// Every value that crosses from one cluster to another, largest first.
  llvm::SmallVector<ClusterEdge> getEdges() const;
  /// The ops of `cluster` and the free ops it reads through, in program order.
  llvm::SmallVector<mlir::Operation *>
  getAllOps(llvm::ArrayRef<mlir::Operation *> ops) const;
  /// Values made by `ops` that are used outside of them.
  llvm::SmallVector<mlir::Value>
  getOutputs(llvm::ArrayRef<mlir::Operation *> ops) const;
  /// The set as one kernel.
  GroupView getView(llvm::ArrayRef<mlir::Operation *> ops) const;
  /// The ops of both clusters, in program order.
  llvm::SmallVector<mlir::Operation *> getUnion(unsigned a, unsigned b) const;

  /// True if `producer` reaches `consumer` through a third cluster.
  bool hasDetour(unsigned producer, unsigned consumer) const;
  /// Puts the ops of `from` into `into`.
  void merge(unsigned into, unsigned from);
  /// Non-empty clusters, producers first.
  llvm::SmallVector<unsigned> getOrder() const;

  /// The value that is read where `value` is: the end of a chain of free ops.
  void collectSources(mlir::Value value,
                      llvm::SetVector<mlir::Value> &sources) const;
  const DimAnalysis &getDims() const { return dims; }
  /// Bytes of a value; 0 where its size is symbolic.
  int64_t getBytes(mlir::Value value) const;

private:
  llvm::SmallVector<unsigned> getProducers(unsigned cluster) const;

  mutable mlir::func::FuncOp function;
  const DimAnalysis &dims;
  llvm::SmallVector<Cluster> clusters;
  llvm::DenseMap<mlir::Operation *, unsigned> clusterOf;
  /// Values that cluster ops or the function's results read, by source.
  llvm::DenseMap<mlir::Value, llvm::SetVector<mlir::Operation *>> readers;
  llvm::DenseMap<mlir::Operation *, unsigned> position;
};

} // namespace fusion

#endif // FUSION_LIB_TRANSFORMS_CLUSTERS_H

//===- Clusters.cpp - sets of ops on their way to becoming groups ---------===//

#include "Clusters.h"
#include "fusion/Analysis/IndexMath.h"

using namespace mlir;

namespace fusion {

/// A constant that kernels hold as an immediate.
static bool isImmediate(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

bool ClusterGraph::isFree(Operation *op) const {
  if (clusterOf.contains(op))
    return false;
  if (isImmediate(op) || isa<IotaOp>(op))
    return true;
  if (auto map = dyn_cast<IndexMapInterface>(op); map && map.isView())
    return true;
  // Making the element again from one that is no wider costs no more than
  // reading it back.
  auto convert = dyn_cast<ConvertOp>(op);
  if (!convert)
    return false;
  auto from = cast<RankedTensorType>(convert.getX().getType());
  auto to = cast<RankedTensorType>(convert.getType());
  return from.getElementTypeBitWidth() <= to.getElementTypeBitWidth();
}

void ClusterGraph::collectSources(Value value,
                                  llvm::SetVector<Value> &sources) const {
  Operation *op = value.getDefiningOp();
  if (!op || !isFree(op)) {
    sources.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    collectSources(operand, sources);
}

ClusterGraph::ClusterGraph(func::FuncOp function, const DimAnalysis &dims)
    : function(function), dims(dims) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator())
    ops.push_back(&op);
  // A view that is a result of the function must be written, unless it only
  // reshapes what another op writes.
  Operation *ret = function.getBody().front().getTerminator();
  DenseSet<Operation *> written;
  for (Value operand : ret->getOperands()) {
    Operation *producer = stripAliases(operand).getDefiningOp();
    if (!producer)
      producer = operand.getDefiningOp();
    if (producer)
      written.insert(producer);
  }
  for (auto [i, op] : llvm::enumerate(ops)) {
    position[op] = i;
    bool stored = isa<ConstantOp>(op) && !isImmediate(op);
    if (stored || (isFree(op) && !written.contains(op)))
      continue;
    clusterOf[op] = clusters.size();
    clusters.emplace_back();
    clusters.back().ops.insert(op);
  }
  auto addReader = [&](Value value, Operation *reader) {
    llvm::SetVector<Value> sources;
    collectSources(value, sources);
    for (Value source : sources)
      readers[source].insert(reader);
  };
  for (Operation *op : ops)
    if (clusterOf.contains(op))
      for (Value operand : op->getOperands())
        addReader(operand, op);
  for (Value operand : ret->getOperands())
    addReader(operand, ret);
}

std::optional<unsigned> ClusterGraph::getCluster(Operation *op) const {
  auto it = clusterOf.find(op);
  if (it == clusterOf.end())
    return std::nullopt;
  return it->second;
}

int64_t ClusterGraph::getBytes(Value value) const {
  std::optional<int64_t> count = evaluate(dims.getNumElements(value), {});
  int64_t bits =
      cast<RankedTensorType>(value.getType()).getElementTypeBitWidth();
  return count.value_or(0) * llvm::divideCeil(bits, 8);
}

SmallVector<ClusterEdge> ClusterGraph::getEdges() const {
  SmallVector<ClusterEdge> edges;
  for (Operation &op : function.getBody().front().without_terminator()) {
    std::optional<unsigned> producer = getCluster(&op);
    if (!producer)
      continue;
    for (Value value : op.getResults()) {
      llvm::SetVector<unsigned> consumers;
      auto it = readers.find(value);
      if (it == readers.end())
        continue;
      for (Operation *reader : it->second)
        if (auto cluster = getCluster(reader); cluster && cluster != producer)
          consumers.insert(*cluster);
      for (unsigned consumer : consumers)
        edges.push_back({*producer, consumer, value, getBytes(value)});
    }
  }
  // Of equals the first in the program goes first.
  for (auto [i, edge] : llvm::enumerate(edges))
    edge.order = i;
  llvm::sort(edges, [](const ClusterEdge &a, const ClusterEdge &b) {
    return std::tie(b.bytes, a.order) < std::tie(a.bytes, b.order);
  });
  return edges;
}

SmallVector<Operation *>
ClusterGraph::getAllOps(ArrayRef<Operation *> ops) const {
  llvm::SetVector<Operation *> all(ops.begin(), ops.end());
  for (unsigned i = 0; i < all.size(); ++i)
    for (Value operand : all[i]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && isFree(op))
        all.insert(op);
  SmallVector<Operation *> result = all.takeVector();
  llvm::sort(result, [&](Operation *a, Operation *b) {
    return position.lookup(a) < position.lookup(b);
  });
  return result;
}

SmallVector<Value> ClusterGraph::getOutputs(ArrayRef<Operation *> ops) const {
  SmallVector<Value> outputs;
  for (Operation *op : ops)
    for (Value value : op->getResults()) {
      auto it = readers.find(value);
      if (it != readers.end() &&
          llvm::any_of(it->second, [&](Operation *reader) {
            return !llvm::is_contained(ops, reader);
          }))
        outputs.push_back(value);
    }
  return outputs;
}

GroupView ClusterGraph::getView(ArrayRef<Operation *> ops) const {
  GroupView view;
  view.ops = getAllOps(ops);
  view.outputs = getOutputs(ops);
  view.dims = [this](Value value) { return dims.getDims(value); };
  DenseSet<Operation *> own(view.ops.begin(), view.ops.end());
  view.isLeaf = [own](Value value) {
    return !own.contains(value.getDefiningOp());
  };
  return view;
}

SmallVector<Operation *> ClusterGraph::getUnion(unsigned a, unsigned b) const {
  SmallVector<Operation *> ops(clusters[a].ops.begin(), clusters[a].ops.end());
  llvm::append_range(ops, clusters[b].ops);
  llvm::sort(ops, [&](Operation *x, Operation *y) {
    return position.lookup(x) < position.lookup(y);
  });
  return ops;
}

SmallVector<unsigned> ClusterGraph::getProducers(unsigned cluster) const {
  llvm::SetVector<unsigned> producers;
  for (Operation *op : clusters[cluster].ops)
    for (Value operand : op->getOperands()) {
      llvm::SetVector<Value> sources;
      collectSources(operand, sources);
      for (Value source : sources)
        if (Operation *def = source.getDefiningOp())
          if (auto producer = getCluster(def); producer && producer != cluster)
            producers.insert(*producer);
    }
  return producers.takeVector();
}

bool ClusterGraph::hasDetour(unsigned producer, unsigned consumer) const {
  SmallVector<unsigned> stack;
  DenseSet<unsigned> seen;
  for (unsigned direct : getProducers(consumer))
    if (direct != producer)
      stack.push_back(direct);
  while (!stack.empty()) {
    unsigned current = stack.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    for (unsigned next : getProducers(current)) {
      if (next == producer)
        return true;
      stack.push_back(next);
    }
  }
  return false;
}

void ClusterGraph::merge(unsigned into, unsigned from) {
  SmallVector<Operation *> ops = getUnion(into, from);
  clusters[into].ops.clear();
  clusters[into].ops.insert_range(ops);
  clusters[from].ops.clear();
  ++clusters[into].version;
  for (Operation *op : ops)
    clusterOf[op] = into;
}

SmallVector<unsigned> ClusterGraph::getOrder() const {
  SmallVector<unsigned> order;
  DenseSet<unsigned> done;
  std::function<void(unsigned)> visit = [&](unsigned cluster) {
    if (!done.insert(cluster).second)
      return;
    for (unsigned producer : getProducers(cluster))
      visit(producer);
    order.push_back(cluster);
  };
  for (unsigned i = 0; i < clusters.size(); ++i)
    if (!clusters[i].ops.empty())
      visit(i);
  return order;
}

} // namespace fusion

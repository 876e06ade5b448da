//===- FormGroups.cpp - decide what runs as one kernel --------------------===//
//
// Greedy: of all edges between clusters the one that moves the most bytes is
// judged first, and merged if the rules allow; until no edge changes. Every
// edge ends with a remark, in MLIR's remark engine and as an attribute of the
// function that reports are made from.
//
//===----------------------------------------------------------------------===//

#include "Clusters.h"
#include "fusion/Transforms/FusionRules.h"
#include "fusion/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace fusion {

#define GEN_PASS_DEF_FORMGROUPSPASS
#include "fusion/Transforms/Passes.h.inc"

namespace {

/// Merges clusters until no edge can be; returns why each edge that is left was
/// refused, by (producer, consumer).
DenseMap<std::pair<unsigned, unsigned>, FusionVerdict>
mergeClusters(ClusterGraph &graph) {
  struct Attempt {
    unsigned producerVersion, consumerVersion;
    FusionVerdict verdict;
  };
  DenseMap<std::pair<unsigned, unsigned>, Attempt> attempts;
  bool changed = true;
  while (changed) {
    changed = false;
    for (const ClusterEdge &edge : graph.getEdges()) {
      unsigned p = edge.producer, c = edge.consumer;
      ArrayRef<Cluster> clusters = graph.getClusters();
      auto it = attempts.find({p, c});
      if (it != attempts.end() &&
          it->second.producerVersion == clusters[p].version &&
          it->second.consumerVersion == clusters[c].version)
        continue;
      FusionVerdict verdict;
      if (graph.hasDetour(p, c)) {
        verdict = {false, "cycle",
                   "another kernel stands between: it reads the producer and "
                   "makes an input of the consumer"};
      } else {
        verdict = judgeFusion(graph.getView(clusters[p].ops.getArrayRef()),
                              graph.getView(clusters[c].ops.getArrayRef()),
                              graph.getView(graph.getUnion(p, c)));
      }
      if (verdict.fuse) {
        graph.merge(p, c);
        changed = true;
        break;
      }
      // A detour may vanish when others merge: that attempt is not remembered
      // for good, only until the next round.
      attempts[{p, c}] = {clusters[p].version, clusters[c].version, verdict};
    }
    if (changed) {
      SmallVector<std::pair<unsigned, unsigned>> cycles;
      for (auto &[key, attempt] : attempts)
        if (attempt.verdict.rule == "cycle")
          cycles.push_back(key);
      for (auto key : cycles)
        attempts.erase(key);
    }
  }
  DenseMap<std::pair<unsigned, unsigned>, FusionVerdict> result;
  for (auto &[key, attempt] : attempts)
    result[key] = attempt.verdict;
  return result;
}

/// Says what became of an edge: a remark, and an entry of `fusion.remarks`.
void reportEdge(Operation *producer, Operation *consumer, int64_t bytes,
                const FusionVerdict &verdict,
                SmallVectorImpl<Attribute> &entries) {
  Builder builder(producer->getContext());
  auto name = [](Operation *op) { return op->getName().stripDialect(); };
  auto options =
      remark::RemarkOpts::name(verdict.rule).category("fusion-form-groups");
  if (verdict.fuse)
    remark::passed(consumer->getLoc(), options)
        << name(producer) << " and " << name(consumer) << " fused, saving "
        << std::to_string(bytes) << " bytes";
  else
    remark::missed(consumer->getLoc(), options)
        << name(producer) << " and " << name(consumer)
        << " not fused: " << verdict.reason << "; " << std::to_string(bytes)
        << " bytes pass through memory";
  entries.push_back(builder.getDictionaryAttr({
      builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytes)),
      builder.getNamedAttr("consumer", builder.getStringAttr(name(consumer))),
      builder.getNamedAttr("consumer_location",
                           builder.getStringAttr(toString(consumer->getLoc()))),
      builder.getNamedAttr("fused", builder.getBoolAttr(verdict.fuse)),
      builder.getNamedAttr("producer", builder.getStringAttr(name(producer))),
      builder.getNamedAttr("producer_location",
                           builder.getStringAttr(toString(producer->getLoc()))),
      builder.getNamedAttr("reason", builder.getStringAttr(verdict.reason)),
      builder.getNamedAttr("rule", builder.getStringAttr(verdict.rule)),
  }));
}

/// A name for the group from the ops that cost something: "add_exp_reduce".
std::string makeName(ArrayRef<Operation *> ops) {
  std::string name;
  unsigned count = 0;
  StringRef last;
  for (Operation *op : ops) {
    StringRef part = op->getName().stripDialect();
    if (part == last)
      continue;
    last = part;
    if (count++ == 4)
      return name;
    name += (name.empty() ? "" : "_") + part.str();
  }
  return name;
}

/// Moves the cluster's ops into a group at the end of the function.
void outline(ClusterGraph &graph, const Cluster &cluster, OpBuilder &builder,
             IRMapping &outside) {
  ArrayRef<Operation *> roots = cluster.ops.getArrayRef();
  GroupView view = graph.getView(roots);
  SmallVector<Location> locations =
      llvm::map_to_vector(roots, [](Operation *op) { return op->getLoc(); });
  Location loc = builder.getFusedLoc(locations);

  llvm::SetVector<Value> inputs;
  for (Operation *op : view.ops)
    for (Value operand : op->getOperands())
      if (view.isLeaf(operand))
        inputs.insert(operand);
  SmallVector<Value> operands = llvm::map_to_vector(
      inputs, [&](Value value) { return outside.lookupOrDefault(value); });
  SmallVector<Type> types = llvm::map_to_vector(
      view.outputs, [](Value value) { return value.getType(); });
  auto group = GroupOp::create(builder, loc, types, makeName(roots), operands);
  Block *body = &group.getBody().emplaceBlock();
  IRMapping inside;
  for (Value input : inputs)
    inside.map(input, body->addArgument(input.getType(), input.getLoc()));
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(body);
  for (Operation *op : view.ops)
    builder.clone(*op, inside);
  SmallVector<Value> yielded = llvm::map_to_vector(
      view.outputs, [&](Value value) { return inside.lookup(value); });
  YieldOp::create(builder, loc, yielded);
  for (auto [value, result] : llvm::zip_equal(view.outputs, group.getResults()))
    outside.map(value, result);
}

/// A group that writes `value` to memory of its own.
Value createCopy(OpBuilder &builder, Value value) {
  auto group =
      GroupOp::create(builder, value.getLoc(), TypeRange{value.getType()},
                      "copy", ValueRange{value});
  Block *body = &group.getBody().emplaceBlock();
  Value arg = body->addArgument(value.getType(), value.getLoc());
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(body);
  YieldOp::create(builder, value.getLoc(), arg);
  return group.getResult(0);
}

/// Takes reshapes of a dense input out of the group: outside they are another
/// name for the same memory, inside they cost index arithmetic.
void hoistReshapes(GroupOp group, OpBuilder &builder) {
  Block &body = group.getBody().front();
  for (unsigned i = 0; i < body.getNumArguments(); ++i) {
    BlockArgument arg = body.getArgument(i);
    auto reshape = arg.hasOneUse()
                       ? dyn_cast<ReshapeOp>(*arg.getUsers().begin())
                       : ReshapeOp();
    if (!reshape || !isAlias(reshape))
      continue;
    builder.setInsertionPoint(group);
    auto outer = ReshapeOp::create(builder, reshape.getLoc(), reshape.getType(),
                                   group.getInputs()[i]);
    group->setOperand(i, outer);
    arg.setType(reshape.getType());
    reshape.replaceAllUsesWith(arg);
    reshape.erase();
    --i; // what follows may be a reshape again
  }
}

struct FormGroupsPass : impl::FormGroupsPassBase<FormGroupsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.getBody().hasOneBlock() ||
        !function.getOps<GroupOp>().empty())
      return;
    FailureOr<DimAnalysis> dims = DimAnalysis::create(function);
    if (failed(dims))
      return signalPassFailure();
    ClusterGraph graph(function, *dims);
    // Before anything merges each cluster is one op: what there is to decide.
    SmallVector<ClusterEdge> edges = graph.getEdges();
    SmallVector<Operation *> initial =
        llvm::map_to_vector(graph.getClusters(), [](const Cluster &cluster) {
          return cluster.ops.front();
        });
    auto refused = mergeClusters(graph);

    SmallVector<Attribute> entries;
    for (const ClusterEdge &edge : edges) {
      Operation *producer = edge.value.getDefiningOp();
      unsigned from = *graph.getCluster(producer);
      Operation *consumer = initial[edge.consumer];
      unsigned to = *graph.getCluster(consumer);
      FusionVerdict verdict{true, "fused", "one kernel"};
      if (from != to) {
        verdict = refused.lookup({from, to});
        ++numUnfused;
      } else {
        ++numFused;
      }
      reportEdge(producer, consumer, edge.bytes, verdict, entries);
    }
    rewrite(function, graph);
    OpBuilder builder(&getContext());
    function->setAttr("fusion.remarks", builder.getArrayAttr(entries));
  }

  void rewrite(func::FuncOp function, ClusterGraph &graph);
};

/// Replaces the body by groups, reshapes of their results, and the constants
/// that kernels read from memory.
void FormGroupsPass::rewrite(func::FuncOp function, ClusterGraph &graph) {
  Block &body = function.getBody().front();
  Operation *ret = body.getTerminator();
  SmallVector<Operation *> old;
  for (Operation &op : body.without_terminator())
    old.push_back(&op);
  OpBuilder builder(ret);
  IRMapping outside;
  for (Operation *op : old)
    if (isa<ConstantOp>(op) && !graph.getCluster(op) && !graph.isFree(op))
      outside.map(op->getResult(0), builder.clone(*op)->getResult(0));
  for (unsigned cluster : graph.getOrder())
    outline(graph, graph.getClusters()[cluster], builder, outside);
  std::function<Value(Value)> resolve = [&](Value value) -> Value {
    if (outside.contains(value) || isa<BlockArgument>(value))
      return outside.lookupOrDefault(value);
    // A reshape of what a kernel writes.
    auto reshape = value.getDefiningOp<ReshapeOp>();
    Value result = ReshapeOp::create(
        builder, reshape.getLoc(), reshape.getType(), resolve(reshape.getX()));
    outside.map(value, result);
    return result;
  };
  builder.setInsertionPoint(ret);
  // Results never share a buffer, with an argument or with each other.
  DenseSet<Value> taken;
  for (OpOperand &operand : ret->getOpOperands()) {
    Value result = resolve(operand.get());
    Value memory = stripAliases(result);
    if (!memory.getDefiningOp<GroupOp>() || !taken.insert(memory).second)
      result = createCopy(builder, result);
    operand.set(result);
  }
  for (Operation *op : llvm::reverse(old))
    op->erase();
  for (GroupOp group : llvm::make_early_inc_range(function.getOps<GroupOp>()))
    hoistReshapes(group, builder);
}

} // namespace

} // namespace fusion

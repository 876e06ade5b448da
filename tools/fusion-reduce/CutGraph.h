//===- CutGraph.h - reduction of a graph to what fails --------------------===//

#ifndef FUSION_TOOLS_FUSION_REDUCE_CUTGRAPH_H
#define FUSION_TOOLS_FUSION_REDUCE_CUTGRAPH_H

namespace fusion::tools {

/// Makes the pass `fusion-cut-graph` known by name.
void registerCutGraphPass();

} // namespace fusion::tools

#endif // FUSION_TOOLS_FUSION_REDUCE_CUTGRAPH_H

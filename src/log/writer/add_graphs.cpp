// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "steptape/events/graph.h"
#include "steptape/log/summary_writer.h"

#include "log/writer/writer_core.h"
#include "values/kinds/text.h"

namespace steptape {
namespace {

// TensorBoard shows one graph per run, so a run has one description of it.
constexpr char kDescriptionTag[] = "graph/description";

// Readers discard points by step; a graph belongs to the whole run.
constexpr std::int64_t kGraphStep = 0;

/// Returns the approximate memory of `graph`.
std::size_t sizeOf(const event::Graph& graph) {
  std::size_t bytes = graph.description.size() + graph.stats.size() * sizeof(event::GraphNodeStats);
  for (const event::GraphNode& node : graph.nodes) {
    bytes += sizeof(event::GraphNode) + node.name.size() + node.op.size() +
             node.inputs.size() * sizeof(std::string) +
             node.attributes.size() * sizeof(std::pair<std::string, event::GraphAttribute>);
  }
  return bytes;
}

}  // namespace

void SummaryWriter::addGraph(const event::Graph& graph, const GraphOptions& options) {
  if (!core_->isActive()) {
    return;
  }
  event::checkGraph(graph);
  const auto kept = std::make_shared<const event::Graph>(graph);
  core_->addEvent(kGraphStep, options.wallTime, sizeOf(graph),
                  [kept] { return event::Event::What(event::encodeGraph(*kept)); });
  if (!graph.stats.empty()) {
    core_->addEvent(kGraphStep, options.wallTime, 0,
                    [kept, tag = core_->validTag(options.sessionRun)] {
                      return event::Event::What(event::encodeGraphStats(*kept, tag));
                    });
  }
  if (!graph.description.empty()) {
    core_->addValue(kGraphStep, options.wallTime, 0, [kept] {
      return detail::values::textValue(kDescriptionTag, kept->description);
    });
  }
}

void SummaryWriter::addGraphStats(std::vector<event::GraphNodeStats> stats,
                                  const std::string& sessionRun) {
  if (!core_->isActive() || stats.empty()) {
    return;
  }
  auto measured = std::make_shared<event::Graph>();
  measured->stats = std::move(stats);
  core_->addEvent(kGraphStep, std::nullopt, sizeOf(*measured),
                  [measured, tag = core_->validTag(sessionRun)] {
                    return event::Event::What(event::encodeGraphStats(*measured, tag));
                  });
}

}  // namespace steptape

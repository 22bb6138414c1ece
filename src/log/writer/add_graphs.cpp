// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "steptape/events/graph.h"
#include "steptape/log/summary_writer.h"

#include "log/writer/run_client.h"
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
  if (!client_->isActive()) {
    return;
  }
  event::checkGraph(graph);
  const auto kept = std::make_shared<const event::Graph>(graph);
  client_->addEvent(kGraphStep, options.wallTime, sizeOf(graph),
                    [kept] { return event::Event::What(event::encodeGraph(*kept)); });
  if (!graph.stats.empty()) {
    client_->addEvent(kGraphStep, options.wallTime, 0,
                      [kept, tag = client_->validTag(options.sessionRun)] {
                        return event::Event::What(event::encodeGraphStats(*kept, tag));
                      });
  }
  if (!graph.description.empty()) {
    client_->addValue(kGraphStep, options.wallTime, 0, [kept] {
      return detail::values::textValue(kDescriptionTag, kept->description);
    });
  }
}

void SummaryWriter::addGraphStats(std::vector<event::GraphNodeStats> stats,
                                  const std::string& sessionRun) {
  if (!client_->isActive() || stats.empty()) {
    return;
  }
  auto measured = std::make_shared<event::Graph>();
  measured->stats = std::move(stats);
  client_->addEvent(kGraphStep, std::nullopt, sizeOf(*measured),
                    [measured, tag = client_->validTag(sessionRun)] {
                      return event::Event::What(event::encodeGraphStats(*measured, tag));
                    });
}

}  // namespace steptape

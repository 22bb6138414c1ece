// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "steptape/log/summary_writer.h"

#include "base/got_expected.h"
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"

namespace steptape {
namespace {

/// Sums the bytes of a value's fields that may be large.
struct PayloadBytes {
  std::size_t operator()(std::monostate /*none*/) const { return 0; }
  std::size_t operator()(float /*scalar*/) const { return sizeof(float); }
  std::size_t operator()(const event::Tensor& tensor) const {
    std::size_t bytes = tensor.content.size();
    for (const std::string& text : tensor.strings) {
      bytes += text.size();
    }
    return bytes;
  }
  std::size_t operator()(const event::SummaryImage& image) const { return image.encoded.size(); }
  std::size_t operator()(const event::SummaryAudio& audio) const { return audio.encoded.size(); }
  std::size_t operator()(const event::SummaryHistogram& histogram) const {
    return histogram.bucketLimits.size() * 2 * sizeof(double);
  }
  std::size_t operator()(const event::FileVersion& version) const { return version.version.size(); }
  std::size_t operator()(const event::GraphDef& graph) const { return graph.bytes.size(); }
  std::size_t operator()(const event::MetaGraphDef& graph) const { return graph.bytes.size(); }
  std::size_t operator()(const event::TaggedRunMetadata& run) const { return run.bytes.size(); }
  std::size_t operator()(const event::SessionLog& log) const { return log.message.size(); }
  std::size_t operator()(const event::Summary& summary) const {
    std::size_t bytes = 0;
    for (const event::Value& value : summary.values) {
      bytes += std::visit(*this, value.data);
    }
    return bytes;
  }
};

void handOver(detail::log::RunClient& client, event::Event::What what, std::int64_t step,
              std::optional<double> wallTime) {
  const std::size_t bytes = std::visit(PayloadBytes(), what);
  // Shared, because std::function must be copyable.
  auto shared = std::make_shared<event::Event::What>(std::move(what));
  client.addEvent(step, wallTime, bytes, [shared] { return std::move(*shared); });
}

}  // namespace

void SummaryWriter::addSummary(event::Summary summary, std::int64_t step,
                               const ValueOptions& options) {
  const event::SummaryMetadata names = detail::log::namesOf(options);
  for (event::Value& value : summary.values) {
    value.tag = client_->validTag(value.tag);
    if (value.metadata && !names.displayName.empty()) {
      value.metadata->displayName = names.displayName;
    }
    if (value.metadata && !names.description.empty()) {
      value.metadata->description = names.description;
    }
  }
  handOver(*client_, std::move(summary), step, options.wallTime);
}

void SummaryWriter::addEvent(event::Event event) {
  if (std::holds_alternative<std::monostate>(event.what) ||
      std::holds_alternative<event::FileVersion>(event.what)) {
    detail::base::reject("an empty event or a file version",
                         "an event with content; the writer adds the file version", "addEvent");
  }
  ValueOptions options;
  if (event.wallTime != 0) {
    options.wallTime = event.wallTime;
  }
  if (auto* const summary = std::get_if<event::Summary>(&event.what)) {
    addSummary(std::move(*summary), event.step, options);
    return;
  }
  if (auto* const run = std::get_if<event::TaggedRunMetadata>(&event.what)) {
    run->tag = client_->validTag(run->tag);  // an empty one ends the graph page of all runs
  }
  handOver(*client_, std::move(event.what), event.step, options.wallTime);
}

}  // namespace steptape

// SPDX-License-Identifier: Apache-2.0
#include "server/provider/questions.h"

#include <algorithm>
#include <cstdint>

#include "steptape/wire/data_provider.pb.h"

namespace steptape::detail::server {
namespace {

namespace pb = wire::provider;

template <typename Request>
CallStatus parseFilter(const Request& request, event::DataClass dataClass, SeriesFilter* filter) {
  if (request.plugin_filter().plugin_name().empty()) {
    return invalid("got no plugin name; expected one");
  }
  filter->plugin = request.plugin_filter().plugin_name();
  filter->dataClass = dataClass;
  const pb::RunTagFilter& names = request.run_tag_filter();
  if (names.has_runs()) {
    filter->runs.emplace(names.runs().names().begin(), names.runs().names().end());
  }
  if (names.has_tags()) {
    filter->tags.emplace(names.tags().names().begin(), names.tags().names().end());
  }
  return {};
}

}  // namespace

CallStatus parseList(std::string_view bytes, event::DataClass dataClass, SeriesFilter* filter) {
  pb::ListRequest request;
  const CallStatus status = parse(bytes, &request);
  return status.ok() ? parseFilter(request, dataClass, filter) : status;
}

CallStatus parseRead(std::string_view bytes, event::DataClass dataClass, const SampleLimits& limits,
                     Question* question) {
  pb::ReadRequest request;
  CallStatus status = parse(bytes, &request);
  if (status.ok()) {
    status = parseFilter(request, dataClass, &question->filter);
  }
  if (!status.ok()) {
    return status;
  }
  if (!request.has_downsample()) {
    return invalid("got no downsample; expected the number of points");
  }
  const std::int64_t points = request.downsample().num_points();
  if (points < 0) {
    return invalid("got num_points " + std::to_string(points) + "; expected at least 0");
  }
  question->points =
      std::min(static_cast<std::size_t>(points), limits.of(question->filter.plugin, dataClass));
  return {};
}

}  // namespace steptape::detail::server

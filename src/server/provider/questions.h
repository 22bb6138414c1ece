// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "steptape/events/event.h"

#include "server/grpc/service.h"
#include "server/provider/answers.h"
#include "server/provider/sample_limits.h"
#include "server/provider/series_filter.h"

namespace steptape::detail::server {

/// What a page asks for.
struct Question {
  SeriesFilter filter;
  std::size_t points = 0;  ///< The most of a tag.
};

/// Returns the status of a request that cannot be answered.
inline CallStatus invalid(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

/// Parses a request of Protocol Buffers.
template <typename Request>
CallStatus parse(std::string_view bytes, Request* request) {
  if (bytes.size() > kMostAnswerBytes ||
      !request->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid("got bytes that are no message of this call");
  }
  return {};
}

/// Parses a request of ListScalars, ListTensors or ListBlobSequences.
CallStatus parseList(std::string_view bytes, event::DataClass dataClass, SeriesFilter* filter);

/// Parses a request of ReadScalars, ReadTensors or ReadBlobSequences.
CallStatus parseRead(std::string_view bytes, event::DataClass dataClass, const SampleLimits& limits,
                     Question* question);

}  // namespace steptape::detail::server

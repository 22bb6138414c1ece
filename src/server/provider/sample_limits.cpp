// SPDX-License-Identifier: Apache-2.0
#include "server/provider/sample_limits.h"

#include <charconv>
#include <limits>
#include <system_error>

#include "steptape/base/status.h"

#include "base/got_expected.h"

namespace steptape::detail::server {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

std::size_t parseLimit(std::string_view text) {
  if (text == "all") {
    return kAll;
  }
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size()) {
    base::reject("\"" + std::string(text) + "\"", "a number of points or \"all\"",
                 "samples-per-plugin");
  }
  return limit;
}

}  // namespace

SampleLimits SampleLimits::parse(std::string_view text) {
  SampleLimits limits;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if (one.empty()) {
      continue;
    }
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      base::reject("\"" + std::string(one) + "\"", "PLUGIN=COUNT", "samples-per-plugin");
    }
    limits.byPlugin_.insert_or_assign(std::string(one.substr(0, equals)),
                                      parseLimit(one.substr(equals + 1)));
  }
  return limits;
}

std::size_t SampleLimits::of(std::string_view plugin, event::DataClass dataClass) const {
  if (const auto own = byPlugin_.find(plugin); own != byPlugin_.end()) {
    return own->second;
  }
  switch (dataClass) {
    case event::DataClass::kScalar:
      return 1000;
    case event::DataClass::kTensor:
      return 100;
    case event::DataClass::kBlobSequence:
      return 10;
    case event::DataClass::kUnknown:
      break;
  }
  return 0;
}

}  // namespace steptape::detail::server

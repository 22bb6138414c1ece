// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// The names and details of a file's spans during reading: equal ones get equal numbers.
///
/// @threads Not thread-safe: one thread at a time.
class TraceTables {
 public:
  std::uint32_t numberOf(const TraceName& name);
  std::uint32_t numberOf(const SpanDetails& details);

  std::vector<TraceName>& names() { return names_; }
  const SpanDetails& details(std::uint32_t number) const { return details_[number]; }

  /// Gives `trace`, whose spans have numbers of these tables, its own tables with only the used
  /// entries.
  void giveOwnTables(Trace* trace) const;

 private:
  std::vector<TraceName> names_;
  std::vector<SpanDetails> details_ = std::vector<SpanDetails>(1);
  std::unordered_map<std::string, std::uint32_t> nameNumbers_;
  std::unordered_multimap<std::size_t, std::uint32_t> detailsByHash_;
};

}  // namespace steptape::detail::profile

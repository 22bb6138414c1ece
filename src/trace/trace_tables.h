// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "steptape/trace/trace.h"

namespace steptape::detail {

/// The names and details of the spans of a file, while it is read: equal ones get equal numbers.
///
/// @threads Not thread-safe: one thread at a time.
class TraceTables {
 public:
  std::uint32_t numberOf(const TraceName& name);
  std::uint32_t numberOf(const SpanDetails& details);

  std::vector<TraceName>& names() { return names_; }
  const SpanDetails& details(std::uint32_t number) const { return details_[number]; }

  /// Gives `trace`, whose spans have numbers of these tables, tables of its own with what it uses.
  void giveOwnTables(Trace* trace) const;

 private:
  std::vector<TraceName> names_;
  std::vector<SpanDetails> details_ = std::vector<SpanDetails>(1);
  std::unordered_map<std::string, std::uint32_t> nameNumbers_;
  std::unordered_multimap<std::size_t, std::uint32_t> detailsByHash_;
};

}  // namespace steptape::detail

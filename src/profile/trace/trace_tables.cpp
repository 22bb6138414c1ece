// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/trace_tables.h"

#include <functional>
#include <initializer_list>

namespace steptape::detail::profile {
namespace {

std::size_t hashOf(const SpanDetails& details) {
  std::size_t sum =
      std::hash<double>()(details.flops) * 31 + static_cast<std::size_t>(details.bytes);
  for (const std::string* text :
       {&details.shapes, &details.types, &details.module, &details.arguments}) {
    sum = sum * 31 + std::hash<std::string>()(*text);
  }
  return sum;
}

/// Maps numbers of one table to numbers of another that holds only used entries, in the order of
/// first use.
class Renumbering {
 public:
  explicit Renumbering(std::size_t size) : numbers_(size, kUnused) {}

  template <typename Item>
  std::uint32_t move(std::uint32_t number, const std::vector<Item>& from, std::vector<Item>* to) {
    if (numbers_[number] == kUnused) {
      numbers_[number] = static_cast<std::uint32_t>(to->size());
      to->push_back(from[number]);
    }
    return numbers_[number];
  }
  void keepFirst() { numbers_[0] = 0; }

 private:
  static constexpr std::uint32_t kUnused = ~std::uint32_t{0};
  std::vector<std::uint32_t> numbers_;
};

}  // namespace

std::uint32_t TraceTables::numberOf(const TraceName& name) {
  const std::string key = name.text + '\0' + name.category + '\0' +
                          std::to_string(static_cast<int>(name.kind)) + ' ' +
                          std::to_string(name.color);
  const auto [known, isNew] =
      nameNumbers_.try_emplace(key, static_cast<std::uint32_t>(names_.size()));
  if (isNew) {
    names_.push_back(name);
  }
  return known->second;
}

std::uint32_t TraceTables::numberOf(const SpanDetails& details) {
  if (details == details_[0]) {
    return 0;
  }
  const std::size_t hash = hashOf(details);
  const auto [first, last] = detailsByHash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (details_[known->second] == details) {
      return known->second;
    }
  }
  const auto number = static_cast<std::uint32_t>(details_.size());
  details_.push_back(details);
  detailsByHash_.emplace(hash, number);
  return number;
}

void TraceTables::giveOwnTables(Trace* trace) const {
  Renumbering names(names_.size());
  Renumbering details(details_.size());
  details.keepFirst();
  for (TraceThread& thread : trace->threads) {
    for (TraceSpan& span : thread.spans) {
      span.name = names.move(span.name, names_, &trace->names);
      span.details = details.move(span.details, details_, &trace->details);
    }
  }
}

}  // namespace steptape::detail::profile

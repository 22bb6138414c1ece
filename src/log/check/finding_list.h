// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/file_check.h"

namespace steptape::detail::log {

/// The position of a finding in a run.
struct FindingPlace {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A rule, and the effects of breaking it on the two readers.
struct CheckRule {
  const char* name;
  ReaderEffect fastServer;
  ReaderEffect pythonLoader;
};

/// Sorts findings by file, in the order of `files`, and offset.
void sortFindings(const std::vector<std::string>& files, std::vector<Finding>* findings);

/// Fills a report's findings, up to a limit, and its worst effects.
///
/// @threads Not thread-safe: one thread at a time.
class FindingList {
 public:
  /// REQUIRES: `report` is not null and outlives this object.
  FindingList(CheckReport* report, std::size_t maxFindings)
      : report_(report), maxFindings_(maxFindings) {}

  void add(const CheckRule& rule, const FindingPlace& place, std::string message);

  /// Like add(), but only counts repeated findings for a tag.
  /// @param message A `std::string()` function, called only if the message is needed.
  template <typename Message>
  void addForTag(const CheckRule& rule, const FindingPlace& place, const std::string& tag,
                 const Message& message) {
    const auto [it, isNew] = byTag_.try_emplace({tag, rule.name}, report_->findings.size());
    if (isNew) {
      append(rule, place, tag, message());
      return;
    }
    raiseEffects(rule);
    if (it->second < report_->findings.size()) {
      countAgain(rule, &report_->findings[it->second]);
    }
  }

 private:
  void append(const CheckRule& rule, const FindingPlace& place, const std::string& tag,
              std::string message);
  void raiseEffects(const CheckRule& rule);
  static void countAgain(const CheckRule& rule, Finding* finding);

  CheckReport* report_;
  std::size_t maxFindings_;
  std::map<std::pair<std::string, std::string>, std::size_t> byTag_;  // by tag and rule
};

}  // namespace steptape::detail::log

// SPDX-License-Identifier: Apache-2.0
#include "log/check/finding_list.h"

#include <algorithm>
#include <string_view>

namespace steptape::detail::log {

void sortFindings(const std::vector<std::string>& files, std::vector<Finding>* findings) {
  std::map<std::string_view, std::size_t> numbers;
  for (const std::string& file : files) {
    numbers.emplace(file, numbers.size());
  }
  std::stable_sort(findings->begin(), findings->end(), [&](const Finding& a, const Finding& b) {
    return std::pair(numbers[a.path], a.offset) < std::pair(numbers[b.path], b.offset);
  });
}

void FindingList::add(const CheckRule& rule, const FindingPlace& place, std::string message) {
  append(rule, place, std::string(), std::move(message));
}

void FindingList::append(const CheckRule& rule, const FindingPlace& place, const std::string& tag,
                         std::string message) {
  raiseEffects(rule);
  if (report_->findings.size() >= maxFindings_) {
    ++report_->moreFindings;
    return;
  }
  Finding finding;
  finding.rule = rule.name;
  finding.path = place.path;
  finding.offset = place.offset;
  finding.bytes = place.bytes;
  finding.tag = tag;
  finding.message = std::move(message);
  finding.fastServer = rule.fastServer;
  finding.pythonLoader = rule.pythonLoader;
  report_->findings.push_back(std::move(finding));
}

void FindingList::raiseEffects(const CheckRule& rule) {
  report_->fastServer = std::max(report_->fastServer, rule.fastServer);
  report_->pythonLoader = std::max(report_->pythonLoader, rule.pythonLoader);
}

void FindingList::countAgain(const CheckRule& rule, Finding* finding) {
  ++finding->count;
  finding->fastServer = std::max(finding->fastServer, rule.fastServer);
  finding->pythonLoader = std::max(finding->pythonLoader, rule.pythonLoader);
}

}  // namespace steptape::detail::log

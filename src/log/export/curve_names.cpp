// SPDX-License-Identifier: Apache-2.0
#include "log/export/curve_names.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace steptape::detail::log {

std::vector<NameChange> makeDistinct(std::vector<std::string>* names) {
  std::vector<NameChange> changes;
  std::unordered_set<std::string> taken(names->begin(), names->end());
  if (taken.size() == names->size()) {
    return changes;
  }
  std::unordered_map<std::string, std::size_t> numbers;  // the last one of each name, as given
  for (std::size_t i = 0; i < names->size(); ++i) {
    const std::string name = (*names)[i];
    std::size_t& number = numbers[name];
    if (number == 0) {
      number = 1;
      continue;
    }
    std::string other;
    do {
      other = name + " (" + std::to_string(++number) + ")";
    } while (!taken.insert(other).second);
    (*names)[i] = std::move(other);
    changes.push_back({i, name});
  }
  return changes;
}

void makeDistinct(std::vector<CurveName>* names, std::vector<std::string>* changes) {
  std::vector<std::reference_wrapper<CurveName>> sorted(names->begin(), names->end());
  std::stable_sort(sorted.begin(), sorted.end(), std::less<CurveName>());
  std::vector<std::string> texts;
  texts.reserve(sorted.size());
  for (const CurveName& each : sorted) {
    texts.push_back(each.name);
  }
  for (const NameChange& change : makeDistinct(&texts)) {
    CurveName& curve = sorted[change.index];
    curve.name = texts[change.index];
    changes->push_back("the name \"" + change.before + "\" is taken: the tag \"" + curve.tag +
                       "\" of " + curve.directory + " is written as \"" + curve.name + "\"");
  }
}

}  // namespace steptape::detail::log

// SPDX-License-Identifier: Apache-2.0
#include "log/export/curve_names.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <unordered_set>
#include <utility>

namespace steptape::detail::log {

void makeDistinct(std::vector<CurveName>* names, std::vector<std::string>* changes) {
  std::vector<std::reference_wrapper<CurveName>> sorted(names->begin(), names->end());
  std::stable_sort(sorted.begin(), sorted.end(), std::less<CurveName>());
  std::unordered_set<std::string> taken;
  for (const CurveName& each : sorted) {
    taken.insert(each.name);
  }
  if (taken.size() == sorted.size()) {
    return;
  }
  std::string name;  // that of the curves at hand, as given
  std::size_t number = 0;
  for (CurveName& each : sorted) {
    if (number == 0 || each.name != name) {
      name = each.name;
      number = 1;
      continue;
    }
    std::string other;
    do {
      other = name + " (" + std::to_string(++number) + ")";
    } while (!taken.insert(other).second);
    changes->push_back("the name \"" + name + "\" is taken: the tag \"" + each.tag + "\" of " +
                       each.directory + " is written as \"" + other + "\"");
    each.name = std::move(other);
  }
}

}  // namespace steptape::detail::log

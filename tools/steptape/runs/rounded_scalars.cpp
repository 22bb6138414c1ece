// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/rounded_scalars.h"

#include <cmath>

namespace steptape::tools {

bool mayBeRounded(const TagSeries& series, double value) {
  constexpr double kFirstGap = 0x1p53;  // the integer after it is no double
  return series.isRounded && std::abs(value) >= kFirstGap;
}

std::string roundedNote(const std::string& where) {
  return where +
         ": got integers that no double equals; they are rounded here. "
         "steptape export --format jsonl writes them exactly";
}

std::string tagOfRun(const std::string& tag, const std::string& directory) {
  return tag + " of " + directory;
}

void addRoundedNotes(const RunReader& run, const NamePattern& tags,
                     std::vector<std::string>* notes) {
  for (const auto& [tag, series] : run.tags()) {
    if (series.isRounded && series.scalars.size() > 0 && tags.isFoundIn(tag)) {
      notes->push_back(roundedNote(tagOfRun(tag, run.directory())));
    }
  }
}

}  // namespace steptape::tools

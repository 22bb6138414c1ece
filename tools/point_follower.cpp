// SPDX-License-Identifier: Apache-2.0
#include "tools/point_follower.h"

#include <utility>

namespace steptape::tools {
namespace {

/// Where the points that were written after `wallTime` begin.
std::size_t firstAfter(const ScalarColumns& scalars, double wallTime) {
  std::size_t first = scalars.size();
  while (first > 0 && scalars.wallTimes[first - 1] > wallTime) {
    --first;
  }
  return first;
}

}  // namespace

PointFollower::PointFollower(RunFiles run, NamePattern tag)
    : run_(std::move(run)), directory_(run_.directory()), tag_(std::move(tag)) {}

bool PointFollower::update(std::vector<NewPoint>* points) {
  if (run_.update() == 0) {
    return false;
  }
  bool hasRestarted = false;
  for (const auto& [tag, series] : run_.tags()) {
    const ScalarColumns& scalars = series.scalars;
    Seen& seen = seenByTag_[tag];
    const bool isShorter = !isStillThere(scalars, seen);
    hasRestarted = hasRestarted || isShorter;
    if (tag_.isFoundIn(tag)) {
      for (std::size_t i = isShorter ? firstAfter(scalars, seen.wallTime) : seen.count;
           i < scalars.size(); ++i) {
        points->push_back(
            {scalars.wallTimes[i], &directory_, tag, scalars.steps[i], scalars.values[i]});
      }
    }
    seen = scalars.size() == 0
               ? Seen{}
               : Seen{scalars.size(), scalars.wallTimes.back(), scalars.steps.back()};
  }
  return hasRestarted;
}

bool PointFollower::isStillThere(const ScalarColumns& scalars, const Seen& seen) {
  return seen.count == 0 ||
         (scalars.size() >= seen.count && scalars.wallTimes[seen.count - 1] == seen.wallTime &&
          scalars.steps[seen.count - 1] == seen.step);
}

}  // namespace steptape::tools

// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/point_follower.h"

#include <algorithm>

#include "tools/steptape/runs/bucket_copies.h"
#include "tools/steptape/runs/followed_logs.h"
#include "tools/steptape/runs/rounded_scalars.h"

namespace steptape::tools {
namespace {

/// Appends the new points of a tag, at most the last `mostPoints`.
void addPoints(const std::string& run, const std::string& tag, const TagSeries& series,
               std::size_t mostPoints, std::vector<NewPoint>* points) {
  const ScalarColumns& scalars = series.scalars;
  const std::size_t size = scalars.size();
  for (std::size_t i = std::max(series.firstNewScalar, size - std::min(size, mostPoints)); i < size;
       ++i) {
    points->push_back({scalars.wallTimes[i], &run, &tag, scalars.steps[i], scalars.values[i],
                       mayBeRounded(series, scalars.values[i])});
  }
}

}  // namespace

PointFollower::PointFollower(const std::vector<std::string>& paths, NameFilter filter)
    : filter_(std::move(filter)), logs_(followedLogs(paths, filter_.run)) {}

RunNews PointFollower::update(std::size_t mostPoints) {
  RunNews news;
  std::vector<Damage> missing;
  updateBucketCopies(&missing);
  addDamage(missing, &news);
  for (LogDir& log : logs_) {
    log.update();
    for (const auto& [name, run] : log.runs()) {
      addNews(run, mostPoints, &news);
    }
    addDamage(log.unreadable(), &news);
  }
  std::stable_sort(news.points.begin(), news.points.end(),
                   [](const NewPoint& a, const NewPoint& b) { return a.wallTime < b.wallTime; });
  const std::size_t left = news.points.size() - std::min(news.points.size(), mostPoints);
  news.points.erase(news.points.begin(), news.points.begin() + static_cast<std::ptrdiff_t>(left));
  noteRounded(&news);
  return news;
}

bool PointFollower::hasRuns() const {
  return std::any_of(logs_.begin(), logs_.end(),
                     [](const LogDir& log) { return !log.runs().empty(); });
}

void PointFollower::addNews(const RunReader& run, std::size_t mostPoints, RunNews* news) {
  std::size_t& known = points_[&run];
  const std::string& name = names_.try_emplace(&run, shownPathOf(run.directory())).first->second;
  std::size_t kept = 0;  // of the known ones
  std::size_t total = 0;
  for (const auto& [tag, series] : run.tags()) {
    kept += series.sizeBefore();
    total += series.size();
    if (filter_.tag.isFoundIn(tag)) {
      addPoints(name, tag, series, mostPoints, &news->points);
    }
  }
  const std::vector<std::string>& replaced = run.replacedFiles();
  if (kept < known && replaced.empty()) {
    news->restarted.push_back(name);
  }
  known = total;
  for (const std::string& file : replaced) {
    news->replaced.push_back(shownPathOf(file));
    forgetDamage(file);
  }
  addDamage(run.damage(), news);
}

void PointFollower::addDamage(const std::vector<Damage>& all, RunNews* news) {
  for (const Damage& damage : all) {
    if (damage.outcome != ReadOutcome::kTruncated &&
        damage_.emplace(damage.path, damage.offset).second) {
      news->damage.push_back(damage);
    }
  }
}

void PointFollower::noteRounded(RunNews* news) {
  for (const NewPoint& point : news->points) {
    if (!point.mayBeRounded) {
      continue;
    }
    if (const std::string name = tagOfRun(*point.tag, *point.run); rounded_.insert(name).second) {
      news->rounded.push_back(roundedNote(name));
    }
  }
}

/// Another content has damage of its own.
void PointFollower::forgetDamage(const std::string& file) {
  damage_.erase(damage_.lower_bound({file, 0}), damage_.upper_bound({file, ~std::uint64_t{0}}));
}

}  // namespace steptape::tools

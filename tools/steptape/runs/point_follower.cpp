// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/point_follower.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>

#include "tools/steptape/runs/rounded_scalars.h"

namespace steptape::tools {
namespace {

namespace fs = std::filesystem;

fs::path canonical(const std::string& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : place;
}

/// Returns whether `place` is `directory` or is below it.
bool isWithin(const fs::path& place, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), place.begin(), place.end()).first ==
         directory.end();
}

/// Returns `paths` without those that are below another one or repeat one.
std::vector<std::string> outermost(const std::vector<std::string>& paths) {
  std::vector<fs::path> places;
  std::transform(paths.begin(), paths.end(), std::back_inserter(places), canonical);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    bool isOutermost = true;
    for (std::size_t j = 0; j < paths.size(); ++j) {
      const bool isRepeated = places[i] == places[j] && j >= i;
      isOutermost = isOutermost && (isRepeated || !isWithin(places[i], places[j]));
    }
    if (isOutermost) {
      result.push_back(paths[i]);
    }
  }
  return result;
}

/// Appends the new points of a tag, at most the last `mostPoints`.
void addPoints(const RunReader& run, const std::string& tag, const TagSeries& series,
               std::size_t mostPoints, std::vector<NewPoint>* points) {
  const ScalarColumns& scalars = series.scalars;
  const std::size_t size = scalars.size();
  for (std::size_t i = std::max(series.firstNewScalar, size - std::min(size, mostPoints)); i < size;
       ++i) {
    points->push_back({scalars.wallTimes[i], &run.directory(), &tag, scalars.steps[i],
                       scalars.values[i], mayBeRounded(series, scalars.values[i])});
  }
}

}  // namespace

PointFollower::PointFollower(const std::vector<std::string>& paths, NameFilter filter)
    : filter_(std::move(filter)) {
  RunReaderOptions options;
  options.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (const std::string& path : outermost(paths)) {
    logs_.emplace_back(path, options, [pattern = filter_.run](const RunFiles& run) {
      return pattern.isFoundIn(run.directory);
    });
  }
}

RunNews PointFollower::update(std::size_t mostPoints) {
  RunNews news;
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
  std::size_t kept = 0;  // of the known ones
  std::size_t total = 0;
  for (const auto& [tag, series] : run.tags()) {
    kept += series.sizeBefore();
    total += series.size();
    if (filter_.tag.isFoundIn(tag)) {
      addPoints(run, tag, series, mostPoints, &news->points);
    }
  }
  const std::vector<std::string>& replaced = run.replacedFiles();
  if (kept < known && replaced.empty()) {
    news->restarted.push_back(run.directory());
  }
  known = total;
  news->replaced.insert(news->replaced.end(), replaced.begin(), replaced.end());
  for (const std::string& file : replaced) {
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

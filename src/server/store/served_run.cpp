// SPDX-License-Identifier: Apache-2.0
#include "server/store/served_run.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "steptape/events/plugin_content.h"

#include "base/utf8.h"
#include "server/store/step_search.h"

namespace steptape::detail::server {
namespace {

bool hasScalarColumns(const TagPoints& tag) {
  // Also numbers without metadata, which damage may have removed.
  return tag.isScalar() || (tag.plugin.empty() && tag.scalars.size() > 0);
}

std::size_t sizeOf(const TagPoints& tag) {
  return hasScalarColumns(tag) ? tag.scalars.size() : tag.values.size();
}

std::int64_t stepAt(const TagPoints& tag, bool hasScalars, std::size_t i) {
  return hasScalars ? tag.scalars.step(i) : tag.values[i].step;
}

double wallTimeAt(const TagPoints& tag, bool hasScalars, std::size_t i) {
  return hasScalars ? tag.scalars.wallTime(i) : tag.values[i].wallTime;
}

std::size_t countBefore(const TagPoints& tag, std::int64_t step) {
  if (hasScalarColumns(tag)) {
    return tag.scalars.countBefore(step);
  }
  const auto from = std::lower_bound(
      tag.values.begin(), tag.values.end(), step,
      [](const ValueLocation& value, std::int64_t least) { return value.step < least; });
  return static_cast<std::size_t>(from - tag.values.begin());
}

}  // namespace

TagView::TagView(std::string_view name, const TagPoints* base, const TagPoints* tail)
    : name_(name), base_(base), tail_(tail), hasScalars_(hasScalarColumns(kind())) {
  if (tail_ != nullptr && base_ != nullptr && hasScalarColumns(*tail_) != hasScalars_) {
    tail_ = nullptr;  // another kind of values under the tag, which no page shows
  }
  tailSize_ = tail_ == nullptr ? 0 : sizeOf(*tail_);
  if (base_ != nullptr) {
    baseSize_ =
        tailSize_ == 0 ? sizeOf(*base_) : countBefore(*base_, stepAt(*tail_, hasScalars_, 0));
  }
}

std::string_view TagView::plugin() const {
  const std::string& named = kind().plugin;
  return named.empty() && hasScalars() ? std::string_view(event::kScalarsPlugin) : named;
}

std::int64_t TagView::step(std::size_t i) const {
  return i < baseSize_ ? stepAt(*base_, hasScalars_, i)
                       : stepAt(*tail_, hasScalars_, i - baseSize_);
}

double TagView::wallTime(std::size_t i) const {
  return i < baseSize_ ? wallTimeAt(*base_, hasScalars_, i)
                       : wallTimeAt(*tail_, hasScalars_, i - baseSize_);
}

float TagView::scalar(std::size_t i) const {
  return i < baseSize_ ? base_->scalars.value(i) : tail_->scalars.value(i - baseSize_);
}

const ValueLocation& TagView::value(std::size_t i) const {
  return i < baseSize_ ? base_->values[i] : tail_->values[i - baseSize_];
}

std::optional<std::size_t> TagView::find(std::int64_t step) const {
  const std::size_t found =
      firstNotBefore(0, size(), [&](std::size_t i) { return this->step(i) < step; });
  return found < size() && this->step(found) == step ? std::optional<std::size_t>(found)
                                                     : std::nullopt;
}

double TagView::lastWallTime() const {
  if (tailSize_ == 0 && hasScalars()) {
    return base_->scalars.lastWallTime();
  }
  double last = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < size(); ++i) {
    last = std::max(last, wallTime(i));
  }
  return last;
}

std::string ServedRun::firstPlugin(const std::string& tag) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto known = points_.tags().find(base::replaceInvalidUtf8(tag));
  return known == points_.tags().end() ? std::string() : known->second.plugin;
}

void ServedRun::beginUpdate(const std::vector<std::string>& files) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  files_ = files;
}

void ServedRun::append(log::SeriesBatch* batch) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  points_.append(batch);
}

void ServedRun::noteWallTime(double wallTime) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  startTime_ = wallTime < startTime_ ? wallTime : startTime_;
}

bool ServedRun::agreesWith(const log::SeriesBatch& batch) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return points_.agreesWith(batch);
}

std::size_t ServedRun::scalars() const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return points_.scalars();
}

void ServedRun::reserve(double times) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  points_.reserve(times);
}

void ServedRun::endUpdate(bool hasLost) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  points_.endUpdate(hasLost);
}

void ServedRun::setTail(std::shared_ptr<const RunTail> tail) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  tail_.swap(tail);
}

std::optional<double> ServedRun::startTime() const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  double first = std::min(startTime_, points_.firstWallTime());
  if (tail_ != nullptr) {
    first = std::min(first, tail_->points.firstWallTime());
  }
  return first == std::numeric_limits<double>::infinity() ? std::nullopt
                                                          : std::optional<double>(first);
}

void ServedRun::forEachTag(const std::function<void(const TagView& tag)>& use) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  static const TagMap kNone;
  const TagMap::Tags& base = points_.tags();
  const TagMap::Tags& tail = tail_ != nullptr ? tail_->points.tags() : kNone.tags();
  auto inTail = tail.begin();
  for (const auto& [name, points] : base) {
    for (; inTail != tail.end() && inTail->first < name; ++inTail) {
      use(TagView(inTail->first, nullptr, &inTail->second));
    }
    const bool isInBoth = inTail != tail.end() && inTail->first == name;
    use(TagView(name, &points, isInBoth ? &inTail->second : nullptr));
    inTail = isInBoth ? std::next(inTail) : inTail;
  }
  for (; inTail != tail.end(); ++inTail) {
    use(TagView(inTail->first, nullptr, &inTail->second));
  }
}

void ServedRun::withTag(std::string_view name,
                        const std::function<void(const TagView& tag)>& use) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto base = points_.tags().find(name);
  const bool isInBase = base != points_.tags().end();
  const TagPoints* inTail = nullptr;
  if (tail_ != nullptr) {
    const auto tail = tail_->points.tags().find(name);
    inTail = tail == tail_->points.tags().end() ? nullptr : &tail->second;
  }
  if (isInBase || inTail != nullptr) {
    use(TagView(name, isInBase ? &base->second : nullptr, inTail));
  }
}

std::shared_ptr<const ByteSource> ServedRun::open(std::uint32_t file) const {
  std::string path;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    if (file >= RunTail::kFirst) {
      const std::size_t number = file - RunTail::kFirst;
      const bool isThere = tail_ != nullptr && number < tail_->records.size();
      return isThere ? std::shared_ptr<const ByteSource>(tail_, tail_->records[number].get())
                     : nullptr;
    }
    if (file >= files_.size()) {
      return nullptr;
    }
    path = files_[file];
  }
  return std::make_shared<FileByteSource>(path);
}

}  // namespace steptape::detail::server

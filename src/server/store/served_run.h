// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/events/event.h"
#include "steptape/events/record_reader.h"

#include "log/reader/series_sink.h"
#include "server/store/tag_points.h"

namespace steptape::detail::server {

/// Records that a program has logged and not yet written: the end of a run.
struct RunTail {
  std::vector<std::unique_ptr<MemoryByteSource>> records;  ///< Of one event file each.
  TagMap points;  ///< ValueLocation::file is kFirst and more.

  static constexpr std::uint32_t kFirst = 1U << 31;
};

/// The points of a tag in the files of a run and in its tail. Valid as long as the function runs
/// that gets it.
class TagView {
 public:
  /// @param base May be null, as may `tail`, but not both.
  TagView(std::string_view name, const TagPoints* base, const TagPoints* tail);

  std::string_view name() const { return name_; }
  /// Returns the plugin that shows the tag.
  std::string_view plugin() const;
  event::DataClass dataClass() const { return kind().dataClass; }
  /// Returns the metadata, encoded.
  const std::string& metadata() const { return kind().metadata; }

  /// Returns whether the tag has columns of scalars. Else its points are values in files.
  bool hasScalars() const { return hasScalars_; }
  std::size_t size() const { return baseSize_ + tailSize_; }
  std::int64_t step(std::size_t i) const;
  double wallTime(std::size_t i) const;
  /// REQUIRES: hasScalars().
  float scalar(std::size_t i) const;
  /// Calls `use` with each series of scalars and the number of its points that count, in order.
  /// REQUIRES: hasScalars().
  template <typename Use>
  void forEachPart(const Use& use) const {
    if (baseSize_ > 0) {
      use(base_->scalars, baseSize_);
    }
    if (tailSize_ > 0) {
      use(tail_->scalars, tailSize_);
    }
  }
  /// REQUIRES: !hasScalars().
  const ValueLocation& value(std::size_t i) const;
  /// Returns the index of the point at `step`; none if there is none.
  std::optional<std::size_t> find(std::int64_t step) const;
  /// Returns the largest time of all points.
  double lastWallTime() const;

 private:
  const TagPoints& kind() const { return base_ != nullptr ? *base_ : *tail_; }

  std::string_view name_;
  const TagPoints* base_;
  const TagPoints* tail_;
  std::size_t baseSize_ = 0;  // without the points that the tail replaces
  std::size_t tailSize_ = 0;
  bool hasScalars_;
};

/// A run as TensorBoard sees it: what was read of its files so far.
///
/// @threads The functions of SeriesSink: one thread at a time. The others: thread-safe.
class ServedRun final : public log::SeriesSink {
 public:
  std::string firstPlugin(const std::string& tag) const override;
  void beginUpdate(const std::vector<std::string>& files) override;
  void append(log::SeriesBatch* batch) override;
  void noteWallTime(double wallTime) override;
  bool agreesWith(const log::SeriesBatch& batch) const override;
  std::size_t scalars() const override;
  void reserve(double times) override;
  void purgeFrom(std::int64_t /*step*/) override {}
  void endUpdate(bool hasLost) override;

  /// Replaces the tail. @param tail May be null.
  void setTail(std::shared_ptr<const RunTail> tail);

  /// Returns the smallest time of all events so far; nothing if there is none.
  std::optional<double> startTime() const;

  /// Calls `use` for each tag, in the order of names. A tag whose values no page shows is empty.
  void forEachTag(const std::function<void(const TagView& tag)>& use) const;

  /// Calls `use` with a tag, if there is one of that name.
  void withTag(std::string_view name, const std::function<void(const TagView& tag)>& use) const;

  /// Opens the file of a value.
  /// @return null if `file` is none of the run, or is gone.
  /// @throws Error(kIoError) if the file cannot be read.
  std::shared_ptr<const ByteSource> open(std::uint32_t file) const;

 private:
  mutable std::shared_mutex mutex_;
  TagMap points_;
  std::vector<std::string> files_;
  double startTime_ = std::numeric_limits<double>::infinity();
  std::shared_ptr<const RunTail> tail_;
};

}  // namespace steptape::detail::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "steptape/values/value_options.h"

#include "base/mutex.h"
#include "log/writer/backend.h"
#include "log/writer/reporter.h"
#include "log/writer/run_streams.h"
#include "log/writer/tag_cache.h"

namespace steptape::detail::log {

/// Returns `tag` with invalid UTF-8 replaced, and reports it once per tag.
/// @throws Error(kInvalidArgument) if it is empty.
std::string validTag(std::string_view tag, Reporter* reporter);

/// Maps tags to the numbers of a run's scalar series. The calling thread's cache finds most of
/// them; the rest takes a lock.
///
/// @threads Thread-safe.
class SeriesRegistry {
 public:
  /// @param run Must outlive the registry.
  explicit SeriesRegistry(RunStreams* run);

  /// Returns the series of `tag` in the run's main directory; the first call creates it. Returns 0
  /// if the run is not active.
  /// @throws Error(kInvalidArgument) if `tag` is empty.
  std::uint32_t of(std::string_view tag, const ScalarOptions* options = nullptr) {
    Producer& producer = Backend::producer();
    const std::uint64_t hash = TagCache::hash(tag);
    const std::uint32_t known = producer.tags.find(serial_, tag, hash);
    return known != 0 ? known : intern(tag, hash, options, &producer);
  }
  /// Like of(), for the series `mainTag` of the sub-run `<directory>/<mainTag>/<name>`.
  std::uint32_t ofSubRun(std::string_view mainTag, std::string_view name,
                         const ScalarOptions& options);

  /// Returns whether of() has created a series for `tag`.
  bool has(std::string_view tag) const;

 private:
  std::uint32_t intern(std::string_view tag, std::uint64_t hash, const ScalarOptions* options,
                       Producer* producer);
  std::uint32_t add(EventStream* stream, std::string tag, const ScalarOptions& names);

  const std::uint64_t serial_;
  RunStreams* const run_;
  mutable base::Mutex mutex_;
  // TagCache entries point to these keys, which live as long as the registry.
  std::unordered_map<std::string, std::uint32_t> series_ STEPTAPE_GUARDED_BY(mutex_);  // by tag
  // By main tag, '\0' and name.
  std::unordered_map<std::string, std::uint32_t> subRunSeries_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::log

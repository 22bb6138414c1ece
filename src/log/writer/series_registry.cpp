// SPDX-License-Identifier: Apache-2.0
#include "log/writer/series_registry.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "base/got_expected.h"
#include "base/utf8.h"
#include "values/kinds/tag.h"

namespace steptape::detail::log {
namespace {

// In TagCache, curves of addScalars() use another writer number, so that they cannot be confused
// with tags.
constexpr std::uint64_t kSubRuns = std::uint64_t{1} << 63;

std::uint64_t nextSerial() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Rejects a path that leaves the run's directory.
void checkSubRunPath(std::string_view path) {
  values::checkTag(path);
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") {
      base::reject("a path that leaves the run's directory", "a path without the component \"..\"",
                   "addScalars " + base::quoted(path));
    }
    begin = end + 1;
  }
}

}  // namespace

std::string validTag(std::string_view tag, Reporter* reporter) {
  values::checkTag(tag);
  if (base::isValidUtf8(tag)) {
    return std::string(tag);
  }
  std::string valid = base::replaceInvalidUtf8(tag);
  reporter->reportOnce("tag \"" + valid +
                       "\": got invalid UTF-8, which is replaced by U+FFFD: "
                       "tags that differ only there become one");
  return valid;
}

SeriesRegistry::SeriesRegistry(RunStreams* run) : serial_(nextSerial()), run_(run) {}

std::uint32_t SeriesRegistry::intern(std::string_view tag, std::uint64_t hash,
                                     const ScalarOptions* options, Producer* producer) {
  values::checkTag(tag);
  if (!run_->context().isActive()) {
    return 0;
  }
  std::string valid = validTag(tag, &run_->context().reporter());  // no lock is held for onError
  base::MutexLock lock(mutex_);
  auto known = series_.find(std::string(tag));
  if (known == series_.end()) {
    const ScalarOptions none;
    const std::uint32_t id =
        add(run_->mainStream(), std::move(valid), options != nullptr ? *options : none);
    known = series_.emplace(tag, id).first;
  }
  producer->tags.insert(serial_, known->first, hash, known->second);
  return known->second;
}

std::uint32_t SeriesRegistry::ofSubRun(std::string_view mainTag, std::string_view name,
                                       const ScalarOptions& options) {
  // Kept by the thread, so that finding a known curve allocates nothing.
  static thread_local std::string key;
  key.assign(mainTag);
  key += '\0';
  key += name;
  Producer& producer = Backend::producer();
  const std::uint64_t hash = TagCache::hash(key);
  if (const std::uint32_t cached = producer.tags.find(serial_ | kSubRuns, key, hash)) {
    return cached;
  }
  checkSubRunPath(mainTag);
  checkSubRunPath(name);
  RunContext& context = run_->context();
  if (!context.isActive()) {
    return 0;
  }
  std::string valid = validTag(mainTag, &context.reporter());
  base::MutexLock lock(mutex_);
  auto known = subRunSeries_.find(key);
  if (known == subRunSeries_.end()) {
    EventStream* const stream = run_->subRunStream(context.directory() + "/" +
                                                   std::string(mainTag) + "/" + std::string(name));
    const std::uint32_t id = add(stream, std::move(valid), options);
    known = subRunSeries_.emplace(key, id).first;
  }
  producer.tags.insert(serial_ | kSubRuns, known->first, hash, known->second);
  return known->second;
}

std::uint32_t SeriesRegistry::add(EventStream* stream, std::string tag,
                                  const ScalarOptions& names) {
  return Backend::instance().addSeries(
      std::make_unique<RegisteredSeries>(stream, std::move(tag), names.displayName,
                                         names.description, run_->context().options().valueForm));
}

bool SeriesRegistry::has(std::string_view tag) const {
  base::MutexLock lock(mutex_);
  return series_.count(std::string(tag)) > 0;
}

}  // namespace steptape::detail::log

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include "steptape/log/export.h"

#include "events/messages/scalar_json.h"
#include "events/messages/scalar_spool.h"
#include "log/export/export_run.h"

namespace steptape {
namespace {

constexpr std::size_t kMaxPoints =
    (std::size_t{16} << 20) / sizeof(detail::events::ScalarSpool::Point);

/// Sorts scalars by curve.
class JsonFormat : public detail::log::ExportFormat {
 public:
  explicit JsonFormat(detail::events::ScalarSpool* spool) : spool_(spool) {}

  void beginRun(const detail::log::ExportedRun& run) override {
    const bool isSubRun = std::all_of(run.tags.begin(), run.tags.end(), [&](const RunTag& tag) {
      return detail::events::isSubRunCurve(run.files.directory, tag.name);
    });
    series_.clear();
    for (const std::string& tag : run.tagNames) {
      const std::string name = isSubRun ? run.directory : run.directory + "/" + tag;
      series_.push_back(spool_->series({name, run.directory, tag}));
    }
  }

  bool take(const RunValue& value) override {
    if (value.data != nullptr) {
      return false;
    }
    spool_->add(series_[value.tag], {value.wallTime, value.step, value.scalar}).throwIfError();
    return true;
  }

 private:
  detail::events::ScalarSpool* spool_;
  std::vector<detail::events::ScalarSpool::Series*> series_;  // by tag
};

}  // namespace

ExportResult exportJson(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        const ExportSink& sink) {
  detail::events::ScalarSpool spool(detail::log::temporaryPrefix(options), kMaxPoints);
  JsonFormat format(&spool);
  ExportResult result = detail::log::exportRuns(runs, options, &format);
  detail::events::writeScalarJson(&spool, sink, &result.notes).throwIfError();
  return result;
}

}  // namespace steptape

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include "steptape/log/export.h"

#include "log/export/export_run.h"
#include "log/export/scalar_json.h"
#include "log/export/scalar_spool.h"

namespace steptape {
namespace {

constexpr std::size_t kMaxPoints =
    (std::size_t{16} << 20) / sizeof(detail::log::ScalarSpool::Point);

/// Sorts scalars by curve.
class JsonFormat : public detail::log::ExportFormat {
 public:
  explicit JsonFormat(detail::log::ScalarSpool* spool) : spool_(spool) {}

  void beginRun(const detail::log::ExportedRun& run) override {
    const bool isSubRun =
        std::all_of(run.tags.begin(), run.tags.end(), [&](const detail::log::RunTag& tag) {
          return detail::log::isSubRunCurve(run.files.directory, tag.name);
        });
    series_.clear();
    for (const std::string& tag : run.tagNames) {
      const std::string name = isSubRun ? run.directory : run.directory + "/" + tag;
      series_.push_back(spool_->series({name, run.directory, tag}));
    }
  }

  bool take(const detail::log::RunValue& value) override {
    if (value.data != nullptr) {
      return false;
    }
    spool_->add(series_[value.tag], {value.wallTime, value.step, value.scalar}).throwIfError();
    return true;
  }

 private:
  detail::log::ScalarSpool* spool_;
  std::vector<detail::log::ScalarSpool::Series*> series_;  // by tag
};

}  // namespace

ExportResult exportJson(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        const ExportSink& sink) {
  detail::log::ScalarSpool spool(detail::log::temporaryPrefix(options), kMaxPoints);
  JsonFormat format(&spool);
  ExportResult result = detail::log::exportRuns(runs, options, &format);
  detail::log::writeScalarJson(&spool, sink, &result.notes).throwIfError();
  return result;
}

}  // namespace steptape

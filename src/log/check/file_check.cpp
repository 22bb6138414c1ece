// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/file_check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "steptape/base/status.h"
#include "steptape/log/run_reader.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "events/framing/event_file_name.h"
#include "events/messages/event_codec.h"
#include "events/messages/other_format.h"
#include "log/check/damage_rule.h"
#include "log/check/event_text.h"
#include "log/check/finding_list.h"
#include "log/check/record_walk.h"
#include "log/check/tag_check.h"
#include "log/reader/event_values.h"
#include "log/reader/read_progress.h"

namespace steptape {
namespace {

using detail::base::counted;
using detail::log::CheckRule;
using detail::log::FindingPlace;
using detail::log::RecordWalk;

constexpr ReaderEffect kNone = ReaderEffect::kNone;
constexpr ReaderEffect kNote = ReaderEffect::kNote;
constexpr ReaderEffect kLoss = ReaderEffect::kLoss;

// The effects of each rule on the fast data server, then on the Python loader.
constexpr CheckRule kUnreadable{"unreadable", kLoss, kLoss};
constexpr CheckRule kCutShort{"cut-short", kNote, kNote};
constexpr CheckRule kNotAnEvent{"not-an-event", kLoss, kLoss};
constexpr CheckRule kOtherFormat{"other-format", kLoss, kLoss};
constexpr CheckRule kMindSpore{"mindspore-format", kLoss, kLoss};
constexpr CheckRule kNotUtf8{"not-utf8", kLoss, kLoss};
constexpr CheckRule kNanWallTime{"nan-wall-time", kLoss, kNote};
constexpr CheckRule kInfiniteWallTime{"infinite-wall-time", kLoss, kNote};
constexpr CheckRule kNoFileVersion{"no-file-version", kNone, kNote};
constexpr CheckRule kNoFirstStart{"no-first-start", kNone, kNote};
constexpr CheckRule kNameOrder{"name-order", kNote, kNote};
constexpr CheckRule kRestartOrder{"restart-order", kNone, kLoss};
constexpr CheckRule kWrittenAtOnce{"written-at-once", kNone, kNote};
constexpr CheckRule kExperimentConflict{"experiment-conflict", kLoss, kLoss};

constexpr std::uint64_t kProgressBytes = 4 << 20;

constexpr char kStopsAllRuns[] =
    ": the fast data server shows nothing of the file from here on, the Python loader nothing more "
    "of any run";

/// Checks the files of a run in the order in which readers read them.
class RunCheck {
 public:
  RunCheck(const RunFiles& run, CheckReport* report, const CheckOptions& options)
      : report_(report),
        findings_(report, static_cast<std::size_t>(options.maxFindings)),
        tags_(report, &findings_),
        progress_(options.onProgress, kProgressBytes) {
    tags_.setRunName(run.name);
  }

  void checkFile(const std::string& path) {
    file_ = File();
    place_ = FindingPlace{path, 0, 0};
    tags_.beginFile();
    try {
      const FileByteSource source(path);
      checkStretches(source);
    } catch (const Error& error) {
      findings_.add(kUnreadable, place_, error.what());
    }
    if (file_.hasEvent) {
      latestBegin_ = std::max(latestBegin_.value_or(file_.begin), file_.begin);
      latestTime_ = std::max(latestTime_.value_or(file_.latestTime), file_.latestTime);
    }
  }

  /// REQUIRES: all files were checked.
  void finish() { tags_.finish(); }

 private:
  struct File {
    bool hasEvent = false;
    bool isMindSpores = false;
    bool isOtherFormat = false;
    bool isMisplaced = false;  // written before a file that readers read earlier
    double begin = 0;          // wall time of the first event
    double latestTime = 0;
  };

  void checkStretches(const ByteSource& source) {
    RecordWalk walk(&source);
    const std::uint64_t before = report_->bytes;
    for (;;) {
      const RecordWalk::Stretch stretch = walk.next();
      place_.offset = walk.offset();
      place_.bytes = walk.bytes();
      switch (stretch) {
        case RecordWalk::Stretch::kRecord:
          ++report_->records;
          takeRecord(walk.payload());
          break;
        case RecordWalk::Stretch::kDamage:
          takeDamage(walk, detail::log::damageRule(source, walk));
          break;
        case RecordWalk::Stretch::kTail:
          findings_.add(kCutShort, place_,
                        walk.problem() + ": the file is being written, or its writer was killed");
          break;
        case RecordWalk::Stretch::kIoError:
          findings_.add(kUnreadable, place_, walk.status().message());
          return;
        case RecordWalk::Stretch::kEnd:
          report_->bytes = before + walk.offset();
          return;
      }
      report_->bytes = before + walk.offset() + walk.bytes();
      progress_.reach(report_->bytes);
    }
  }

  void takeDamage(const RecordWalk& walk, const detail::log::DamageRule& damage) {
    findings_.add(damage.rule, place_,
                  walk.problem() + ", " + counted(walk.bytes(), "byte") +
                      " that are no record: " + damage.consequence);
  }

  void takeRecord(std::string_view payload) {
    if (file_.hasEvent && takeScalars(payload)) {
      return;
    }
    if (takeOtherFormat(payload)) {
      return;
    }
    event::Event event;
    if (const Status status = detail::events::decodeEvent(payload, &event); !status.ok()) {
      findings_.add(kNotAnEvent, place_, status.message() + kStopsAllRuns);
    } else if (detail::log::findIllFormedText(event) != nullptr) {
      findings_.add(kNotUtf8, place_, std::string("got text that is not UTF-8") + kStopsAllRuns);
    } else {
      takeEvent(event, payload);
    }
  }

  /// Reports once for a file that it holds records of another format.
  bool takeOtherFormat(std::string_view payload) {
    const char* const format = detail::events::otherFormatOf(payload);
    if (format != nullptr && !std::exchange(file_.isOtherFormat, true)) {
      findings_.add(kOtherFormat, place_,
                    "record: " + detail::base::gotExpected(format, "a tensorflow.Event message") +
                        ": the fast data server shows nothing of the file from here on, the Python "
                        "loader skips such records");
    }
    return format != nullptr;
  }

  bool takeScalars(std::string_view payload) {
    const detail::events::ScalarEventView event(payload);
    if (!std::isfinite(event.wallTime()) || !tags_.takeScalars(event, place_)) {
      return false;
    }
    file_.latestTime = std::max(file_.latestTime, event.wallTime());
    return true;
  }

  void takeEvent(const event::Event& event, std::string_view payload) {
    takeWallTime(event.wallTime);
    const auto* version = std::get_if<event::FileVersion>(&event.what);
    if (version != nullptr) {
      tags_.setHasRestarts(detail::log::hasRestarts(*version));
      hasVersion_ = true;
      takeVersion(*version);
    }
    if (!std::exchange(file_.hasEvent, true)) {
      beginFile(event.wallTime);
    }
    if (file_.isMindSpores) {
      return;
    }
    if (const auto* summary = std::get_if<event::Summary>(&event.what)) {
      tags_.takeSummary(*summary, payload, event.step, place_);
    } else if (const auto* log = std::get_if<event::SessionLog>(&event.what)) {
      takeSessionLog(*log, event.step);
    } else if (std::holds_alternative<event::GraphDef>(event.what)) {
      tags_.takeGraph(kRunGraphTag, place_);
    } else if (const auto* run = std::get_if<event::TaggedRunMetadata>(&event.what)) {
      tags_.takeGraph(run->tag, place_);
    }
  }

  void takeVersion(const event::FileVersion& version) {
    if (!detail::base::startsWith(version.version, "MindSpore.Event:")) {
      return;
    }
    file_.isMindSpores = true;
    const std::string name = place_.path.substr(place_.path.rfind('/') + 1);
    findings_.add(
        kMindSpore, place_,
        detail::base::gotExpected("version '" + version.version + "', the format of MindSpore",
                                  "brain.Event:2") +
            ": " +
            (detail::events::isEventFileName(name)
                 ? "the fast data server shows nothing of the file from its first scalar "
                   "on, the Python loader only its images"
                 : "TensorBoard reads no file without 'tfevents' in its name"));
  }

  void takeWallTime(double wallTime) {
    if (std::isnan(wallTime)) {
      findings_.add(
          kNanWallTime, place_,
          "got wall time NaN; expected a number: the fast data server shows nothing of the "
          "file from here on");
    } else if (std::isinf(wallTime)) {
      findings_.add(
          kInfiniteWallTime, place_,
          "got an infinite wall time; expected a finite one: the fast data server leaves the "
          "event out");
    } else {
      file_.latestTime = file_.hasEvent ? std::max(file_.latestTime, wallTime) : wallTime;
    }
  }

  void beginFile(double wallTime) {
    file_.begin = std::isfinite(wallTime) ? wallTime : latestBegin_.value_or(0);
    if (!hasVersion_) {
      findings_.add(
          kNoFileVersion, place_,
          "got no file version in the first record; expected one: without it, the Python loader "
          "regards a decreasing step as a restart");
    }
    if (latestBegin_ && file_.begin < *latestBegin_) {
      file_.isMisplaced = true;
      findings_.add(
          kNameOrder, place_,
          "got a file that was started before one whose name sorts earlier; expected the "
          "same order of names and times: readers read files in the order of their names");
    } else if (latestTime_ && file_.begin < *latestTime_) {
      findings_.add(
          kWrittenAtOnce, place_,
          "got a file that was started before the previous one ended; expected one writer "
          "at a time: a Python loader that watches both follows only the last one");
    }
  }

  void takeSessionLog(const event::SessionLog& log, std::int64_t step) {
    if (log.status != event::SessionLog::Status::kStart) {
      return;
    }
    // Without a version, the Python loader ignores all of them.
    const bool isFirst = tags_.hasRestarts() && !std::exchange(hasStart_, true);
    const bool isIgnored = isFirst || !tags_.hasRestarts();
    if (!tags_.hasStepFrom(step)) {
      return;
    }
    if (file_.isMisplaced && !isIgnored) {
      findings_.add(kRestartOrder, place_,
                    "got a restart from step " + std::to_string(step) +
                        " in a file that sorts after later files; expected files in the order of "
                        "their times: the Python loader discards their points at that step and "
                        "later");
      return;
    }
    if (isFirst) {
      findings_.add(
          kNoFirstStart, place_,
          "got the run's first SessionLog START after values at step " + std::to_string(step) +
              " and later; expected one before all values: the Python loader keeps the points "
              "that this restart should discard");
    }
    tags_.takeRestart(step, isIgnored, place_);
  }

  CheckReport* report_;
  detail::log::FindingList findings_;
  detail::log::TagCheck tags_;
  FindingPlace place_;
  File file_;
  bool hasVersion_ = false;
  bool hasStart_ = false;
  std::optional<double> latestBegin_;  // of earlier files
  std::optional<double> latestTime_;
  detail::log::ReadProgress progress_;
};

}  // namespace

CheckReport checkRun(const RunFiles& run, const CheckOptions& options) {
  CheckReport report;
  RunCheck check(run, &report, options);
  for (const std::string& path : run.files) {
    check.checkFile(path);
  }
  check.finish();
  detail::log::sortFindings(run.files, &report.findings);
  if (options.onProgress) {
    options.onProgress(report.bytes);
  }
  return report;
}

CheckReport checkEventFile(const std::string& path, const CheckOptions& options) {
  RunFiles run;
  run.files = {path};
  return checkRun(run, options);
}

std::vector<Finding> findExperimentConflicts(const std::vector<CheckReport>& reports) {
  CheckReport found;
  detail::log::FindingList findings(&found, reports.size());
  const ExperimentRecord* first = nullptr;
  for (const CheckReport& report : reports) {
    if (!report.experiment) {
      continue;
    }
    if (first == nullptr) {
      first = &*report.experiment;
    } else if (report.experiment->content != first->content) {
      findings.add(kExperimentConflict, {report.experiment->path, report.experiment->offset, 0},
                   "got another experiment record than at offset " + std::to_string(first->offset) +
                       " of " + first->path +
                       "; expected the same in all runs: TensorBoard takes any one of them");
    }
  }
  return std::move(found.findings);
}

}  // namespace steptape

// SPDX-License-Identifier: Apache-2.0
#include "log/writer/scalar_json_export.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/events/record_reader.h"

#include "base/replacement_file.h"
#include "base/utf8.h"
#include "events/messages/event_codec.h"
#include "events/messages/scalar_event_view.h"
#include "events/messages/scalar_json.h"
#include "events/messages/scalar_spool.h"
#include "events/messages/step_cuts.h"
#include "log/writer/run_context.h"

namespace steptape::detail::log {
namespace {

constexpr std::size_t kMaxPoints = (std::size_t{16} << 20) / sizeof(events::ScalarSpool::Point);

/// Calls `take(payload, offset)`, which returns a Status, for each complete record of a file.
template <typename Take>
Status forEachRecord(const std::string& path, const Take& take) {
  std::unique_ptr<FileByteSource> source;
  try {
    source = std::make_unique<FileByteSource>(path);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  RecordReader records(std::move(source));
  std::string_view payload;
  for (;;) {
    const std::uint64_t offset = records.offset();
    const ReadOutcome outcome = records.next(&payload);
    if (outcome == ReadOutcome::kTruncated) {
      return {};
    }
    if (outcome != ReadOutcome::kRecord) {
      return records.lastError();
    }
    if (Status status = take(payload, offset); !status.ok()) {
      return status;
    }
  }
}

bool isScalars(std::string_view payload) {
  events::ScalarEventView event(payload);
  events::ScalarView scalar;
  while (event.next(&scalar)) {
  }
  return event.isWhole();
}

/// Returns the number of a `simple_value` or a rank-0 DT_FLOAT tensor, the forms of WriterOptions.
std::optional<float> scalarOf(const event::Value& value) {
  if (const auto* const number = std::get_if<float>(&value.data)) {
    return *number;
  }
  const auto* const tensor = std::get_if<event::Tensor>(&value.data);
  if (tensor == nullptr || tensor->type != event::TensorType::kFloat || !tensor->shape.empty() ||
      tensor->content.size() != sizeof(float)) {
    return std::nullopt;
  }
  float number;
  std::memcpy(&number, tensor->content.data(), sizeof(number));
  return number;
}

bool isOfScalarsPlugin(const event::Value& value) {
  return value.metadata ? value.metadata->pluginName == event::kScalarsPlugin
                        : std::holds_alternative<float>(value.data);
}

/// Sorts the scalars of a writer by curve.
class CurveSorter {
 public:
  CurveSorter(std::string directory, events::ScalarSpool* spool)
      : directory_(std::move(directory)), spool_(spool) {}

  /// Collects the restarts in a file. Call it for all files in the order of writing, before take().
  Status scan(const RunContext::File& file) {
    const std::uint32_t number = scanned_++;
    return forEachRecord(file.path, [&](std::string_view payload, std::uint64_t offset) {
      event::Event event;
      if (isScalars(payload)) {
        return Status();
      }
      Status decoded = events::decodeEvent(payload, &event);
      const auto* const log = std::get_if<event::SessionLog>(&event.what);
      if (decoded.ok() && log != nullptr && log->status == event::SessionLog::Status::kStart) {
        restarts_[file.directory].add({number, offset}, event.step);
      }
      return decoded;
    });
  }

  /// Collects the scalars of a file. Call it for the same files.
  Status take(const RunContext::File& file) {
    const std::uint32_t number = taken_++;
    return forEachRecord(file.path, [&](std::string_view payload, std::uint64_t offset) {
      event::Event event;
      Status status = events::decodeEvent(payload, &event);
      const auto* const summary = std::get_if<event::Summary>(&event.what);
      if (!status.ok() || summary == nullptr ||
          restarts_[file.directory].drops({number, offset}, event.step)) {
        return status;
      }
      for (std::size_t i = 0; status.ok() && i < summary->values.size(); ++i) {
        status = takeValue(file.directory, event, summary->values[i]);
      }
      return status;
    });
  }

 private:
  Status takeValue(const std::string& directory, const event::Event& event,
                   const event::Value& value) {
    const std::optional<float> number = scalarOf(value);
    events::ScalarSpool::Series* const series = number ? seriesOf(directory, value) : nullptr;
    return series == nullptr ? Status()
                             : spool_->add(series, {event.wallTime, event.step, double{*number}});
  }

  /// Returns null if the tag's first value is not a scalar.
  events::ScalarSpool::Series* seriesOf(const std::string& directory, const event::Value& value) {
    const auto [it, isNew] = series_.try_emplace({directory, value.tag}, nullptr);
    if (isNew && isOfScalarsPlugin(value)) {
      // tensorboardX's keys: a curve of addScalars() is identified by its directory.
      const bool isSubRun = directory != directory_;
      const std::string name = isSubRun ? directory : directory + "/" + value.tag;
      it->second = spool_->series({base::replaceInvalidUtf8(name), directory, value.tag});
    }
    return it->second;
  }

  const std::string directory_;
  events::ScalarSpool* const spool_;
  std::uint32_t scanned_ = 0;
  std::uint32_t taken_ = 0;
  std::map<std::string, events::StepCuts> restarts_;  // by directory
  std::map<std::pair<std::string, std::string>, events::ScalarSpool::Series*>
      series_;  // by directory, tag
};

Status sortCurves(const RunContext& run, events::ScalarSpool* spool) {
  CurveSorter sorter(run.directory(), spool);
  const std::vector<RunContext::File> files = run.files();
  for (const RunContext::File& file : files) {
    if (Status status = sorter.scan(file); !status.ok()) {
      return status;
    }
  }
  for (const RunContext::File& file : files) {
    if (Status status = sorter.take(file); !status.ok()) {
      return status;
    }
  }
  return {};
}

Status writeJson(events::ScalarSpool* spool, const std::string& path) {
  base::ReplacementFile file(path);
  Status status = file.open();
  if (status.ok()) {
    std::vector<std::string> notes;  // The names are as documented; nobody reads these.
    status = events::writeScalarJson(
        spool, [&](std::string_view text) { file.write(text); }, &notes);
  }
  if (status.ok()) {
    status = file.finish();  // also reports failures of the writes
  }
  return status.ok() ? file.appear(true) : status;
}

}  // namespace

Status exportScalars(const RunContext& run, const std::string& path) {
  events::ScalarSpool spool(path + ".spool", kMaxPoints);
  Status sorted = sortCurves(run, &spool);
  return sorted.ok() ? writeJson(&spool, path) : sorted;
}

}  // namespace steptape::detail::log

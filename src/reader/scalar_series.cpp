// SPDX-License-Identifier: Apache-2.0
#include "steptape/reader/scalar_series.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "steptape/base/error.h"
#include "steptape/event/plugin_data.h"
#include "steptape/reader/event_file_reader.h"

#include "base/little_endian.h"

namespace steptape {
namespace {

template <typename Number, typename Bits>
float numberOf(Bits bits) {
  static_assert(sizeof(Number) == sizeof(Bits));
  Number number;
  std::memcpy(&number, &bits, sizeof number);
  return static_cast<float>(number);
}

std::optional<float> onlyNumberOf(const Tensor& tensor) {
  const std::string& content = tensor.content;
  if (tensor.type == TensorType::kFloat && content.size() == sizeof(float)) {
    return numberOf<float>(detail::loadLittleEndian32(content.data()));
  }
  if (tensor.type == TensorType::kDouble && content.size() == sizeof(double)) {
    return numberOf<double>(detail::loadLittleEndian64(content.data()));
  }
  return std::nullopt;
}

class ScalarMerger {
 public:
  void add(const Event& event) {
    if (const auto* log = std::get_if<SessionLog>(&event.what)) {
      if (log->status == SessionLog::Status::kStart) {
        dropFrom(event.step);
      }
    } else if (const auto* summary = std::get_if<Summary>(&event.what)) {
      for (const Value& value : summary->values) {
        if (const std::optional<float> number = numberOf(value)) {
          scalars_[value.tag].push_back({event.wallTime, event.step, *number});
        }
      }
    }
  }

  ScalarsByTag take() { return std::move(scalars_); }

 private:
  std::optional<float> numberOf(const Value& value) {
    if (const auto* number = std::get_if<float>(&value.data)) {
      return *number;
    }
    if (value.metadata && value.metadata->pluginName == kScalarsPlugin) {
      scalarTags_.insert(value.tag);
    }
    // Only a tag's first value says which plugin it belongs to.
    const auto* tensor = std::get_if<Tensor>(&value.data);
    if (tensor == nullptr || scalarTags_.count(value.tag) == 0) {
      return std::nullopt;
    }
    return onlyNumberOf(*tensor);
  }

  void dropFrom(std::int64_t step) {
    for (auto it = scalars_.begin(); it != scalars_.end();) {
      auto& points = it->second;
      points.erase(std::remove_if(points.begin(), points.end(),
                                  [step](const ScalarPoint& point) { return point.step >= step; }),
                   points.end());
      it = points.empty() ? scalars_.erase(it) : std::next(it);
    }
  }

  ScalarsByTag scalars_;
  std::set<std::string> scalarTags_;
};

/// @return what kept the file from being read to its end.
std::optional<FileProblem> readFile(const std::string& path, ScalarMerger* merger) {
  try {
    EventFileReader reader(path);
    Event event;
    ReadOutcome outcome = reader.next(&event);
    for (; outcome == ReadOutcome::kRecord; outcome = reader.next(&event)) {
      merger->add(event);
    }
    if (reader.lastError().ok()) {
      return std::nullopt;
    }
    return FileProblem{path, reader.offset(), outcome, reader.lastError()};
  } catch (const Error& error) {
    return FileProblem{path, 0, ReadOutcome::kIoError, Status(error.code(), error.what())};
  }
}

}  // namespace

RunScalars readRunScalars(const RunFiles& run) {
  RunScalars result;
  ScalarMerger merger;
  for (const std::string& path : run.files) {
    if (std::optional<FileProblem> problem = readFile(path, &merger)) {
      result.problems.push_back(std::move(*problem));
    }
  }
  result.scalars = merger.take();
  return result;
}

ScalarsByTag readScalars(const std::string& path) {
  const std::vector<RunFiles> runs = listRuns(path);
  if (runs.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "not one run: got " + std::to_string(runs.size()) + " below " + path);
  }
  RunScalars result = readRunScalars(runs.front());
  for (const FileProblem& problem : result.problems) {
    if (problem.outcome != ReadOutcome::kTruncated) {
      problem.status.throwIfError();
    }
  }
  return std::move(result.scalars);
}

}  // namespace steptape

// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/run_overview.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

#include "steptape/log/event_file_reader.h"

#include "base/text.h"
#include "tools/steptape/runs/bucket_copies.h"
#include "tools/steptape/runs/trained_time.h"
#include "tools/steptape/tables/human_text.h"

namespace steptape::tools {
namespace {

constexpr std::pair<std::string_view, Metric::Of> kSuffixes[] = {
    {":last", Metric::Of::kLast}, {":min", Metric::Of::kMin}, {":max", Metric::Of::kMax}};

/// Returns whether Steptape wrote the newest file of the run.
bool isOurs(const RunReader& run) {
  try {
    EventFileReader events(run.files().back());
    event::Event event;
    return events.next(&event) == ReadOutcome::kRecord && event.sourceWriter == "steptape";
  } catch (const Error&) {
    return false;  // the damage of the run says why
  }
}

/// What a run says in the records of the hparams plugin.
struct Records {
  Hparams hparams;
  std::optional<SessionStatus> status;
};

Records recordsOf(const RunReader& run) {
  Records records;
  for (const auto& [tag, series] : run.tags()) {
    HparamsContent content;
    if (series.size() == 0 || series.metadata.pluginName != event::kHparamsPlugin ||
        !decodeHparamsContent(series.metadata.pluginContent, &content).ok()) {
      continue;
    }
    if (auto* const start = std::get_if<HparamsSessionStart>(&content)) {
      records.hparams = std::move(start->hparams);
    } else if (const auto* const end = std::get_if<HparamsSessionEnd>(&content)) {
      records.status = end->status;
    }
  }
  return records;
}

RunEnd endOf(const RunReader& run, const Records& records) {
  if (records.status == SessionStatus::kFailure) {
    return RunEnd::kFailed;
  }
  // A run of several sessions may have logged the end of an earlier one.
  if (records.status == SessionStatus::kSuccess && run.files().size() == 1) {
    return RunEnd::kSucceeded;
  }
  return isOurs(run) ? RunEnd::kNotSaid : RunEnd::kForeign;
}

/// Steps go back where a program counts again from 0 without a restart.
std::optional<std::int64_t> largestStepOf(const RunReader& run) {
  std::optional<std::int64_t> largest;
  const auto take = [&](std::int64_t step) { largest = std::max(largest.value_or(step), step); };
  for (const auto& [tag, series] : run.tags()) {
    for (const std::int64_t step : series.scalars.steps) {
      take(step);
    }
    for (const auto& value : series.values) {
      take(value.step);
    }
  }
  return largest;
}

/// Other writers' times may be milliseconds, also in a part of the events, or infinite.
std::optional<double> trainedTimeOf(const std::vector<RunSession>& sessions) {
  const bool areSeconds =
      std::all_of(sessions.begin(), sessions.end(),
                  [](const RunSession& session) { return session.end < kLastCalendarTime; });
  return areSeconds ? std::optional<double>(trainedTime(sessions)) : std::nullopt;
}

}  // namespace

Metric Metric::parse(const std::string& text) {
  for (const auto& [suffix, of] : kSuffixes) {
    if (steptape::detail::base::endsWith(text, suffix) && text.size() > suffix.size()) {
      return {text.substr(0, text.size() - suffix.size()), of};
    }
  }
  return {text, Of::kLast};
}

std::string Metric::name() const {
  return of == Of::kLast ? tag : tag + (of == Of::kMin ? ":min" : ":max");
}

std::optional<MetricValue> metricOf(const RunReader& run, const Metric& metric) {
  const auto found = run.tags().find(metric.tag);
  if (found == run.tags().end() || found->second.scalars.size() == 0) {
    return std::nullopt;
  }
  const ScalarColumns& scalars = found->second.scalars;
  std::size_t best = scalars.size() - 1;
  if (metric.of != Metric::Of::kLast) {
    best = 0;
    for (std::size_t i = 1; i < scalars.size(); ++i) {
      const double value = scalars.values[i];
      const double known = scalars.values[best];
      const bool isBetter = metric.of == Metric::Of::kMin ? value < known : value > known;
      if (isBetter || (std::isnan(known) && !std::isnan(value))) {
        best = i;
      }
    }
  }
  return MetricValue{scalars.values[best], scalars.steps[best]};
}

RunOverview overviewOf(const RunReader& run, const RunStates& states) {
  RunOverview overview;
  overview.run = &run;
  overview.name = shownPathOf(run.directory());
  overview.step = largestStepOf(run);
  const std::vector<RunSession> sessions = run.sessions();
  overview.trained = trainedTimeOf(sessions);
  overview.sessions = sessions.size();
  for (const RunSession& session : sessions) {
    overview.lastTime = std::max(overview.lastTime, session.end);
  }
  Records records = recordsOf(run);
  overview.state = states.of(run, endOf(run, records));
  overview.hparams = std::move(records.hparams);
  return overview;
}

}  // namespace steptape::tools

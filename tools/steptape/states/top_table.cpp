// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/top_table.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "tools/steptape/states/verdict.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/tables/row_table.h"
#include "tools/steptape/tables/table.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

using steptape::detail::process::RankState;

const char* healthName(Health health) {
  constexpr std::array<const char*, 7> kNames{"dead",    "stopped", "stuck", "slow",
                                              "waiting", "running", "ended"};
  return kNames.at(static_cast<std::size_t>(health));
}

const char* colorOf(Health health) {
  switch (health) {
    case Health::kDead:
      return "\033[31m";
    case Health::kStopped:
    case Health::kStuck:
      return "\033[35m";
    case Health::kSlow:
      return "\033[33m";
    default:
      return "";
  }
}

std::string ageOf(double time, double now) {
  return time <= 0 ? "-" : humanDuration(std::max(0.0, now - time));
}

/// Returns what the process does innermost, and for how long: "allreduce 'gradients' #12 41 s".
std::string doingOf(const RankState& state, double now) {
  if (const RankState::Collective* const collective = collectiveInFlight(state)) {
    return fmt::format("{} #{}, {}", collective->name, collective->sequence,
                       ageOf(collective->start, now));
  }
  if (const RankState::Thread* const thread = mainThread(state)) {
    return fmt::format("{}, {}", thread->zones.back().name, ageOf(thread->zones.back().start, now));
  }
  return "-";
}

/// @param now, jobNow By the clocks of its host and of the first host of the job.
Health healthOf(const RankView& rank, const Verdict& verdict, double typicalStep, double now,
                double jobNow) {
  // A first step, and a step with a checkpoint, take long.
  constexpr double kLeastStuck = 60;
  constexpr double kSlowFactor = 1.5;
  if (rank.life == Life::kDead) {
    return Health::kDead;
  }
  if (rank.life == Life::kStopped) {
    return Health::kStopped;
  }
  const RankState& state = rank.state;
  for (const BlockedCollective& blocked : verdict.blocked) {
    const bool isBehind =
        std::find(blocked.behind.begin(), blocked.behind.end(), &rank) != blocked.behind.end();
    if (isBehind && collectiveInFlight(state) == nullptr &&
        jobNow - blocked.since > std::max(5.0, 10 * typicalStep)) {
      return Health::kStuck;
    }
  }
  if (collectiveInFlight(state) != nullptr) {
    return Health::kWaits;
  }
  const double own = medianStepTime(state);
  if (state.hasStep && own > 0 && now - state.stepTime > std::max(kLeastStuck, 10 * own)) {
    return Health::kStuck;
  }
  return typicalStep > 0 && own > kSlowFactor * typicalStep ? Health::kSlow : Health::kRuns;
}

std::string rateOf(const RankState& state) {
  const double step = medianStepTime(state);
  return step > 0 ? shortNumber(1 / step) : "-";
}

/// Returns the job of the scheduler, else the last part of the log directory.
std::string jobNameOf(const RankState& state) {
  if (!state.jobId.empty()) {
    return state.jobId;
  }
  const std::string directory = state.logDirectories.empty() ? "-" : state.logDirectories.front();
  return directory.substr(directory.rfind('/') + 1);
}

/// Returns the time by the clock of its host, when it is `now` here.
double nowOf(const RankView& rank, double now) {
  return now + rank.clockAhead;
}

}  // namespace

std::vector<TopRow> topRows(const std::vector<Job>& jobs, double now) {
  std::vector<TopRow> rows;
  for (const Job& job : jobs) {
    std::vector<double> steps;
    for (const RankView& rank : job.ranks) {
      const double step = medianStepTime(rank.state);
      if (step > 0) {
        steps.push_back(step);
      }
    }
    std::sort(steps.begin(), steps.end());
    const double typical = steps.empty() ? 0 : steps[(steps.size() - 1) / 2];
    const Verdict verdict = judge(job, {});
    for (const RankView& rank : job.ranks) {
      rows.push_back({rank, healthOf(rank, verdict, typical, nowOf(rank, now),
                                     nowOf(job.ranks.front(), now))});
    }
  }
  return rows;
}

std::string topText(std::vector<TopRow> rows, double now, const Terminal& terminal) {
  std::array<std::size_t, 7> counts{};
  for (const TopRow& row : rows) {
    ++counts.at(static_cast<std::size_t>(row.health));
  }
  std::string text =
      fmt::format("{}  {} process{}", humanTime(now), rows.size(), rows.size() == 1 ? "" : "es");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts.at(i) > 0) {
      text += fmt::format(", {} {}", counts.at(i), healthName(static_cast<Health>(i)));
    }
  }
  text = beginning(text, terminal.columns, terminal.hasUtf8) + "\n\n";
  if (rows.empty()) {
    return text + "No process of this user logs here with Steptape.\n";
  }
  const auto room = static_cast<std::size_t>(std::max(1, terminal.rows - 5));
  std::size_t hidden = 0;
  if (terminal.isTerminal && rows.size() > room) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const TopRow& a, const TopRow& b) { return a.health < b.health; });
    hidden = rows.size() - room;
    rows.resize(room);
  }
  const auto stateOf = [](const TopRow& row) -> const RankState& { return row.rank.state; };
  const auto agoOf = [now](const TopRow& row, double time) {
    return ageOf(time, nowOf(row.rank, now));
  };
  const bool isOneJob = std::all_of(rows.begin(), rows.end(), [&](const TopRow& row) {
    return jobNameOf(stateOf(row)) == jobNameOf(stateOf(rows.front()));
  });
  std::vector<TableColumn> columns;
  if (!isOneJob) {
    columns.push_back(wordColumn("JOB", rows, terminal,
                                 [&](const TopRow& row) { return jobNameOf(stateOf(row)); }));
  }
  columns.push_back(numberColumn("RANK", rows, [&](const TopRow& row) {
    return stateOf(row).rank < 0 ? std::string("-") : fmt::to_string(stateOf(row).rank);
  }));
  columns.push_back(wordColumn("STATE", rows, terminal,
                               [](const TopRow& row) { return healthName(row.health); }));
  columns.push_back(numberColumn(
      "BEAT", rows, [&](const TopRow& row) { return agoOf(row, stateOf(row).heartbeat); }));
  columns.push_back(numberColumn("STEP", rows, [&](const TopRow& row) {
    return stateOf(row).hasStep ? fmt::to_string(stateOf(row).step) : std::string("-");
  }));
  columns.push_back(numberColumn(
      "AGE", rows, [&](const TopRow& row) { return agoOf(row, stateOf(row).stepTime); }));
  columns.push_back(
      numberColumn("STEP/S", rows, [&](const TopRow& row) { return rateOf(stateOf(row)); }));
  columns.push_back(wordColumn("PHASE", rows, terminal, [&](const TopRow& row) {
    const std::string phase = runPhaseName(stateOf(row).phase);
    return phase.empty() ? std::string("-") : phase;
  }));
  columns.push_back(numberColumn("MEMORY", rows, [&](const TopRow& row) {
    const std::int64_t bytes = stateOf(row).residentBytes;
    return bytes < 0 ? std::string("-") : humanBytes(static_cast<std::uint64_t>(bytes));
  }));
  columns.push_back(numberColumn(
      "PID", rows, [&](const TopRow& row) { return fmt::to_string(stateOf(row).process.pid); }));
  columns.push_back(
      wordColumn("HOST", rows, terminal, [](const TopRow& row) { return hostOf(row.rank); }));
  columns.push_back(wordColumn("DOING", rows, terminal, [&](const TopRow& row) {
    return doingOf(stateOf(row), nowOf(row.rank, now));
  }));
  if (terminal.isTerminal) {
    constexpr int kDoing = 24;
    TableColumn doing = std::move(columns.back());
    columns.pop_back();
    narrow(&columns, {"HOST", "JOB", "STEP/S", "MEMORY", "PHASE", "AGE", "PID"},
           terminal.columns - kTableGap - std::min(kDoing, widthOf(doing)));
    const int rest = std::max(8, terminal.columns - kTableGap - widthOf(columns));
    for (std::string& cell : doing.cells) {
      cell = fitted(cell, rest, terminal.hasUtf8);
    }
    columns.push_back(std::move(doing));
  }
  const std::string table = tableText(columns, 0);
  std::size_t at = 0;
  for (std::size_t line = 0; at < table.size(); ++line) {
    const std::size_t end = std::min(table.find('\n', at), table.size());
    const std::string row = table.substr(at, end - at);
    const char* const color =
        terminal.hasColor && line > 0 && line <= rows.size() ? colorOf(rows[line - 1].health) : "";
    text += *color == '\0' ? row + '\n' : color + row + "\033[0m\n";
    at = end + 1;
  }
  if (hidden > 0) {
    text += fmt::format("and {} more\n", hidden);
  }
  return text;
}

std::string topJson(const std::vector<TopRow>& rows, double now) {
  std::vector<std::string> ranks;
  for (const TopRow& row : rows) {
    const RankState& state = row.rank.state;
    ranks.push_back(JsonObject()
                        .add("rank", jsonInteger(std::int64_t{state.rank}))
                        .add("job", jsonString(state.jobId))
                        .add("host", jsonString(hostOf(row.rank)))
                        .add("pid", jsonInteger(state.process.pid))
                        .add("state", jsonString(healthName(row.health)))
                        .add("heartbeat", jsonNumber(state.heartbeat))
                        .add("step", state.hasStep ? jsonInteger(state.step) : "null")
                        .add("step_time", jsonNumber(state.stepTime))
                        .add("median_step_seconds", jsonNumber(medianStepTime(state)))
                        .add("phase", jsonString(runPhaseName(state.phase)))
                        .add("doing", jsonString(doingOf(state, nowOf(row.rank, now))))
                        .add("resident_bytes", jsonInteger(state.residentBytes))
                        .add("device_bytes", jsonInteger(state.deviceBytes))
                        .toString());
  }
  return JsonObject().add("time", jsonNumber(now)).add("ranks", jsonShortArray(ranks)).toString();
}

}  // namespace steptape::tools

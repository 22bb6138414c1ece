// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "tools/steptape/charts/chart.h"
#include "tools/steptape/charts/smoothing.h"
#include "tools/steptape/charts/svg_chart.h"
#include "tools/steptape/charts/terminal_chart.h"
#include "tools/steptape/charts/tick_labels.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/rounded_scalars.h"
#include "tools/steptape/runs/trained_time.h"
#include "tools/steptape/terminal/output_file.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct PlotOptions {
  std::vector<std::string> paths;
  NameFilter filter;
  AxisKind x = AxisKind::kSteps;
  bool isTrained = false;  // durations without the gaps between sessions
  double smooth = 0;
  bool isLogarithmic = false;
  bool isAscii = false;
  int width = 0;  // 0: the terminal's
  int height = 0;
  std::string svg;
};

/// A later wall time is no local time that a person reads: wrong, or not in seconds.
constexpr double kLastWallTime = 253'402'300'799;  // the end of the year 9999

/// A longer duration has no legible label.
constexpr double kLongestDuration = 1e16;

double wallTimeToDraw(double time) {
  return time >= 0 && time <= kLastWallTime ? time : NAN;
}

double durationToDraw(double begin, double time) {
  const double duration = time - begin;
  return std::abs(duration) <= kLongestDuration ? duration : NAN;
}

/// @return NaN for a time that cannot be drawn.
std::vector<double> xValuesOf(const ScalarColumns& scalars, AxisKind kind) {
  if (kind == AxisKind::kSteps) {
    return {scalars.steps.begin(), scalars.steps.end()};
  }
  std::vector<double> times(scalars.wallTimes.begin(), scalars.wallTimes.end());
  const auto first =
      std::find_if(times.begin(), times.end(), [](double time) { return std::isfinite(time); });
  const double begin = first == times.end() ? NAN : *first;
  std::transform(times.begin(), times.end(), times.begin(), [&](double time) {
    return kind == AxisKind::kDurations ? durationToDraw(begin, time) : wallTimeToDraw(time);
  });
  return times;
}

/// @return NaN for a time that cannot be drawn.
std::vector<double> trainedTimesOf(const RunReader& run, const ScalarColumns& scalars) {
  const std::vector<RunSession> sessions = run.sessions();
  std::vector<double> times;
  for (const double wallTime : scalars.wallTimes) {
    times.push_back(std::isfinite(wallTime) ? trainedTime(sessions, wallTime) : NAN);
  }
  return times;
}

/// Returns why a point is not drawn, because of its time.
const char* timeProblem(double wallTime, AxisKind kind) {
  if (!std::isfinite(wallTime)) {
    return "time not finite";
  }
  if (kind == AxisKind::kDurations) {
    return "time out of range";
  }
  return wallTime < 0 ? "time before 1970" : "time beyond the year 9999: milliseconds?";
}

/// Returns how many points are not drawn, by reason.
std::map<std::string, std::size_t> leftOut(const Chart& chart, const ScalarColumns& scalars,
                                           const std::vector<double>& x,
                                           const std::vector<double>& values) {
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (isDrawable(chart, x[i], values[i])) {
      continue;
    }
    const char* const valueProblem =
        chart.yKind == AxisKind::kLogarithmic ? "not positive or not finite" : "not finite";
    ++counts[std::isfinite(x[i]) ? valueProblem : timeProblem(scalars.wallTimes[i], chart.xKind)];
  }
  return counts;
}

Curve curveOf(const RunReader& run, const ScalarColumns& scalars, const Chart& chart,
              const PlotOptions& options) {
  const double smooth = options.smooth;
  const std::vector<double> values(scalars.values.begin(), scalars.values.end());
  Curve curve;
  curve.name = run.directory();
  curve.x = options.isTrained ? trainedTimesOf(run, scalars) : xValuesOf(scalars, chart.xKind);
  curve.y = smoothed(values, smooth);
  curve.summary = fmt::format("{:.6g}", values.back());
  if (smooth > 0) {
    curve.summary += fmt::format(", smoothed {:.6g},", curve.y.back());
    curve.raw = values;
  }
  curve.summary += fmt::format(" at step {}", scalars.steps.back());
  for (const auto& [reason, count] : leftOut(chart, scalars, curve.x, values)) {
    curve.summary += fmt::format("; {} of {} left out: {}", count, curve.y.size(), reason);
  }
  return curve;
}

Chart emptyChart(const std::string& tag, const PlotOptions& options) {
  Chart chart;
  chart.title = tag;
  chart.xKind = options.x;
  chart.yKind = options.isLogarithmic ? AxisKind::kLogarithmic : AxisKind::kNumbers;
  switch (options.x) {
    case AxisKind::kWallTimes:
      chart.xName = "time";
      break;
    case AxisKind::kDurations:
      chart.xName = options.isTrained ? "time of training" : "time since the run's first point";
      break;
    default:
      chart.xName = "step";
  }
  return chart;
}

/// Returns one chart for each tag.
std::vector<Chart> chartsOf(const std::vector<RunReader>& runs, const PlotOptions& options) {
  std::map<std::string, Chart> chartByTag;
  for (const RunReader& run : runs) {
    for (const auto& [tag, series] : run.tags()) {
      if (series.scalars.size() == 0 || !options.filter.tag.isFoundIn(tag)) {
        continue;
      }
      Chart& chart = chartByTag.try_emplace(tag, emptyChart(tag, options)).first->second;
      chart.curves.push_back(curveOf(run, series.scalars, chart, options));
    }
  }
  std::vector<Chart> charts;
  charts.reserve(chartByTag.size());
  for (auto& [tag, chart] : chartByTag) {
    charts.push_back(std::move(chart));
  }
  return charts;
}

/// Adds the day if all points of a time axis are on the same one.
void addDate(std::vector<Chart>* charts) {
  for (Chart& chart : *charts) {
    if (chart.xKind == AxisKind::kWallTimes) {
      const Range range = extentOf(chart).x;
      const std::string date = commonDate({range.min, range.max});
      chart.xName += date.empty() ? "" : " on " + date;
    }
  }
}

/// Returns the rows of each of `charts` charts on a terminal. The last row is for the prompt;
/// several charts share the other rows as long as they stay legible.
int rowsOfEach(std::size_t charts, const Terminal& terminal) {
  constexpr int kLegibleRows = 16;
  const int free = terminal.rows - 1;
  return std::max(free / static_cast<int>(charts), std::min(kLegibleRows, free));
}

void print(const std::vector<Chart>& charts, const PlotOptions& options) {
  Terminal terminal = terminalAt(STDOUT_FILENO);
  const int screenRows = terminal.rows;
  terminal.hasUtf8 = terminal.hasUtf8 && !options.isAscii;
  terminal.columns = options.width != 0 ? options.width : terminal.columns;
  terminal.rows = options.height != 0 ? options.height : rowsOfEach(charts.size(), terminal);
  for (const Chart& chart : charts) {
    fmt::print("{}", drawChart(chart, terminal));
  }
  // Drawings may be a little lower than requested; what counts here is to show many of them.
  const std::size_t mostOnScreen = static_cast<std::size_t>(screenRows / kLeastChartRows);
  if (terminal.isTerminal && charts.size() > mostOnScreen && options.filter.tag.text().empty()) {
    flushOutput();
    printMessage(fmt::format("note: got {} charts; --tag selects some of them", charts.size()));
  }
}

int plot(const PlotOptions& options) {
  std::vector<Damage> unreadable;
  const std::vector<RunFiles> found =
      selectRuns(runsOf(options.paths, &unreadable), options.filter.run);
  Progress progress("reading", totalBytes(found));
  std::vector<RunReader> runs;
  runs.reserve(found.size());
  for (const RunFiles& run : found) {
    runs.push_back(readRun(run, &progress));
  }
  progress.clear();
  int exitCode = reportProblems(unreadable);
  std::vector<std::string> notes;
  for (const RunReader& run : runs) {
    exitCode = std::max(exitCode, reportProblems(run.damage()));
    addRoundedNotes(run, options.filter.tag, &notes);
  }
  std::vector<Chart> charts = chartsOf(runs, options);
  if (charts.empty()) {
    const std::string& pattern = options.filter.tag.text();
    throw Error(ErrorCode::kIoError,
                pattern.empty()
                    ? "got no scalar tag; 'steptape inspect' lists all tags"
                    : fmt::format("--tag: got \"{}\"; expected a match in a scalar tag; "
                                  "'steptape inspect' lists all tags",
                                  pattern));
  }
  printNotes(notes);
  addDate(&charts);
  if (options.svg.empty()) {
    print(charts, options);
  } else {
    OutputFile file(options.svg);
    file.write(svgOf(charts));
    file.finish();
  }
  return exitCode;
}

const std::map<std::string, AxisKind>& xKindByName() {
  static const std::map<std::string, AxisKind> kKinds{{"step", AxisKind::kSteps},
                                                      {"trained", AxisKind::kDurations},
                                                      {"time", AxisKind::kWallTimes},
                                                      {"relative", AxisKind::kDurations}};
  return kKinds;
}

}  // namespace

void addPlotCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("plot", "Draw scalars as curves, in the terminal or as an SVG file");
  const auto options = std::make_shared<PlotOptions>();
  addPathsArgument(command, &options->paths);
  addFilterOptions(command, &options->filter);
  command
      ->add_option_function<std::string>(
          "--x",
          [options](const std::string& name) {
            options->x = xKindByName().at(name);
            options->isTrained = name == "trained";
          },
          "What the x axis shows: the step, the local time, the time since the first point "
          "of the run, or that without the gaps between its sessions")
      ->check(oneOf({"step", "time", "relative", "trained"}))
      ->transform(CLI::Validator(
          [](std::string& name) {
            name = CLI::ignore_case(name);
            return std::string();
          },
          ""))
      ->default_str("step");
  command
      ->add_option("--smooth", options->smooth,
                   "Draw TensorBoard's moving average, with a weight from 0 to 1; with color, the "
                   "values remain visible in the background")
      ->check(inRange(0, 1))
      ->type_name("WEIGHT");
  command->add_flag("--log", options->isLogarithmic, "Draw a logarithmic y axis");
  command
      ->add_option("--width", options->width,
                   "Width of the drawing; that of the terminal if not given")
      ->check(inRange(kLeastChartColumns, 1000))
      ->type_name("COLUMNS");
  command->add_option("--height", options->height, "Height of each chart")
      ->check(inRange(kLeastChartRows, 1000))
      ->type_name("ROWS");
  command->add_flag("--ascii", options->isAscii, "Draw with ASCII characters only");
  command->add_option("--svg", options->svg, "Write the charts to this file instead, as SVG")
      ->type_name("FILE");
  command->footer(
      "Draws one chart for each tag, with a curve for each run.\n"
      "\n"
      "Examples:\n"
      "  steptape plot runs --tag loss\n"
      "  steptape plot runs/a runs/b --tag '^loss/train$' --smooth 0.9 --log\n"
      "  steptape plot runs --tag accuracy --svg accuracy.svg");
  command->callback([options, exitCode] { *exitCode = plot(*options); });
}

}  // namespace steptape::tools

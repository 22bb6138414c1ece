// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <steptape/log/run_reader.h>

#include "process.h"

namespace {

constexpr std::size_t kShownOutput = 2000;
constexpr const char* kEpochTag = "epoch_seconds";  // Of Trainer.

void replaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::string endOfFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  return all.size() <= kShownOutput ? all : "..." + all.substr(all.size() - kShownOutput);
}

double median(std::vector<double> values) {
  if (values.empty()) {
    return Measurement::kUnknown;
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

using SeriesByTag = std::map<std::string, steptape::TagSeries>;

std::vector<double> valuesOf(const SeriesByTag& series, const std::string& tag) {
  const auto found = series.find(tag);
  if (found == series.end()) {
    return {};
  }
  const steptape::Column<double>& values = found->second.scalars.values;
  return {values.begin(), values.end()};
}

double sumOf(const std::vector<double>& values) {
  return values.empty() ? Measurement::kUnknown
                        : std::accumulate(values.begin(), values.end(), 0.0);
}

double medianOfMember(const std::vector<Measurement>& jobs, double Measurement::*member) {
  std::vector<double> values;
  values.reserve(jobs.size());
  for (const Measurement& job : jobs) {
    values.push_back(job.*member);
  }
  return median(std::move(values));
}

/// Reads the run itself. Sub-runs, such as those of single ranks, are left out.
SeriesByTag seriesOf(const std::string& logDir) {
  for (const steptape::RunFiles& files : steptape::listRuns(logDir)) {
    if (files.name == ".") {
      steptape::RunReader run(files);
      run.update();
      return run.tags();
    }
  }
  return {};
}

double rateOf(const SeriesByTag& series, const JobTemplate& job, const std::string& where) {
  // The median ignores the first points, in which memory is allocated and caches fill.
  const double rate = median(valuesOf(series, job.rateTag));
  if (!(rate > 0)) {
    throw std::runtime_error(where + ": got no scalar '" + job.rateTag +
                             "'; expected the work per second; see --rate-tag");
  }
  return rate;
}

double secondsOfEpochs(const SeriesByTag& series, const JobTemplate& job,
                       const std::string& where) {
  const std::vector<double> epochs = valuesOf(series, kEpochTag);
  if (epochs.size() != static_cast<std::size_t>(job.epochs)) {
    throw std::runtime_error(where + ": got " + std::to_string(epochs.size()) +
                             " points of the scalar '" + kEpochTag + "'; expected " +
                             std::to_string(job.epochs) +
                             "; Trainer logs one for each epoch with detailScalars");
  }
  return sumOf(epochs);
}

}  // namespace

std::vector<std::string> fillIn(std::vector<std::string> parts, const Placeholders& values) {
  for (std::string& part : parts) {
    replaceAll(part, "{ranks}", std::to_string(values.ranks));
    replaceAll(part, "{work}", std::to_string(values.work));
    replaceAll(part, "{epochs}", std::to_string(values.epochs));
    replaceAll(part, "{log_dir}", values.logDir);
  }
  return parts;
}

Measurement runJob(const JobTemplate& job, int ranks, std::int64_t work,
                   const std::string& logDir) {
  if (std::filesystem::exists(logDir)) {
    throw std::runtime_error("directory of the job " + logDir +
                             ": got an existing one; expected a new one; choose another --log-dir");
  }
  std::filesystem::create_directories(logDir);
  std::vector<std::string> command = job.launcher;
  command.insert(command.end(), job.program.begin(), job.program.end());
  const std::string output = logDir + "/output.txt";
  const ProcessEnd end = runProcess(fillIn(std::move(command), {ranks, work, job.epochs, logDir}),
                                    output, job.timeLimit);
  const std::string where = "job with {ranks} = " + std::to_string(ranks);
  if (end.timedOut || end.exitCode != 0) {
    const std::string got = end.timedOut ? "no exit within the time limit"
                                         : "exit code " + std::to_string(end.exitCode);
    throw std::runtime_error(where + ": got " + got + "; expected exit code 0; " + output +
                             " ends with:\n" + endOfFile(output));
  }

  const SeriesByTag series = seriesOf(logDir);
  Measurement measured;
  measured.ranks = ranks;
  measured.seconds = end.seconds;
  const std::string log = where + ", log directory " + logDir;
  measured.epochs = job.epochs;
  if (job.epochs > 0) {
    measured.secondsOfEpochs = secondsOfEpochs(series, job, log);
    measured.rate = static_cast<double>(job.epochs) / measured.secondsOfEpochs;
  } else {
    measured.rate = rateOf(series, job, log);
  }
  const double waitMs = sumOf(valuesOf(series, "straggler/wait/mean_ms"));
  const double workMs = sumOf(valuesOf(series, "straggler/work/mean_ms"));
  const double inputMs = sumOf(valuesOf(series, "straggler/input/mean_ms"));
  measured.waitShare = waitMs / (waitMs + workMs);
  measured.inputShare = inputMs / (waitMs + workMs);
  measured.computeShare = (workMs - inputMs) / (waitMs + workMs);
  return measured;
}

Measurement medianOf(const std::vector<Measurement>& jobs) {
  Measurement result;
  result.ranks = jobs.front().ranks;
  result.epochs = jobs.front().epochs;
  for (double Measurement::*member :
       {&Measurement::rate, &Measurement::seconds, &Measurement::secondsOfEpochs,
        &Measurement::waitShare, &Measurement::inputShare}) {
    result.*member = medianOfMember(jobs, member);
  }
  // With a median for each share, the sum would not be 1.
  result.computeShare = 1 - result.waitShare - result.inputShare;
  return result;
}

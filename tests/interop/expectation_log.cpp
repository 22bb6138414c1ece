// SPDX-License-Identifier: Apache-2.0
#include "expectation_log.h"

#include "steptape/base/json.h"

namespace {

void appendKey(std::string* line, std::string_view key) {
  *line += line->empty() ? "{" : ", ";
  steptape::appendJsonString(line, key);
  *line += ": ";
}

void append(std::string* line, std::string_view key, std::string_view value) {
  appendKey(line, key);
  steptape::appendJsonString(line, value);
}

void append(std::string* line, std::string_view key, std::int64_t value) {
  appendKey(line, key);
  *line += std::to_string(value);
}

void append(std::string* line, std::string_view key, double value) {
  appendKey(line, key);
  steptape::appendJsonNumber(line, value);
}

template <typename T>
void appendNumbers(std::string* line, std::string_view key, const std::vector<T>& values) {
  appendKey(line, key);
  *line += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    *line += i == 0 ? "" : ", ";
    steptape::appendJsonNumber(line, static_cast<double>(values[i]));
  }
  *line += ']';
}

std::string begin(std::string_view kind, std::string_view run, std::string_view tag) {
  std::string line;
  append(&line, "kind", kind);
  append(&line, "run", run);
  append(&line, "tag", tag);
  return line;
}

}  // namespace

ExpectationLog::ExpectationLog(const std::string& path) {
  file_.exceptions(std::ios::failbit | std::ios::badbit);
  file_.open(path);
}

void ExpectationLog::run(std::string_view run) {
  write(begin("run", run, ""));
}

void ExpectationLog::scalar(std::string_view run, std::string_view tag, std::int64_t step,
                            double value, std::optional<double> wallTime) {
  std::string line = begin("scalar", run, tag);
  append(&line, "step", step);
  append(&line, "value", static_cast<double>(static_cast<float>(value)));
  if (wallTime) {
    append(&line, "wall_time", *wallTime);
  }
  write(line);
}

void ExpectationLog::names(std::string_view run, std::string_view tag, std::string_view displayName,
                           std::string_view description) {
  std::string line = begin("names", run, tag);
  append(&line, "display_name", displayName);
  append(&line, "description", description);
  write(line);
}

void ExpectationLog::histogram(std::string_view run, std::string_view tag, std::int64_t step,
                               const std::vector<double>& values) {
  std::string line = begin("histogram", run, tag);
  append(&line, "step", step);
  appendNumbers(&line, "values", values);
  write(line);
}

void ExpectationLog::image(std::string_view run, std::string_view tag, std::int64_t step,
                           const steptape::detail::values::Pixels& pixels) {
  std::string line = begin("image", run, tag);
  append(&line, "step", step);
  append(&line, "width", std::int64_t{pixels.width});
  append(&line, "height", std::int64_t{pixels.height});
  append(&line, "channels", std::int64_t{pixels.channels});
  appendNumbers(&line, "pixels", pixels.data);
  write(line);
}

void ExpectationLog::sound(std::string_view run, std::string_view tag, std::int64_t step,
                           const std::vector<std::int16_t>& samples, int channels,
                           std::int64_t rate) {
  std::string line = begin("sound", run, tag);
  append(&line, "step", step);
  append(&line, "channels", std::int64_t{channels});
  append(&line, "rate", rate);
  appendNumbers(&line, "samples", samples);
  write(line);
}

void ExpectationLog::text(std::string_view run, std::string_view tag, std::int64_t step,
                          std::string_view markdown) {
  std::string line = begin("text", run, tag);
  append(&line, "step", step);
  append(&line, "markdown", markdown);
  write(line);
}

void ExpectationLog::purged(std::string_view run, std::string_view tag, std::int64_t fromStep) {
  std::string line = begin("purged", run, tag);
  append(&line, "from_step", fromStep);
  write(line);
}

void ExpectationLog::write(const std::string& line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  file_ << line << "}\n";
}

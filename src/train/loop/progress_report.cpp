// SPDX-License-Identifier: Apache-2.0
#include "train/loop/progress_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <unistd.h>

#include "steptape/base/clock.h"

namespace steptape::detail::train {
namespace {

constexpr std::int64_t kDrawIntervalNanos = 100'000'000;
constexpr std::int64_t kBarColumns = 24;
constexpr const char* kClearLine = "\r\033[K";

template <typename... Args>
std::string format(const char* pattern, Args... args) {
  std::array<char, 256> buffer{};
  std::snprintf(buffer.data(), buffer.size(), pattern, args...);
  return buffer.data();
}

ProgressStyle resolve(ProgressStyle style, bool isRoot) {
  if (!isRoot) {
    return ProgressStyle::kNone;
  }
  if (style != ProgressStyle::kAuto) {
    return style;
  }
  return isatty(STDERR_FILENO) != 0 ? ProgressStyle::kBar : ProgressStyle::kLines;
}

}  // namespace

std::string rateText(const Throughput& speed) {
  return speed.tokensPerSecond > 0 ? format("%.0f tokens/s", speed.tokensPerSecond)
                                   : format("%.0f samples/s", speed.samplesPerSecond);
}

std::string barText(const EpochStatus& status) {
  if (status.steps == 0) {
    return format("epoch %lld/%lld  step %lld  loss %.4f  %s", static_cast<long long>(status.epoch),
                  static_cast<long long>(status.epochs), static_cast<long long>(status.step),
                  status.loss, rateText(status.speed).c_str());
  }
  const std::int64_t steps = status.steps;
  const std::int64_t filled = kBarColumns * status.step / steps;
  std::string bar(static_cast<std::size_t>(filled), '=');
  bar += filled < kBarColumns ? ">" : "";
  bar.resize(static_cast<std::size_t>(kBarColumns), ' ');
  const auto left = static_cast<long long>(std::llround(status.secondsLeft));
  return format("epoch %lld/%lld [%s] %3lld%%  loss %.4f  %s  %lld:%02lld left",
                static_cast<long long>(status.epoch), static_cast<long long>(status.epochs),
                bar.c_str(), static_cast<long long>(100 * status.step / steps), status.loss,
                rateText(status.speed).c_str(), left / 60, left % 60);
}

std::string epochLine(const EpochStatus& status, const std::vector<MetricValue>& metrics) {
  std::string line =
      format("epoch %lld/%lld: train loss %.4f", static_cast<long long>(status.epoch),
             static_cast<long long>(status.epochs), status.loss);
  for (const MetricValue& metric : metrics) {
    line += ", test " + metric.name + format(" %.4f", metric.value);
  }
  line += format(", %.2f s, ", status.seconds) + rateText(status.speed);
  if (status.speed.teraflopsPerSecond > 0) {
    line += format(", %.3g TFLOP/s", status.speed.teraflopsPerSecond);
  }
  return line;
}

ProgressReport::ProgressReport(ProgressStyle style, bool isRoot) : style_(resolve(style, isRoot)) {}

bool ProgressReport::wantsStep() {
  return style_ == ProgressStyle::kBar && Clock::system().steadyNanos() >= nextDrawNanos_;
}

void ProgressReport::step(const EpochStatus& status) {
  nextDrawNanos_ = Clock::system().steadyNanos() + kDrawIntervalNanos;
  barIsDrawn_ = true;
  std::cerr << kClearLine + barText(status) << std::flush;
}

void ProgressReport::epoch(const EpochStatus& status, const std::vector<MetricValue>& metrics) {
  message(epochLine(status, metrics));
}

void ProgressReport::message(const std::string& text) {
  if (style_ == ProgressStyle::kNone) {
    return;
  }
  clearBar();
  std::cout << text + "\n" << std::flush;
}

void ProgressReport::clearBar() {
  if (barIsDrawn_) {
    std::cerr << kClearLine << std::flush;
    barIsDrawn_ = false;
  }
}

}  // namespace steptape::detail::train

// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/terminal/progress.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

constexpr std::int64_t kDelayNanos = 500'000'000;
constexpr std::int64_t kDrawIntervalNanos = 100'000'000;
constexpr std::size_t kMostBarColumns = 26;
constexpr std::size_t kLeastBarColumns = 10;
constexpr char kClearLine[] = "\r\033[K";

/// Returns "[=====>    ]", `columns` wide. REQUIRES: 0 <= fraction <= 1, columns > 2
std::string bar(double fraction, std::size_t columns) {
  const std::size_t room = columns - 2;
  const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(room));
  std::string inside(filled, '=');
  inside += filled < room ? ">" : "";
  inside.resize(room, ' ');
  return '[' + inside + ']';
}

std::FILE* errorTerminal() {
  return isatty(STDERR_FILENO) != 0 ? stderr : nullptr;
}

}  // namespace

std::string progressLine(const std::string& label, std::uint64_t doneBytes,
                         std::uint64_t totalBytes, double seconds, std::size_t columns) {
  const auto done = static_cast<double>(doneBytes);
  const auto total = static_cast<double>(totalBytes);
  // Files may grow while they are read.
  const double fraction = total > 0 ? std::min(done / total, 1.0) : 0;
  std::string rate;
  std::string left;
  if (done > 0 && seconds > 0) {
    const double bytesPerSecond = done / seconds;
    rate = fmt::format("  {}/s", humanBytes(static_cast<std::uint64_t>(bytesPerSecond)));
    left = fmt::format("  {} left", humanDuration(std::max(total - done, 0.0) / bytesPerSecond));
  }
  const std::string percent = fmt::format(" {:3} %", static_cast<int>(fraction * 100));
  for (const std::string& end : {percent + rate + left, percent + left, percent}) {
    const std::size_t others = label.size() + 1 + end.size();
    if (others + kLeastBarColumns <= columns) {
      return label + ' ' + bar(fraction, std::min(kMostBarColumns, columns - others)) + end;
    }
  }
  return (label + percent).substr(0, columns);
}

Progress::Progress(std::string label, std::uint64_t totalBytes)
    : Progress(std::move(label), totalBytes, errorTerminal(), Clock::system()) {}

Progress::Progress(std::string label, std::uint64_t totalBytes, std::FILE* terminal,
                   const Clock& clock)
    : label_(std::move(label)),
      totalBytes_(totalBytes),
      terminal_(terminal),
      clock_(&clock),
      beginNanos_(clock.steadyNanos()),
      nextDrawNanos_(beginNanos_ + kDelayNanos) {}

void Progress::set(std::uint64_t doneBytes) {
  doneBytes_ = doneBytes;
  const std::int64_t now = clock_->steadyNanos();
  if (terminal_ == nullptr || now < nextDrawNanos_) {
    return;
  }
  nextDrawNanos_ = now + kDrawIntervalNanos;
  isDrawn_ = true;
  const double seconds = static_cast<double>(now - beginNanos_) * 1e-9;
  // Read each time, because windows change their size. The last column would wrap on some.
  const int columns = terminalAt(fileno(terminal_)).columns - 1;
  fmt::print(terminal_, "{}{}", kClearLine,
             progressLine(label_, doneBytes_, totalBytes_, seconds,
                          static_cast<std::size_t>(std::max(columns, 0))));
  std::fflush(terminal_);
}

std::function<void(std::uint64_t bytes)> Progress::part() {
  return [this, before = doneBytes_](std::uint64_t bytes) { set(before + bytes); };
}

void Progress::clear() {
  if (std::exchange(isDrawn_, false)) {
    fmt::print(terminal_, "{}", kClearLine);
    std::fflush(terminal_);
  }
}

}  // namespace steptape::tools

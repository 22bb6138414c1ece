// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "steptape/base/clock.h"
#include "steptape/metrics/machine_metrics.h"

#include "base/number_text.h"
#include "base/process_stat.h"
#include "process/blackbox/process_facts.h"
#include "process/machine/system_file.h"

namespace steptape {
namespace {

constexpr double kMebibyte = 1 << 20;

/// What the ranks combine.
enum Place : std::size_t { kSeconds, kProcessorSeconds, kCores, kPeak, kLimit, kPlaces };

double secondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double processorSeconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (::getrusage(who, &usage) != 0) {
      return JobUsage::kUnknown;
    }
    seconds += secondsOf(usage.ru_utime) + secondsOf(usage.ru_stime);
  }
  return seconds;
}

double secondsSinceStart() {
  const auto self = detail::base::readProcessStat("self");
  const std::string text = detail::process::systemFile("/proc/uptime");
  char* end = nullptr;
  const double uptime = std::strtod(text.c_str(), &end);
  if (!self || end == text.c_str()) {
    return JobUsage::kUnknown;
  }
  const double start =
      static_cast<double>(self->start) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return std::max(0.0, uptime - start);
}

/// Not ru_maxrss, which a process has from the one that started it.
double peakBytes() {
  const auto kibibytes =
      detail::base::numberAfter(detail::process::systemFile("/proc/self/status"), "VmHWM:");
  return kibibytes ? 1024 * static_cast<double>(*kibibytes) : JobUsage::kUnknown;
}

/// Returns a variable of the scheduler as a positive number.
std::optional<double> positiveVariable(const char* name) {
  const char* const text = std::getenv(name);
  const double number = text == nullptr ? 0 : std::atof(text);
  return number > 0 ? std::optional<double>(number) : std::nullopt;
}

/// Returns this rank's part of the cores that the job has on its node.
double coresOfRank(double ranksOnNode) {
  const double ofNode = positiveVariable("SLURM_CPUS_ON_NODE")
                            .value_or(static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)));
  const double part = ofNode / ranksOnNode;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // Fails where the node has more cores than the mask has bits.
  return ::sched_getaffinity(0, sizeof(mask), &mask) == 0
             ? std::min(part, static_cast<double>(CPU_COUNT(&mask)))
             : part;
}

/// Returns this rank's part of the memory that the job may use on its node.
double memoryOfRank(double ranksOnNode) {
  if (const std::int64_t limit = detail::process::measureMemory().cgroupLimit; limit > 0) {
    return static_cast<double>(limit) / ranksOnNode;
  }
  // Slurm states mebibytes; 0 is the whole node.
  if (const auto ofNode = positiveVariable("SLURM_MEM_PER_NODE")) {
    return *ofNode * kMebibyte / ranksOnNode;
  }
  const auto ofCore = positiveVariable("SLURM_MEM_PER_CPU");
  const auto cores = positiveVariable("SLURM_CPUS_ON_NODE");
  return ofCore && cores ? *ofCore * *cores * kMebibyte / ranksOnNode : JobUsage::kUnknown;
}

template <typename... Numbers>
std::string format(const char* pattern, Numbers... numbers) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), pattern, numbers...);
  return buffer.data();
}

std::string timeText(double seconds) {
  if (seconds < 60) {
    return format("%.1f s", seconds);
  }
  const long long whole = std::llround(seconds);
  return format("%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bytesText(double bytes) {
  const double mebibytes = bytes / kMebibyte;
  return mebibytes < 1024 ? format("%.0f MiB", mebibytes) : format("%.1f GiB", mebibytes / 1024);
}

std::string shareText(double share) {
  return format("%.0f %%", 100 * share);
}

}  // namespace

std::string JobUsage::text() const {
  std::string text;
  if (std::isfinite(processorSeconds)) {
    text = timeText(processorSeconds) + " of processor time";
    if (cores * seconds > 0) {
      text += ", " + shareText(processorSeconds / (cores * seconds)) + " of " +
              format("%.4g", cores) + (cores == 1 ? " core" : " cores") + " for " +
              timeText(seconds);
    }
  }
  if (std::isfinite(peakBytes)) {
    const bool isOne = largestPeakBytes == peakBytes;
    text += (text.empty() ? "" : "; ") + bytesText(largestPeakBytes) + " of memory";
    if (!isOne) {
      text +=
          " in rank " + std::to_string(largestPeakRank) + ", " + bytesText(peakBytes) + " in all";
    }
    if (memoryLimitBytes > 0) {
      text += ", " + shareText(peakBytes / memoryLimitBytes) + " of " + bytesText(memoryLimitBytes);
    }
  }
  return text;
}

JobUsage measureJobUsage(Communicator& ranks) {
  const double ranksOnNode = std::max(1, ranks.localSize());
  const std::array<double, kPlaces> own = {secondsSinceStart(), processorSeconds(),
                                           coresOfRank(ranksOnNode), peakBytes(),
                                           memoryOfRank(ranksOnNode)};
  std::array<MetricMoments, kPlaces> all;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const bool isKnown = std::isfinite(own[i]);
    all[i] = MetricMoments::of(isKnown ? own[i] : 0, isKnown ? 1 : 0, ranks.rank());
  }
  CollectiveOptions options;
  options.name = "usage of the job";
  ranks.allreduce(ArrayView<MetricMoments>(all), options);
  // A sum is known if all ranks know their part.
  const auto sumOf = [&](Place place) {
    return all[place].weight == ranks.size() ? all[place].weightedSum : JobUsage::kUnknown;
  };
  JobUsage usage;
  usage.seconds = all[kSeconds].weight > 0 ? all[kSeconds].max : JobUsage::kUnknown;
  usage.processorSeconds = sumOf(kProcessorSeconds);
  usage.cores = sumOf(kCores);
  usage.peakBytes = sumOf(kPeak);
  if (std::isfinite(usage.peakBytes)) {
    usage.largestPeakBytes = all[kPeak].max;
    usage.largestPeakRank = static_cast<int>(all[kPeak].maxRank);
  }
  usage.memoryLimitBytes = sumOf(kLimit);
  return usage;
}

}  // namespace steptape

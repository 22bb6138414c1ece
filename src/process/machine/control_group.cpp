// SPDX-License-Identifier: Apache-2.0
#include "process/machine/control_group.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/control_group_directories.h"
#include "base/number_text.h"
#include "process/machine/system_file.h"

namespace steptape::detail::process {
namespace {

std::optional<std::uint64_t> numberIn(const std::string& path) {
  const std::string text = systemFile(path);
  std::string_view rest = text;
  return base::takeNumber(&rest);  // none in "max"
}

/// Version 1 states the largest number of pages where there is no limit.
bool isLimit(std::uint64_t bytes) {
  return bytes < std::uint64_t{1} << 60;
}

bool hasQuota(const std::string& directory, bool isVersion2) {
  // "-1" and "max" are no numbers.
  return numberIn(directory + (isVersion2 ? "/cpu.max" : "/cpu.cfs_quota_us")).has_value();
}

double numberOrUnknown(const std::string& path) {
  const std::optional<std::uint64_t> number = path.empty() ? std::nullopt : numberIn(path);
  return number ? static_cast<double>(*number) : MachineSample::kUnknown;
}

}  // namespace

ControlGroup::ControlGroup(const std::string& procDirectory, const std::string& sysDirectory) {
  const auto memory = base::ControlGroupDirectories::find("memory", procDirectory, sysDirectory);
  std::optional<std::uint64_t> strictest;
  for (const std::string& directory : memory.directories) {
    const std::string file =
        directory + (memory.isVersion2 ? "/memory.max" : "/memory.limit_in_bytes");
    const std::optional<std::uint64_t> limit = numberIn(file);
    if (limit && isLimit(*limit) && (!strictest || *limit < *strictest)) {
      strictest = limit;
      memoryLimit_ = file;
      memoryUsage_ = directory + (memory.isVersion2 ? "/memory.current" : "/memory.usage_in_bytes");
    }
  }
  const auto processor = base::ControlGroupDirectories::find("cpu", procDirectory, sysDirectory);
  for (const std::string& directory : processor.directories) {
    if (hasQuota(directory, processor.isVersion2)) {
      processorStatistics_ = directory + "/cpu.stat";
      break;
    }
  }
}

void ControlGroup::read(MachineSample* sample) {
  sample->groupMemoryBytes = numberOrUnknown(memoryUsage_);
  sample->groupMemoryLimitBytes = numberOrUnknown(memoryLimit_);
  if (!processorStatistics_.empty()) {
    const std::string statistics = systemFile(processorStatistics_);
    const double periods = periods_.difference(base::numberAfter(statistics, "nr_periods "));
    const double throttled =
        throttledPeriods_.difference(base::numberAfter(statistics, "nr_throttled "));
    // A group that did nothing has no periods.
    sample->groupThrottledPercent =
        periods > 0 ? 100 * throttled / periods : MachineSample::kUnknown;
  }
}

}  // namespace steptape::detail::process

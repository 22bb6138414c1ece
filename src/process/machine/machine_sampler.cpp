// SPDX-License-Identifier: Apache-2.0
#include "steptape/process/machine_sampler.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/number_text.h"
#include "process/machine/control_group.h"
#include "process/machine/counter_rate.h"
#include "process/machine/network_counters.h"
#include "process/machine/nvml.h"
#include "process/machine/system_file.h"

namespace steptape {
namespace {

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

/// Returns the load over one minute, from a text such as "0.20 0.18 0.12 1/80 11206".
double loadIn(const std::string& text) {
  char* end = nullptr;
  const double load = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? MachineSample::kUnknown : load;
}

/// Returns the microseconds in which at least one thread waited, from a text such as
/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull ...".
std::optional<std::uint64_t> pressureIn(std::string_view text) {
  constexpr std::string_view kTotal = "total=";
  const std::size_t total = text.find(kTotal);
  if (text.substr(0, 5) != "some " || total == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(total + kTotal.size());
  return detail::base::takeNumber(&text);
}

}  // namespace

class MachineSampler::Impl {
 public:
  explicit Impl(MachineSamplerOptions options)
      : options_(std::move(options)),
        clock_(options_.clock ? *options_.clock : Clock::system()),
        network_(options_.procDirectory, options_.sysDirectory) {}

  MachineSample sample() {
    const std::int64_t now = clock_.steadyNanos();
    seconds_ = static_cast<double>(now - std::exchange(sampledAt_, now)) * 1e-9;
    MachineSample sample;
    readProcess(&sample);
    readNode(&sample);
    if (!group_) {
      group_.emplace(options_.procDirectory, options_.sysDirectory);
    }
    group_->read(&sample);
    if (!gpus_) {
      gpus_.emplace(options_.nvmlLibrary, options_.gpus,
                    [this](const std::string& what) { report(what); });
    }
    sample.gpus = gpus_->read();
    return sample;
  }

 private:
  std::string proc(const char* name) const { return options_.procDirectory + name; }

  void readProcess(MachineSample* sample) {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) == 0) {
      const std::uint64_t used = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
      sample->cpuPercent = 1e-4 * cpu_.perSecond(used, seconds_);
      sample->majorFaultsPerSecond =
          majorFaults_.perSecond(static_cast<std::uint64_t>(usage.ru_majflt), seconds_);
    }
    std::string memory;
    const int error = detail::process::readSystemFile(proc("/self/statm"), &memory);
    if (error != 0) {
      report("cannot read " + proc("/self/statm") + ": " + std::generic_category().message(error) +
             "; memory and rates are not known");
    }
    std::string_view pages = memory;
    detail::base::takeNumber(&pages);  // virtual memory
    if (const std::optional<std::uint64_t> resident = detail::base::takeNumber(&pages)) {
      sample->residentBytes =
          static_cast<double>(*resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    }
    const std::string io = detail::process::systemFile(proc("/self/io"));
    sample->readBytesPerSecond =
        readBytes_.perSecond(detail::base::numberAfter(io, "read_bytes:"), seconds_);
    sample->writeBytesPerSecond =
        writeBytes_.perSecond(detail::base::numberAfter(io, "write_bytes:"), seconds_);
  }

  void readNode(MachineSample* sample) {
    sample->load = loadIn(detail::process::systemFile(proc("/loadavg")));
    const std::string memory = detail::process::systemFile(proc("/meminfo"));
    if (const auto kibibytes = detail::base::numberAfter(memory, "MemAvailable:")) {
      sample->availableBytes = 1024 * static_cast<double>(*kibibytes);
    }
    const detail::process::NetworkCounters::Bytes bytes = network_.read();
    sample->receivedBytesPerSecond = received_.perSecond(bytes.received, seconds_);
    sample->sentBytesPerSecond = sent_.perSecond(bytes.sent, seconds_);
    sample->cpuPressurePercent = pressure("/pressure/cpu", &cpuPressure_);
    sample->memoryPressurePercent = pressure("/pressure/memory", &memoryPressure_);
    sample->ioPressurePercent = pressure("/pressure/io", &ioPressure_);
  }

  double pressure(const char* name, detail::process::CounterRate* waited) const {
    return 1e-4 * waited->perSecond(pressureIn(detail::process::systemFile(proc(name))), seconds_);
  }

  void report(const std::string& what) {
    if (!reported_.insert(what).second) {
      return;
    }
    const Status status(ErrorCode::kIoError, "MachineSampler: " + what);
    if (options_.onError) {
      options_.onError(status);
    } else {
      std::fprintf(stderr, "steptape: %s\n", status.message().c_str());
    }
  }

  const MachineSamplerOptions options_;
  const Clock& clock_;
  std::int64_t sampledAt_ = 0;
  double seconds_ = 0;  // since the sample before
  std::set<std::string> reported_;

  detail::process::CounterRate cpu_, majorFaults_, readBytes_, writeBytes_;
  detail::process::CounterRate received_, sent_, cpuPressure_, memoryPressure_, ioPressure_;
  detail::process::NetworkCounters network_;
  std::optional<detail::process::ControlGroup> group_;
  std::optional<detail::process::NvmlGpus> gpus_;
};

MachineSampler::MachineSampler(MachineSamplerOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

MachineSampler::~MachineSampler() = default;

MachineSample MachineSampler::sample() {
  return impl_->sample();
}

}  // namespace steptape

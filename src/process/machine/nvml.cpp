// SPDX-License-Identifier: Apache-2.0
#include "process/machine/nvml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <system_error>

#include "base/got_expected.h"
#include "base/text.h"

namespace steptape::detail::process {
namespace {

constexpr int kNvmlSuccess = 0;
constexpr int kNvmlNotSupported = 3;
constexpr int kNvmlDriverNotLoaded = 9;
constexpr int kNvmlTemperatureOfGpu = 0;

bool isUuid(std::string_view text) {
  return base::startsWith(text, "GPU-") || base::startsWith(text, "MIG-");
}

}  // namespace

std::vector<VisibleGpu> parseVisibleGpus(const std::string& text) {
  std::vector<VisibleGpu> gpus;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    entry.remove_prefix(std::min(entry.find_first_not_of(' '), entry.size()));
    entry = entry.substr(0, entry.find_last_not_of(' ') + 1);
    VisibleGpu gpu;
    if (isUuid(entry)) {
      gpu.uuid = entry;
    } else {
      const char* const last = entry.data() + entry.size();
      const auto [parsed, error] = std::from_chars(entry.data(), last, gpu.index);
      if (error != std::errc() || parsed != last || gpu.index < 0) {
        break;
      }
    }
    gpus.push_back(gpu);
  }
  return gpus;
}

/// NVML's functions and types, which are the same in all its versions.
struct NvmlGpus::Functions {
  using Device = void*;
  struct Memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
  };
  struct Utilization {
    unsigned gpu;
    unsigned memory;
  };

  int (*init)();
  int (*shutdown)();
  const char* (*errorString)(int);
  int (*count)(unsigned*);
  int (*byIndex)(unsigned, Device*);
  int (*byUuid)(const char*, Device*);
  int (*uuid)(Device, char*, unsigned);
  int (*memory)(Device, Memory*);
  int (*utilization)(Device, Utilization*);
  int (*temperature)(Device, int, unsigned*);
  int (*power)(Device, unsigned*);

  /// @return whether the library has every function.
  bool loadFrom(void* library) {
    return get(library, "nvmlInit_v2", &init) && get(library, "nvmlShutdown", &shutdown) &&
           get(library, "nvmlErrorString", &errorString) &&
           get(library, "nvmlDeviceGetCount_v2", &count) &&
           get(library, "nvmlDeviceGetHandleByIndex_v2", &byIndex) &&
           get(library, "nvmlDeviceGetHandleByUUID", &byUuid) &&
           get(library, "nvmlDeviceGetUUID", &uuid) &&
           get(library, "nvmlDeviceGetMemoryInfo", &memory) &&
           get(library, "nvmlDeviceGetUtilizationRates", &utilization) &&
           get(library, "nvmlDeviceGetTemperature", &temperature) &&
           get(library, "nvmlDeviceGetPowerUsage", &power);
  }

 private:
  template <typename Function>
  static bool get(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }
};

struct NvmlGpus::Gpu {
  Functions::Device device;
  std::string name;  ///< For messages.
};

NvmlGpus::NvmlGpus(const std::string& library, const std::optional<std::vector<int>>& gpus,
                   OnProblem onProblem)
    : onProblem_(std::move(onProblem)) {
  if (load(library)) {
    findGpus(gpus);
  }
}

NvmlGpus::~NvmlGpus() {
  if (functions_) {
    functions_->shutdown();  // The library stays: other code may use it.
  }
}

bool NvmlGpus::load(const std::string& library) {
  void* const handle = library.empty() ? nullptr : dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return false;  // a node without NVIDIA's driver
  }
  auto functions = std::make_unique<Functions>();
  if (!functions->loadFrom(handle)) {
    onProblem_("no GPU metrics: " + base::gotExpected("a " + library + " without all functions",
                                                      "that of an NVIDIA driver of 2014 or later"));
    return false;
  }
  const int result = functions->init();
  if (result != kNvmlSuccess) {
    if (result != kNvmlDriverNotLoaded) {
      onProblem_(std::string("no GPU metrics: nvmlInit_v2: ") + functions->errorString(result));
    }
    return false;
  }
  functions_ = std::move(functions);
  return true;
}

void NvmlGpus::findGpus(const std::optional<std::vector<int>>& gpus) {
  const std::vector<Gpu> visible = visibleGpus();
  if (!gpus) {
    gpus_ = visible;
    return;
  }
  for (const int gpu : *gpus) {
    if (gpu >= 0 && static_cast<std::size_t>(gpu) < visible.size()) {
      gpus_.push_back(visible[static_cast<std::size_t>(gpu)]);
    } else {
      onProblem_(
          "no metrics of a GPU: " +
          base::gotExpected("GPU " + std::to_string(gpu),
                            "one of the " + std::to_string(visible.size()) + " visible GPUs"));
    }
  }
}

std::vector<NvmlGpus::Gpu> NvmlGpus::visibleGpus() const {
  unsigned count = 0;
  if (!succeeds(functions_->count(&count), "nvmlDeviceGetCount_v2", "GPUs")) {
    return {};
  }
  std::vector<VisibleGpu> wanted;
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    wanted = parseVisibleGpus(visible);
  } else {
    for (unsigned index = 0; index < count; ++index) {
      wanted.push_back({static_cast<int>(index), ""});
    }
  }
  std::vector<Gpu> gpus;
  for (const VisibleGpu& entry : wanted) {
    std::optional<Gpu> gpu = find(entry, count);
    if (!gpu) {
      break;  // as CUDA does
    }
    gpus.push_back(*std::move(gpu));
  }
  return gpus;
}

std::optional<NvmlGpus::Gpu> NvmlGpus::find(const VisibleGpu& wanted, unsigned count) const {
  Gpu gpu{nullptr, "GPU " + (wanted.uuid.empty() ? std::to_string(wanted.index) : wanted.uuid)};
  if (wanted.uuid.empty()) {
    const auto index = static_cast<unsigned>(wanted.index);
    const bool found = index < count && succeeds(functions_->byIndex(index, &gpu.device),
                                                 "nvmlDeviceGetHandleByIndex_v2", gpu.name);
    return found ? std::optional(gpu) : std::nullopt;
  }
  if (functions_->byUuid(wanted.uuid.c_str(), &gpu.device) == kNvmlSuccess) {
    return gpu;
  }
  // CUDA takes the start of a UUID if it suffices.
  for (unsigned index = 0; index < count; ++index) {
    std::array<char, 96> uuid{};
    if (functions_->byIndex(index, &gpu.device) == kNvmlSuccess &&
        functions_->uuid(gpu.device, uuid.data(), static_cast<unsigned>(uuid.size())) ==
            kNvmlSuccess &&
        base::startsWith(uuid.data(), wanted.uuid)) {
      return gpu;
    }
  }
  return std::nullopt;
}

std::vector<GpuSample> NvmlGpus::read() {
  std::vector<GpuSample> samples;
  for (const Gpu& gpu : gpus_) {
    GpuSample sample;
    if (Functions::Memory memory{};
        succeeds(functions_->memory(gpu.device, &memory), "nvmlDeviceGetMemoryInfo", gpu.name)) {
      sample.memoryBytes = static_cast<double>(memory.used);
      sample.memoryTotalBytes = static_cast<double>(memory.total);
    }
    if (Functions::Utilization utilization{};
        succeeds(functions_->utilization(gpu.device, &utilization), "nvmlDeviceGetUtilizationRates",
                 gpu.name)) {
      sample.utilizationPercent = utilization.gpu;
    }
    if (unsigned celsius = 0;
        succeeds(functions_->temperature(gpu.device, kNvmlTemperatureOfGpu, &celsius),
                 "nvmlDeviceGetTemperature", gpu.name)) {
      sample.temperatureCelsius = celsius;
    }
    if (unsigned milliwatts = 0;
        succeeds(functions_->power(gpu.device, &milliwatts), "nvmlDeviceGetPowerUsage", gpu.name)) {
      sample.powerWatts = milliwatts * 1e-3;
    }
    samples.push_back(sample);
  }
  return samples;
}

bool NvmlGpus::succeeds(int result, const char* call, const std::string& subject) const {
  // Parts of a GPU (MIG) and laptops' GPUs lack some values.
  if (result != kNvmlSuccess && result != kNvmlNotSupported) {
    onProblem_("no metrics of " + subject + ": " + call + ": " + functions_->errorString(result));
  }
  return result == kNvmlSuccess;
}

}  // namespace steptape::detail::process

// SPDX-License-Identifier: Apache-2.0
#include "process/machine/text_metrics.h"

#include <cctype>
#include <cmath>
#include <string_view>

#include "base/shortest_double.h"
#include "base/utf8.h"
#include "process/machine/quantities.h"

namespace steptape::detail::process {
namespace {

std::string escapedLabel(const std::string& value) {
  std::string escaped;
  for (const char c : base::replaceInvalidUtf8(value)) {
    if (c == '\\' || c == '"') {
      escaped += '\\';
    }
    escaped += c == '\n' ? "\\n" : std::string(1, c);
  }
  return escaped;
}

/// Builds the text, one family of samples after the other.
class FamilyWriter {
 public:
  explicit FamilyWriter(const TextMetricsLabels& labels)
      : labels_("run=\"" + escapedLabel(labels.run) + "\",host=\"" + escapedLabel(labels.host) +
                "\",rank=\"" + std::to_string(labels.rank) + '"') {}

  /// Starts a family; it is written with its first sample.
  void family(const std::string& name, const char* help) {
    name_ = name;
    heading_ = "# HELP " + name + ' ' + help + "\n# TYPE " + name + " gauge\n";
  }

  void sample(double value, const std::string& moreLabels = {}) {
    if (std::isfinite(value)) {
      text_ += heading_ + name_ + '{' + labels_ + moreLabels + "} ";
      base::appendShortestDouble(&text_, value);
      text_ += '\n';
      heading_.clear();
    }
  }

  std::string finish() { return text_ + "# EOF\n"; }

 private:
  const std::string labels_;
  std::string name_;
  std::string heading_;  // empty after the first sample
  std::string text_;
};

std::string metricName(const char* quantity) {
  std::string name = std::string("steptape_machine_") + quantity;
  for (char& c : name) {
    c = c == '/' ? '_' : c;
  }
  return name;
}

std::string fileNamePart(std::string_view text) {
  constexpr std::size_t kLongest = 100;  // a file name has at most 255 bytes
  std::string part(text.substr(text.size() - std::min(text.size(), kLongest)));
  for (char& c : part) {
    const bool isSafe = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
    c = isSafe ? c : '_';
  }
  return part;
}

}  // namespace

std::string textMetrics(const MachineSample& sample, const TextMetricsLabels& labels,
                        const std::optional<LatestStep>& latest) {
  FamilyWriter writer(labels);
  if (latest) {
    writer.family("steptape_last_step", "Latest training step.");
    writer.sample(static_cast<double>(latest->step));
    writer.family("steptape_last_step_time_seconds",
                  "Time of the latest training step, in seconds since 1970-01-01 UTC.");
    writer.sample(latest->wallSeconds);
  }
  for (const Quantity<MachineSample>& quantity : machineQuantities()) {
    writer.family(metricName(quantity.name), quantity.help);
    writer.sample(sample.*quantity.value);
  }
  for (const Quantity<GpuSample>& quantity : gpuQuantities()) {
    writer.family(metricName("gpu_") + quantity.name, quantity.help);
    for (std::size_t gpu = 0; gpu < sample.gpus.size(); ++gpu) {
      writer.sample(sample.gpus[gpu].*quantity.value, ",gpu=\"" + std::to_string(gpu) + '"');
    }
  }
  return writer.finish();
}

std::string textMetricsFileName(const TextMetricsLabels& labels) {
  return "steptape_" + fileNamePart(labels.run) + '_' + fileNamePart(labels.host) + '_' +
         std::to_string(labels.rank) + ".prom";
}

}  // namespace steptape::detail::process

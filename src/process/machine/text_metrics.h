// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/process/machine_sampler.h"

namespace steptape::detail::process {

/// What tells the metrics of one process from those of others.
struct TextMetricsLabels {
  std::string run;
  std::string host;
  int rank = 0;
};

/// The latest training step, and its time as seconds since 1970-01-01 UTC.
struct LatestStep {
  std::int64_t step = 0;
  double wallSeconds = 0;
};

/// Returns the samples as a text that is valid both in the Prometheus text format, which the
/// textfile collector of node_exporter reads, and in OpenMetrics: gauges without time stamps.
/// Unknown numbers are left out.
///
/// @source https://prometheus.io/docs/instrumenting/exposition_formats
/// @source https://prometheus.io/docs/specs/om/open_metrics_spec
STEPTAPE_EXPORT std::string textMetrics(const MachineSample& sample,
                                        const TextMetricsLabels& labels,
                                        const std::optional<LatestStep>& latest);

/// Returns the name of the file for these labels: `steptape_<run>_<host>_<rank>.prom`, with '_' for
/// every character that is not safe in a file name. Two jobs on one host must not share a file, so
/// the run is in the name.
STEPTAPE_EXPORT std::string textMetricsFileName(const TextMetricsLabels& labels);

}  // namespace steptape::detail::process

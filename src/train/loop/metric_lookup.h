// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "steptape/train/trainer_options.h"

namespace steptape::detail::train {

/// Returns the value of `name` in `metrics`; `who` is their owner for errors.
///
/// @throws Error(kInvalidArgument) if there is none, with the existing names.
double metricIn(const std::vector<MetricValue>& metrics, std::string_view name, const char* who);

}  // namespace steptape::detail::train

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "steptape/trainer/training_result.h"

namespace steptape::detail {

/// The value of `name` in `metrics`; `who` has them.
///
/// @throws Error(kInvalidArgument) if it is not there, naming those that are.
double metricIn(const std::vector<MetricValue>& metrics, std::string_view name, const char* who);

}  // namespace steptape::detail

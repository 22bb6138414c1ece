// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/process/machine_sampler.h"

namespace steptape::detail::process {

/// One number of a sample under the name by which it is logged.
template <typename Sample>
struct Quantity {
  const char* name;  ///< The tag without "machine/" and without "gpu0/".
  const char* help;
  double Sample::*value;
};

STEPTAPE_EXPORT ArrayView<const Quantity<MachineSample>> machineQuantities();
STEPTAPE_EXPORT ArrayView<const Quantity<GpuSample>> gpuQuantities();

}  // namespace steptape::detail::process

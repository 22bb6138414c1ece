// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "steptape/base/export.h"
#include "steptape/ranks/environment.h"

namespace steptape::c10d::detail {

/// Lets steptape::Environment join jobs by this component.
STEPTAPE_EXPORT std::unique_ptr<steptape::detail::ranks::Job> joinJob(
    int* argc, char*** argv, const EnvironmentOptions& options);
inline const bool kIsProvided = steptape::detail::ranks::provideStore(&joinJob);

}  // namespace steptape::c10d::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "steptape/base/export.h"
#include "steptape/ranks/environment.h"

namespace steptape::mpi::detail {

/// Lets steptape::Environment join jobs by this component.
STEPTAPE_EXPORT std::unique_ptr<steptape::detail::ranks::Job> joinJob(
    int* argc, char*** argv, const EnvironmentOptions& options);
inline const bool kIsProvided = steptape::detail::ranks::provideMpi(&joinJob);

}  // namespace steptape::mpi::detail

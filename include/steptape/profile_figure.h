// SPDX-License-Identifier: Apache-2.0
#pragma once

// Component `figure`, target steptape::profile_figure: figures of a profile, drawn by Cairo.
//
//   steptape::ProfilerOptions options;
//   options.writer = &writer;
//   options.onTrace = steptape::drawProfile;
//   steptape::Profiler profiler(options);
#include "steptape/figure.h"                   // IWYU pragma: export
#include "steptape/profile/profile_figures.h"  // IWYU pragma: export

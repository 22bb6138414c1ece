// SPDX-License-Identifier: Apache-2.0
#pragma once

// Figures of a profile, drawn by Cairo. Component `figure`, target steptape::profile_figure.
//
//   steptape::ProfilerOptions options;
//   options.writer = &writer;
//   options.onTrace = steptape::drawProfile;
//   steptape::Profiler profiler(options);
#include "steptape/figure.h"                          // IWYU pragma: export
#include "steptape/profile_figure/profile_figures.h"  // IWYU pragma: export

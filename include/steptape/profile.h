// SPDX-License-Identifier: Apache-2.0
#pragma once

// Times zones in any C++ program, without LibTorch. Component `core`.
//
//   steptape::Profiler profiler;
//   {
//     STEPTAPE_ZONE("load batch");
//     load();
//   }
//   profiler.stop();
//   std::puts(profiler.table().c_str());
#include "steptape/profile/graph_profile.h"  // IWYU pragma: export
#include "steptape/profile/profiler.h"       // IWYU pragma: export
#include "steptape/span/zone.h"              // IWYU pragma: export

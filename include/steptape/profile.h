// SPDX-License-Identifier: Apache-2.0
#pragma once

// Component `core`: timing zones for any C++ program, without LibTorch.
//
//   steptape::Profiler profiler;
//   {
//     STEPTAPE_ZONE("load batch");
//     load();
//   }
//   profiler.stop();
//   std::puts(profiler.table().c_str());
#include "steptape/process/zone.h"           // IWYU pragma: export
#include "steptape/profile/graph_profile.h"  // IWYU pragma: export
#include "steptape/profile/profiler.h"       // IWYU pragma: export

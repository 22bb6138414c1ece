// SPDX-License-Identifier: Apache-2.0
#pragma once

// Timing zones for any C++ program, with no LibTorch. Component `core`.
#include "steptape/profile/zone.h"  // IWYU pragma: export

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/all.h>

namespace torch {

// Kernels register themselves when their library is loaded; nothing calls this function.
void registerDevice(const char* name);
const char* newestDevice();

}  // namespace torch

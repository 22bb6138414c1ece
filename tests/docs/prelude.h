// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/steptape.h"

/// Declarations for a code block without main(), so that documents can show one call without the
/// ten lines before it. Keep it short: readers have to guess these declarations.
#define STEPTAPE_DOC_PARAMETERS                                                         \
  [[maybe_unused]] steptape::SummaryWriter &writer, [[maybe_unused]] std::int64_t step, \
      [[maybe_unused]] double loss, [[maybe_unused]] double accuracy,                   \
      [[maybe_unused]] const std::vector<float>&values,                                 \
      [[maybe_unused]] const std::shared_ptr<steptape::Communicator>&world

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/status.h"

namespace steptape {

class WriterCore;

/// Writes every scalar in the event files of `core` to `path`:
/// SummaryWriter::exportScalarsToJson(). The file appears under its name only when it is complete.
Status exportScalars(const WriterCore& core, const std::string& path);

}  // namespace steptape

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"
#include "steptape/log/writer_options.h"

namespace steptape::detail::log {

/// Returns `runs/Nov21_14-03-59_host<comment>`, in local time, and with "_job41" before the comment
/// in a job of a scheduler: elements of an array start in the same second.
/// @source tensorboardX/writer.py, SummaryWriter.__init__
STEPTAPE_EXPORT std::string defaultLogDir(const WriterOptions& options);

}  // namespace steptape::detail::log

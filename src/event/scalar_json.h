// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "event/scalar_spool.h"

namespace steptape::detail {

/// Whether a curve may be one of addScalars(), which lie in "<directory>/<tag>/<curve>", a
/// directory for each. They are known by their directories alone; all others by
/// "<directory>/<tag>".
STEPTAPE_EXPORT bool isSubRunCurve(const std::string& directory, const std::string& tag);

/// Writes series as tensorboardX's export_scalars_to_json() does, `{"<series>": [[wall time, step,
/// value], ...], ...}`, one to a line.
///
/// @param write Is given the text piece by piece, some 64 KiB at a time.
/// @return how the spool failed, if it did.
STEPTAPE_EXPORT Status writeScalarJson(ScalarSpool* spool,
                                       const std::function<void(std::string_view)>& write);

}  // namespace steptape::detail

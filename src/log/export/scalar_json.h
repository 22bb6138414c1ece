// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"

#include "log/export/scalar_spool.h"

namespace steptape::detail::log {

/// Returns whether a curve may come from addScalars(), which writes the directory
/// "<directory>/<tag>/<curve>" for each curve. Exports name these curves by their directories, and
/// other curves by "<directory>/<tag>".
bool isSubRunCurve(const std::string& directory, const std::string& tag);

/// Writes series as tensorboardX's export_scalars_to_json() does: `{"<series>": [[wall time, step,
/// value], ...], ...}`, one series per line. Names are made distinct.
///
/// @param write Receives the text in pieces of about 64 KiB.
/// @param notes Receives the changes, as from makeDistinct().
/// @return the spool's error, if it failed.
Status writeScalarJson(ScalarSpool* spool, const std::function<void(std::string_view)>& write,
                       std::vector<std::string>* notes);

}  // namespace steptape::detail::log

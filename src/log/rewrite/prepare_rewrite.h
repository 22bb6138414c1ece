// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/log/rewrite.h"
#include "steptape/log/run_reader.h"

#include "log/writer/whole_run.h"

namespace steptape::detail::log {

/// Does what rewriteRun() does, except that the new run has still to appear: of several runs, all
/// do, or none.
///
/// @throws as rewriteRun().
STEPTAPE_EXPORT RewriteResult prepareRewrite(const RunFiles& run, const RewriteOptions& options,
                                             WholeRun* output);

}  // namespace steptape::detail::log

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape {

/// Names and values, in the order to show them.
using DescriptionRows = std::vector<std::pair<std::string, std::string>>;

/// What a run ran on: ranks and hosts; per rank threads, cores that it is bound to, device and
/// random seed; TF32; the scheduler's job; the variables of OpenMP (`OMP_...`, `KMP_...`) and the
/// BLAS that are set on the root; versions of LibTorch and Steptape, compiler.
///
///     auto rows = steptape::describeRun(*world);
///     rows.emplace_back("batch size", "64");
///     writer.addText("configuration", steptape::markdownTable(rows), 0);
///
/// The same rows on every rank. Collective: hosts and numbers come from all ranks.
STEPTAPE_EXPORT DescriptionRows describeRun(Communicator& world);

/// The rows as a Markdown table for addText(); '|' in a value is escaped.
STEPTAPE_EXPORT std::string markdownTable(const DescriptionRows& rows);

}  // namespace steptape

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace steptape {

/// Writes below `root/runs` the profiles of a made-up training that documents look at: `one`, a
/// process; `job`, two ranks; `before` and `after`, the same with batches twice as large.
void writeDocumentTraces(const std::filesystem::path& root);

}  // namespace steptape

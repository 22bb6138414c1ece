// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace steptape {

/// Writes the profiles of an invented training for the documents below `root/runs`: `one`, a
/// process; `job`, two ranks; `before` and `after`, the same with batches twice as large.
void writeDocumentTraces(const std::filesystem::path& root);

}  // namespace steptape

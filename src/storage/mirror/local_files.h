// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail::storage {

/// A file of a run as it was when it was looked at.
struct LocalFile {
  std::string path;  ///< Below the directory.
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  ///< In nanoseconds since 1970.
};

/// Whether a file of this name belongs into a bucket beside the event files: all do, but models and
/// checkpoints (.pt, .pth, .ckpt, .safetensors, .onnx, .tmp), and those whose names begin with a
/// dot, which are of use to the machine only.
STEPTAPE_EXPORT bool isMirrored(std::string_view name);

/// Returns the files in and below `directory` that isMirrored(), ordered by path. Links are not
/// followed, and what cannot be read is left out.
///
/// @param entersDirectory Whether to look into a directory, by its path. Empty: into all.
STEPTAPE_EXPORT std::vector<LocalFile> localFilesIn(
    const std::string& directory,
    const std::function<bool(const std::string& path)>& entersDirectory = {});

/// Returns the files in the same order, but those of the paths `last` behind all others.
std::vector<const LocalFile*> withLast(const std::vector<LocalFile>& files,
                                       const std::set<std::string>& last);

}  // namespace steptape::detail::storage

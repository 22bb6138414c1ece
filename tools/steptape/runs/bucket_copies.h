// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "steptape/log/run_reader.h"

namespace steptape::tools {

// Runs in buckets, "s3://bucket/runs", for commands that read files: their event files are copied
// to a temporary directory, which is removed when the program ends. One that was killed leaves it
// to the next program.
//
// Not thread-safe: one thread at a time.

/// Returns where the files of a path are: the path itself or, for the URL of a bucket, the
/// directory of its copy, which is read now.
///
/// @param problems Receives the objects that could not be read. May be null.
/// @throws Error(kIoError) if the bucket cannot be listed or holds no event file there.
std::string localPathOf(const std::string& path, std::vector<Damage>* problems = nullptr);

/// Makes the directory of a copy, which is empty until updateBucketCopies().
/// @throws Error(kInvalidArgument) if `url` is none of a bucket; Error(kIoError).
std::string makeBucketCopy(const std::string& url);

/// Returns a path or a message as it is shown: with the URL, if it is of a copy.
std::string shownPathOf(const std::string& path);

/// Reads what is new in the buckets of all copies: one listing each.
///
/// @param problems Receives the objects that could not be read. May be null.
/// @param period   A copy that was read less than this ago stays as it is.
void updateBucketCopies(std::vector<Damage>* problems = nullptr,
                        std::chrono::milliseconds period = std::chrono::seconds(5));

}  // namespace steptape::tools

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/run_reader.h"

namespace steptape {

/// What changes when a run is rewritten.
struct RewriteOptions {
  /// Gives a tag its new name; nothing: its values are left out. Empty: tags keep their names.
  std::function<std::optional<std::string>(const std::string& tag)> rename;
  /// Added to each step.
  std::int64_t stepShift = 0;
  /// Only values of these steps, before the shift; both ends included.
  std::optional<std::int64_t> fromStep = std::nullopt;
  std::optional<std::int64_t> toStep = std::nullopt;
  /// Called regularly with the bytes that both passes have read so far.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// A tag of a rewritten run.
struct RewrittenTag {
  std::string tag;           ///< In the original.
  std::string newName;       ///< Empty: left out.
  std::uint64_t values = 0;  ///< Written.
};

struct RewriteResult {
  std::vector<RewrittenTag> tags;  ///< In the order of their first values.
  std::uint64_t values = 0;        ///< Written.
  std::uint64_t valuesLeftOut = 0;
  std::vector<Damage> damage;  ///< Of the original.
};

/// Writes a run anew, with other tags or steps. The original does not change.
///
/// Values keep their form, times, metadata and order; each has an event of its own. Points that a
/// restart discarded are not written, as readers show them. Texts inside of values, such as tags in
/// the layout of custom charts, do not change.
///
/// @param directory Of the new run: one without event files, which may not exist yet.
/// @throws Error(kInvalidArgument) if two tags get one name, or a step would not fit into 64 bits;
///         Error(kFailedPrecondition) if the directory has event files; Error(kIoError) if it
///         cannot be written. Nothing of the new run is then there: its file appears when it is
///         whole.
/// @threads Thread-safe.
/// @cost    Reads the run twice, in bounded memory.
STEPTAPE_EXPORT RewriteResult rewriteRun(const RunFiles& run, const std::string& directory,
                                         const RewriteOptions& options);

}  // namespace steptape

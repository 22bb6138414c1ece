// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/log/run_reader.h"

#include "tools/steptape/runs/name_filter.h"

namespace steptape::tools {

/// Returns whether a scalar of the series may be an integer that was rounded: doubles have all
/// smaller ones.
bool mayBeRounded(const TagSeries& series, double value);

/// Returns the note about a tag with such scalars, for a command that shows doubles.
/// @param where The tag; with its run if nothing else names it.
std::string roundedNote(const std::string& where);

/// Returns how a note names a tag of a run.
std::string tagOfRun(const std::string& tag, const std::string& directory);

/// Appends a note for each tag of the run that contains a match of `tags` and has such scalars.
void addRoundedNotes(const RunReader& run, const NamePattern& tags,
                     std::vector<std::string>* notes);

}  // namespace steptape::tools

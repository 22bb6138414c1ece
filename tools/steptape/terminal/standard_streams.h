// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steptape::tools {

/// Opens descriptors 0, 1 and 2 if they are closed, because the next file that is opened would take
/// their number and receive the output. Writing to one that was closed still fails.
void holdStandardStreams();

/// Writes the buffered output, so that a full disk is reported.
///
/// @throws Error(kIoError) if it could not be written, except to a pipe whose reader has exited.
void flushOutput();

/// Prints a line for people on standard error, without control characters, because messages quote
/// names of files and tags.
void printMessage(const std::string& text);

/// Prints each text as printMessage() does.
void printMessages(const std::vector<std::string>& texts);

/// Prints the first notes, and how many more there are: a mistake in a loop makes thousands.
///
/// @param whereAll Where all are, such as "--json has all"; may be empty.
void printNotes(const std::vector<std::string>& notes, std::string_view whereAll = {});

}  // namespace steptape::tools

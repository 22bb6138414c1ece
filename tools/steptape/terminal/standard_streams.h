// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::tools {

/// Makes sure that descriptors 0, 1 and 2 are taken: a file that is opened where one of them was
/// closed would get what is printed. Writing to one that was closed still fails.
void holdStandardStreams();

/// Writes out what was printed, so that a full disk does not go unnoticed.
///
/// @throws Error(kIoError) if something of it could not be written, unless it was for a pipe that
///         nobody reads any more: its reader has what it wanted.
void flushOutput();

/// Prints a line for people on the error stream, without what would control their terminal:
/// messages quote names of files and tags.
void printMessage(const std::string& text);

}  // namespace steptape::tools

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steptape::tools {

/// A place in the code of a program or a shared library.
struct CodePlace {
  std::uint64_t address = 0;  ///< As linked: what `addr2line -e FILE` takes.
  std::string function;       ///< Empty: unknown.
  std::string source;         ///< "loader.cpp:31"; empty: the file has no debug information.
};

/// Looks up what lies at `offsets` in the ELF file at `path`, by `addr2line`.
///
/// @param changedAfter Seconds since 1970: a file that was changed later is another one, of which
///                     nothing is told.
/// @return one for each offset. If the file or addr2line is missing, or the file is no ELF file of
///         this machine, addresses are the offsets and the rest is empty.
/// @cost    Starts addr2line, which reads the file's symbols.
std::vector<CodePlace> codePlaces(const std::string& path,
                                  const std::vector<std::uint64_t>& offsets, double changedAfter);

}  // namespace steptape::tools

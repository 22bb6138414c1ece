// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace steptape::lint {

/// One line of a source file, for messages such as "src/a/b.cpp:12: text".
struct Line {
  std::string file;  ///< Relative to the project's folder.
  int number = 0;    ///< From 1.
  std::string text;
};

/// An `#include` as written.
struct Include {
  Line line;
  std::string target;  ///< Text between the quotes or angle brackets.
};

/// The project's files, read once. Paths are relative to the project's folder, with '/'.
///
/// @threads Thread-compatible: const methods may run concurrently.
class SourceTree {
 public:
  /// Reads every file under `folders` whose name ends in one of `endings`.
  SourceTree(const std::filesystem::path& root, const std::vector<std::string>& folders,
             const std::vector<std::string>& endings);

  /// Returns every path read, ascending.
  std::vector<std::string> files() const;

  const std::vector<Line>& lines(const std::string& file) const;

  /// Returns the includes of `file`, in order.
  const std::vector<Include>& includes(const std::string& file) const;

  /// Returns everything that `file` includes, directly or through headers of the project, each with
  /// the file that includes it directly.
  std::vector<Include> transitiveIncludes(const std::string& file) const;

 private:
  /// Returns the file of this tree to which `target`, included by `from`, refers; empty for a
  /// system header.
  std::string resolve(const std::string& from, const std::string& target) const;

  std::map<std::string, std::vector<Line>> linesByFile_;
  std::map<std::string, std::vector<Include>> includesByFile_;
};

/// Returns the sources of the library, the tool and the Python module.
const SourceTree& library();

bool startsWith(const std::string& text, const std::string& start);

/// Returns where a line is, and its text.
std::string describe(const Line& line);

}  // namespace steptape::lint

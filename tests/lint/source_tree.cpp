// SPDX-License-Identifier: Apache-2.0
#include "lint/source_tree.h"

#include <fstream>
#include <regex>

namespace steptape::lint {
namespace {

namespace fs = std::filesystem;

bool endsWith(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

std::vector<Line> readLines(const fs::path& path, const std::string& file) {
  std::vector<Line> lines;
  std::ifstream stream(path);
  for (std::string text; std::getline(stream, text);) {
    lines.push_back({file, static_cast<int>(lines.size()) + 1, text});
  }
  return lines;
}

std::vector<Include> includesIn(const std::vector<Line>& lines) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> found;
  for (const Line& line : lines) {
    std::smatch match;
    // The regular expression is slow, and few lines need it.
    if (line.text.find("include") != std::string::npos &&
        std::regex_search(line.text, match, kInclude)) {
      found.push_back({line, match[1]});
    }
  }
  return found;
}

}  // namespace

SourceTree::SourceTree(const fs::path& root, const std::vector<std::string>& folders,
                       const std::vector<std::string>& endings) {
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string file = entry.path().lexically_relative(root).generic_string();
      for (const std::string& ending : endings) {
        if (entry.is_regular_file() && endsWith(file, ending)) {
          const auto& [name, lines] =
              *linesByFile_.emplace(file, readLines(entry.path(), file)).first;
          includesByFile_.emplace(name, includesIn(lines));
        }
      }
    }
  }
}

std::vector<std::string> SourceTree::files() const {
  std::vector<std::string> files;
  for (const auto& [file, lines] : linesByFile_) {
    files.push_back(file);
  }
  return files;
}

const std::vector<Line>& SourceTree::lines(const std::string& file) const {
  return linesByFile_.at(file);
}

const std::vector<Include>& SourceTree::includes(const std::string& file) const {
  return includesByFile_.at(file);
}

std::vector<Include> SourceTree::transitiveIncludes(const std::string& file) const {
  std::vector<Include> found;
  std::set<std::string> seen{file};
  std::vector<std::string> pending{file};
  while (!pending.empty()) {
    const std::string current = pending.back();
    pending.pop_back();
    for (const Include& include : includes(current)) {
      found.push_back(include);
      const std::string header = resolve(current, include.target);
      if (!header.empty() && seen.insert(header).second) {
        pending.push_back(header);
      }
    }
  }
  return found;
}

std::string SourceTree::resolve(const std::string& from, const std::string& target) const {
  const std::string beside = (fs::path(from).parent_path() / target).generic_string();
  for (const std::string& candidate : {beside, "include/" + target, "src/" + target}) {
    if (linesByFile_.count(candidate) != 0) {
      return candidate;
    }
  }
  return "";
}

const SourceTree& library() {
  static const SourceTree kTree(STEPTAPE_SOURCE_DIR, {"include", "src", "tools", "python"},
                                {".h", ".cpp"});
  return kTree;
}

bool startsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string describe(const Line& line) {
  return line.file + ":" + std::to_string(line.number) + ": " + line.text;
}

}  // namespace steptape::lint

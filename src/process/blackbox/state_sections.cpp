// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/state_sections.h"

#include <string>

#include "base/got_expected.h"

namespace steptape::detail::process {
namespace {

// More entries of a section than any version has; a damaged number must not cost memory.
constexpr std::size_t kMostEntries = std::size_t{1} << 16;

Status damaged(const std::string& got, const std::string& expected) {
  return {ErrorCode::kDataLoss, "black box: state: " + base::gotExpected(got, expected)};
}

}  // namespace

Status StateSections::find() {
  if (bytes_.size() < state_layout::kTableOffset + sizeof(state_layout::Table)) {
    return damaged(
        std::to_string(bytes_.size()) + " bytes",
        "at least " + std::to_string(state_layout::kTableOffset + sizeof(state_layout::Table)));
  }
  state_layout::Table table;
  std::memcpy(&table, bytes_.data() + state_layout::kTableOffset, sizeof(table));
  if (table.version != state_layout::kVersion) {
    return {ErrorCode::kDataLoss,
            "black box: state: " +
                base::gotExpected("version " + std::to_string(table.version),
                                  "version " + std::to_string(state_layout::kVersion) +
                                      "; read it with the release of Steptape that wrote it")};
  }
  if (table.sections > table.section.size()) {
    return damaged(std::to_string(table.sections) + " sections",
                   "at most " + std::to_string(table.section.size()));
  }
  for (std::size_t i = 0; i < table.sections; ++i) {
    const state_layout::Table::Section& section = table.section[i];
    const std::size_t size = fileBytes_;
    if (section.entryBytes < sizeof(state_layout::Word) ||
        section.entryBytes % sizeof(state_layout::Word) != 0 ||
        section.offset % sizeof(state_layout::Word) != 0 || section.entries > kMostEntries ||
        section.offset > size || section.entries > (size - section.offset) / section.entryBytes) {
      return damaged("section " + std::to_string(section.id) + " of " +
                         std::to_string(section.entries) + " entries of " +
                         std::to_string(section.entryBytes) + " bytes at " +
                         std::to_string(section.offset),
                     "it within the file's " + std::to_string(size) + " bytes");
    }
    found_.push_back(section);
  }
  return {};
}

}  // namespace steptape::detail::process

// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/program_symbols.h"

#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <link.h>
#include <sys/stat.h>

#include "tools/steptape/programs/silent_program.h"

namespace steptape::tools {
namespace {

/// Reads the parts of an ELF file that are loaded.
/// @source elf(5)
std::vector<ElfW(Phdr)> loadedParts(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header{};
  std::vector<ElfW(Phdr)> parts;
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != kClass ||
      header.e_phentsize != sizeof(ElfW(Phdr))) {
    return parts;
  }
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  ElfW(Phdr) part{};
  for (int i = 0; i < header.e_phnum && file.read(reinterpret_cast<char*>(&part), sizeof(part));
       ++i) {
    if (part.p_type == PT_LOAD) {
      parts.push_back(part);
    }
  }
  return parts;
}

std::uint64_t linkedAddress(const std::vector<ElfW(Phdr)>& parts, std::uint64_t offset) {
  for (const ElfW(Phdr) & part : parts) {
    if (part.p_offset <= offset && offset - part.p_offset < part.p_filesz) {
      return offset - part.p_offset + part.p_vaddr;
    }
  }
  return offset;
}

std::string takeLine(std::string* text) {
  const std::size_t end = std::min(text->find('\n'), text->size());
  std::string line = text->substr(0, end);
  text->erase(0, end + 1);
  return line;
}

}  // namespace

std::vector<CodePlace> codePlaces(const std::string& path,
                                  const std::vector<std::uint64_t>& offsets, double changedAfter) {
  std::vector<CodePlace> places(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    places[i].address = offsets[i];
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 ||
      static_cast<double>(status.st_mtim.tv_sec) > changedAfter) {
    return places;
  }
  const std::vector<ElfW(Phdr)> parts = loadedParts(path);
  std::vector<std::string> command{"addr2line", "-C", "-f", "-s", "-e", path};
  for (CodePlace& place : places) {
    place.address = linkedAddress(parts, place.address);
    command.push_back(fmt::format("0x{:x}", place.address));
  }
  if (parts.empty()) {
    return places;
  }
  std::string text = outputOf(command);
  for (CodePlace& place : places) {
    const std::string function = takeLine(&text);
    const std::string source = takeLine(&text);
    place.function = function == "??" ? "" : function;
    // Before "(discriminator 3)". A line that is not known is 0 or a question mark.
    const std::string known = source.substr(0, source.find(' '));
    const char last = known.empty() ? '?' : known.back();
    place.source = known.compare(0, 2, "??") == 0 || last == '?' ||
                           (last == '0' && known[known.size() - 2] == ':')
                       ? ""
                       : known;
  }
  return places;
}

}  // namespace steptape::tools

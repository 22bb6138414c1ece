// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/terminal/terminal.h"

#include <charconv>
#include <cstdlib>
#include <langinfo.h>
#include <locale.h>
#include <string>
#include <string_view>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace steptape::tools {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// Returns the number in `name`, or `otherwise` if it is not a terminal size.
int sizeFrom(const char* name, int otherwise) {
  constexpr int kMost = 10'000;
  const std::string_view text = variable(name);
  int size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool isSize = error == std::errc() && end == text.data() + text.size();
  return isSize && size > 0 && size <= kMost ? size : otherwise;
}

/// Returns the locale of the user, by the precedence of the variables.
std::string_view localeName() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!variable(name).empty()) {
      return variable(name);
    }
  }
  return "C";
}

bool isUtf8(const char* charset) {
  return strcasecmp(charset, "UTF-8") == 0 || strcasecmp(charset, "utf8") == 0;
}

bool localeHasUtf8() {
  // A separate locale object, because setlocale() would change the whole program.
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale != nullptr) {
    const bool hasUtf8 = isUtf8(nl_langinfo_l(CODESET, locale));
    freelocale(locale);
    return hasUtf8;
  }
  // Common after ssh, which forwards the name of a locale that is not installed here.
  const std::string_view name = localeName();
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos &&
         isUtf8(std::string(name.substr(dot + 1, name.find('@') - dot - 1)).c_str());
}

}  // namespace

Terminal terminalAt(int fd) {
  Terminal terminal;
  terminal.isTerminal = isatty(fd) == 1;
  terminal.hasColor =
      terminal.isTerminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  terminal.hasUtf8 = localeHasUtf8();
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    terminal.columns = size.ws_col;
    terminal.rows = size.ws_row;
  } else {
    terminal.columns = sizeFrom("COLUMNS", terminal.columns);
    terminal.rows = sizeFrom("LINES", terminal.rows);
  }
  return terminal;
}

}  // namespace steptape::tools

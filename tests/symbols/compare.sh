#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compare.sh <library> <list>            compares the library's exported symbols with the list
# compare.sh --update <library> <list>   writes the list anew
#
# Weak symbols are omitted: inline functions are compiled into the user's program, and compilers
# differ in which of it they emit.
set -euo pipefail

update=false
if [[ $1 == --update ]]; then
  update=true
  shift
fi
library=$1
list=$2

exported() {
  LC_ALL=C readelf --symbols --wide --demangle "$library" 2>/dev/null |
    awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { $1 = $2 = $3 = $4 = $5 = $6 = $7 = ""; print }' |
    sed -E -e 's/^ +//' -e 's/\[abi:cxx11\]//g' \
      -e 's/std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >/std::string/g' \
      -e 's/std::basic_string_view<char, std::char_traits<char> >/std::string_view/g' |
    LC_ALL=C sort -u
}

if $update; then
  exported >"$list"
elif ! diff --unified=0 --label "$list" --label "$library" "$list" <(exported); then
  echo "The interface of $(basename "$library") has changed. If that is meant, write the list anew and name" >&2
  echo "the change in CHANGELOG.md: tests/symbols/compare.sh --update $library $list" >&2
  exit 1
fi

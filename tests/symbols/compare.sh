#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compare.sh <library> <list>            compares the library's interface with the list, and its exported internals with
#                                        the sources, which mark them with STEPTAPE_EXPORT
# compare.sh --update <library> <list>   writes the list anew
#
# A library that has only internals has no list.
# Weak symbols are omitted: inline functions are compiled into the user's program, and compilers
# differ in which of it they emit. So are functions that choose their code at run time (IFUNC): GCC exports them all.
set -euo pipefail

update=false
if [[ $1 == --update ]]; then
  update=true
  shift
fi
library=$1
list=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

exported() {
  local table=--symbols
  if [[ $library == *.so* ]]; then table=--dyn-syms; fi
  LC_ALL=C readelf "$table" --wide --demangle "$library" 2>/dev/null |
    awk '$4 != "IFUNC" && $5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { $1 = $2 = $3 = $4 = $5 = $6 = $7 = ""; print }' |
    sed -E -e 's/^ +//' -e 's/\[abi:cxx11\]//g' \
      -e 's/std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >/std::string/g' \
      -e 's/std::basic_string_view<char, std::char_traits<char> >/std::string_view/g' |
    LC_ALL=C sort -u
}
# Of a symbol, what stands before its parameters tells whose it is.
internals() { grep -E '^[^(]*steptape::detail::' || true; }
interface() { grep -vE '^[^(]*steptape::detail::' || true; }

# marked: the names of the classes and functions that headers export, one per line
marked() {
  find "$root/include" "$root/src" -name '*.h' -exec cat {} + | tr '\n' ' ' | sed 's/::/@/g' |
    grep -oE 'STEPTAPE_EXPORT [^;{(:]*' | sed -E -e 's/ (final|__attribute__) *$//' -e 's/.*[^A-Za-z0-9_]([A-Za-z0-9_]+)[^A-Za-z0-9_]*$/\1/' |
    sort -u
}

# unmarked: the symbols of stdin without a marked name before their parameters
unmarked() {
  awk 'NR == FNR {marked[$1]; next}
    {
      count = split(substr($0, 1, index($0 "(", "(") - 1), words, /[^A-Za-z0-9_]+/)
      for (i = 1; i <= count; ++i) if (words[i] in marked) next
      print
    }' <(marked) -
}

if $update; then
  exported | interface >"$list"
  exit
fi
[[ -f $list ]] || list=/dev/null
accidents=$(exported | internals | unmarked)
if [[ -n $accidents ]]; then
  echo "$(basename "$library") exports internals that no header marks with STEPTAPE_EXPORT:" >&2
  echo "$accidents" >&2
  exit 1
fi
if ! diff --unified=0 --label "$list" --label "$library" "$list" <(exported | interface); then
  echo "The interface of $(basename "$library") has changed. If that is meant, write the list anew and name" >&2
  echo "the change in CHANGELOG.md: tests/symbols/compare.sh --update $library $2" >&2
  exit 1
fi

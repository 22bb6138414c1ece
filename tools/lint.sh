#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks format, style, locks, scripts and spelling. It runs every check; the last line counts them:
# "N passed, N failed".
#
#   tools/lint.sh                  clang-tidy over the libraries without LibTorch, and the tool
#   tools/lint.sh --since COMMIT   clang-tidy over the units with a file that differs from COMMIT
#   tools/lint.sh --all            clang-tidy over every unit: also the libraries on LibTorch, programs and tests
#
# A unit holds all sources that CMake compiles together: those of one library or program. clang-tidy thus reads each
# header once per library or program.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

readonly usage="usage: tools/lint.sh [--since COMMIT | --all]"
scope=core
since=
case ${1:-} in
  '') ;;
  --since)
    scope=since
    since=$(git rev-parse --verify --quiet "${2:-}^{commit}") || die "--since: got '${2:-}'; expected a commit; $usage"
    ;;
  --all) scope=all ;;
  *) die "argument: got '$1'; expected --since COMMIT or --all; $usage" ;;
esac

settings=$(tools/setup.sh --lint --docs)
eval "$settings"
venv_bin=$(dirname "$STEPTAPE_PYTHON")
readonly venv_bin
lint_build=$(build_folder lint)
readonly lint_build
readonly reports=$lint_build/reports
readonly own_folders='(include|src|tools|python|tests|examples|benchmarks)'

# tracked <pattern> ...: the project's files, uncommitted ones included, separated by NUL
tracked() {
  local file
  while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then printf '%s\0' "$file"; fi
  done < <(git ls-files -z --cached --others --exclude-standard -- "$@")
}

check_format() {
  tracked '*.cpp' '*.h' | xargs -0 "$venv_bin/clang-format" --dry-run -Werror >&2
}

# clang-format does not wrap comments. UTF-8, so that grep counts characters and not bytes.
check_comment_width() {
  local long
  long=$(tracked '*.cpp' '*.h' | LC_ALL=C.UTF-8 xargs -0 grep -nHE '^.{101,}$' |
    grep -E '^[^:]+:[0-9]+: *//' || true)
  [[ -z $long ]] || { echo "$long" >&2 && return 1; }
}

check_shell() {
  tracked '*.sh' .ci/run | xargs -0 shellcheck -x -P SCRIPTDIR >&2
}

check_spelling() {
  tracked | xargs -0 "$venv_bin/codespell" >&2
}

# units: "<file> <1 if it includes LibTorch, else 0>" for each of our translation units in C++
units() {
  awk -F '"' '
    $2 == "command" {torch = /torch\/csrc\/api\/include/}
    $2 == "file" && $4 ~ /\.(cpp|cxx)$/ && $4 !~ /_verify_interface_header_sets|\/(steptape_proto|steptape_tool_proto|steptape_provider_proto|peer_event)\.dir\/|\/nanobind/ {print $4, torch + 0}
  ' "$lint_build/compile_commands.json"
}

# sources_of <unit>: the files that it includes, or itself where it is no unity unit
sources_of() {
  if [[ $1 == */Unity/* ]]; then
    sed -n 's/^#include "\(.*\)"$/\1/p' "$1"
  else
    echo "$1"
  fi
}

# changed_units: the units with a file that differs from $since. A header belongs to the units that have sources in
# its folder.
changed_units() {
  local file unit torch changed
  changed=$(
    {
      git diff --name-only "$since" -- '*.cpp' '*.h'
      git ls-files --others --exclude-standard -- '*.cpp' '*.h'
    } | sed -E 's,^include/steptape/([^/]+)/.*\.h$,src/\1/*,; s,/[^/]+\.h$,/*,' | sort -u
  )
  while read -r unit torch; do
    while read -r file; do
      file=${file#"$root"/}
      if grep -qxF -e "$file" -e "${file%/*}/*" <<<"$changed"; then
        echo "$unit"
        break
      fi
    done < <(sources_of "$unit")
  done < <(units)
}

# longest_first: the units of stdin, so that no core waits at the end for the tool, which takes as long as ten others
longest_first() {
  local unit
  while read -r unit; do
    echo "$(sources_of "$unit" | xargs -d '\n' cat | wc -l) $unit"
  done | sort -rn | cut -d ' ' -f 2-
}

# chosen_units: one per line, the slowest kind first
chosen_units() {
  case $scope in
    core)
      units | awk -v "root=$root" '$2 == 0 && $1 ~ "^" root "/(build/lint/)?(src|tools|python)/" {print $1}' |
        longest_first
      ;;
    since) changed_units ;;
    all) units | sort -s -r -k 2 | cut -d ' ' -f 1 ;;
  esac
}

# tidy_unit <unit>: writes clang-tidy's output to $reports
tidy_unit() {
  local name=${1#"$root"/} checks=
  name=${name#build/lint/}
  name=${name%/Unity/*}
  name=${name/CMakeFiles\//}
  if [[ $name == tests/* ]]; then checks=$(sed -n "s/^Checks: '\(.*\)'$/\1/p" tests/.clang-tidy); fi
  "$venv_bin/clang-tidy" -p "$lint_build" --quiet "--checks=$checks" "--header-filter=^$root/$own_folders/" \
    "$1" >"$reports/${name//\//-}" 2>&1
}

tidy_units() {
  export -f tidy_unit
  export root venv_bin lint_build reports own_folders
  xargs -d '\n' -n 1 -P "$(jobs)" bash -c "tidy_unit \"\$1\"" tidy_unit <<<"$1"
}

# clang-tidy also reports Clang's warnings, including the thread-safety analysis of the core's mutexes.
check_tidy() {
  local chosen
  # The units include headers that protoc generates.
  configure lint && build lint steptape_proto steptape_tool_proto steptape_provider_proto benchmarks/peer_event.pb.h || return 1
  chosen=$(chosen_units)
  if [[ -z $chosen ]]; then
    say "no unit has a file that differs from $since"
    return
  fi
  rm -rf "$reports"
  mkdir -p "$reports"
  with_progress "clang-tidy over $(wc -l <<<"$chosen") units" tidy_units "$chosen" && return
  # Each unit that includes a header reports the header's defects.
  cat "$reports"/* | grep -E ': (fatal )?error: ' | sort -u >&2 || true
  say "build/lint/reports has the complete output of clang-tidy"
  return 1
}

passed=0
failed=0

# check <what> <how to fix it> <function>
check() {
  local start=$SECONDS
  say "checking $1"
  if "$3"; then
    passed=$((passed + 1))
    say "$1: passed, in $((SECONDS - start)) s"
  else
    failed=$((failed + 1))
    say "$1: FAILED; $2"
  fi
}

check 'format (clang-format)' \
  "fix: git ls-files '*.cpp' '*.h' | xargs .venv/bin/clang-format -i" check_format
check 'width of comments (at most 100 columns)' \
  'fix: wrap the lines above by hand' check_comment_width
check 'shell scripts (shellcheck)' \
  'fix: shellcheck -f diff -x -P SCRIPTDIR FILE | git apply fixes some findings' check_shell
check 'spelling (codespell)' \
  'fix: .venv/bin/codespell -w FILE; add words of the code to .codespellrc' check_spelling
check 'documentation (Doxygen, links of the site)' \
  'fix: the lines above name the page or header; docs/Doxyfile says what a warning is' tools/docs.sh
check 'code and its locks (clang-tidy, thread-safety analysis)' \
  'fix: clang-tidy -p build/lint --fix UNIT fixes some findings; .clang-tidy lists the checks' check_tidy
echo "$passed passed, $failed failed"
((failed == 0))

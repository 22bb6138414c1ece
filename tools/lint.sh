#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves how the code reads. Every check runs; the last line counts them: "N passed, N failed".
#
#   tools/lint.sh                  clang-tidy over the libraries without LibTorch, and over the tool
#   tools/lint.sh --since COMMIT   clang-tidy over the units that hold a file which differs from COMMIT
#   tools/lint.sh --all            clang-tidy over every unit: LibTorch's libraries, programs and tests too
#
# A unit is what CMake compiles at once: all sources of a library or program, so that clang-tidy
# reads each header once for each of these.
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
    since=$(git rev-parse --verify --quiet "${2:-}^{commit}") || die "no commit '${2:-}'; $usage"
    ;;
  --all) scope=all ;;
  *) die "unknown argument '$1'; $usage" ;;
esac

settings=$(tools/setup.sh --lint --docs)
eval "$settings"
venv_bin=$(dirname "$STEPTAPE_PYTHON")
readonly venv_bin
lint_build=$(build_folder lint)
readonly lint_build
readonly reports=$lint_build/reports
readonly own_folders='(include|src|tools|python|tests|examples|benchmarks)'

# tracked <pattern> ...: the project's files, also those not yet committed, each ended by a NUL
tracked() {
  local file
  while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then printf '%s\0' "$file"; fi
  done < <(git ls-files -z --cached --others --exclude-standard -- "$@")
}

check_format() {
  tracked '*.cpp' '*.h' | xargs -0 "$venv_bin/clang-format" --dry-run -Werror >&2
}

# clang-format leaves comments as they are. In characters, which only some locales count.
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

# units: "<file> <1 if it includes LibTorch, else 0>" for each of our translation units
units() {
  awk -F '"' '
    $2 == "command" {torch = /torch\/csrc\/api\/include/}
    $2 == "file" && $4 !~ /_verify_interface_header_sets|\/(steptape_proto|peer_event)\.dir\/|\/nanobind/ {print $4, torch + 0}
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

# changed_units: the units that hold a file which differs from $since. A header belongs to the units
# that have sources in its folder.
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

# chosen_units: one a line, the slowest kind first
chosen_units() {
  case $scope in
    core) units | awk -v "root=$root" '$2 == 0 && $1 ~ "^" root "/(build/lint/)?(src|tools|python)/" {print $1}' ;;
    since) changed_units ;;
    all) units | sort -s -r -k 2 | cut -d ' ' -f 1 ;;
  esac
}

# tidy_unit <unit>: leaves what clang-tidy says in $reports
tidy_unit() {
  local name=${1#"$root"/} checks=
  name=${name#build/lint/}
  name=${name%/Unity/*}
  name=${name/CMakeFiles\//}
  if [[ $name == tests/* ]]; then checks=$(sed -n "s/^Checks: '\(.*\)'$/\1/p" tests/.clang-tidy); fi
  clang-tidy -p "$lint_build" --quiet "--checks=$checks" "--header-filter=^$root/$own_folders/" \
    "$1" >"$reports/${name//\//-}" 2>&1
}

tidy_units() {
  export -f tidy_unit
  export root lint_build reports own_folders
  xargs -d '\n' -n 1 -P "$(jobs)" bash -c "tidy_unit \"\$1\"" tidy_unit <<<"$1"
}

# Clang's warnings come with it, and so its thread-safety analysis of the core's mutexes.
check_tidy() {
  local chosen
  # The messages that Protocol Buffers generate are included, but not ours to mend.
  configure lint && build lint steptape_proto benchmarks/peer_event.pb.h || return 1
  chosen=$(chosen_units)
  if [[ -z $chosen ]]; then
    say "no unit holds a file that differs from $since"
    return
  fi
  rm -rf "$reports"
  mkdir -p "$reports"
  with_progress "clang-tidy over $(wc -l <<<"$chosen") units" tidy_units "$chosen" && return
  # A header's defect is found in each unit that includes it.
  cat "$reports"/* | grep -E ': (fatal )?error: ' | sort -u >&2 || true
  say "build/lint/reports holds all that clang-tidy says"
  return 1
}

passed=0
failed=0

# check <what> <how to mend it> <function>
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
  "mend it: git ls-files '*.cpp' '*.h' | xargs .venv/bin/clang-format -i" check_format
check 'width of comments (at most 100 columns)' \
  'mend it: wrap the lines above by hand' check_comment_width
check 'shell scripts (shellcheck)' \
  'mend it: shellcheck -f diff -x -P SCRIPTDIR FILE | git apply mends some findings' check_shell
check 'spelling (codespell)' \
  'mend it: .venv/bin/codespell -w FILE; words of the code go into .codespellrc' check_spelling
check 'documentation (Doxygen, links of the site)' \
  'mend it: the lines above name the page or header; docs/Doxyfile says what a warning is' tools/docs.sh
check 'code and its locks (clang-tidy, thread-safety analysis)' \
  'mend it: clang-tidy -p build/lint --fix UNIT mends some findings; .clang-tidy lists the checks' check_tidy
echo "$passed passed, $failed failed"
((failed == 0))

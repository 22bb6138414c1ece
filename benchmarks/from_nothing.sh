#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How long it takes from nothing to a curve of one's own program in C++: pip install, steptape new, build, run, TensorBoard.
#
#   benchmarks/from_nothing.sh WHEEL [FOLDER]
#
# It runs as root in a bare Debian 12, in FOLDER if one is named, with Python, pip, CMake, make and g++ and nothing else.
# Downloads are not counted: Debian's packages, and those of PyPI that TensorBoard and the wheel need.
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"

(($# == 1 || $# == 2)) || die "arguments: got $#; expected a wheel; usage: benchmarks/from_nothing.sh WHEEL [FOLDER]"
wheel=$1
system=${2:-}
[[ -f $wheel ]] || die "$wheel: not found; expected a wheel of Steptape, as tools/wheel.sh makes"
if [[ -z $system ]]; then
  system=$(mktemp -d)
  trap 'rm -rf --one-file-system "$system"' EXIT
fi

if [[ ! -f $system/made ]]; then
  make_system bookworm "$system"
  mkdir -p "$system/usr/local/share/ca-certificates"
  cp /usr/local/share/ca-certificates/*.crt "$system/usr/local/share/ca-certificates" 2>/dev/null || true
  # shellcheck disable=SC2016  # The inner shell expands it.
  with_progress "installing Python, pip, CMake, make and g++" in_system "$system" bash -euc '
    apt-get -q update
    DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
      ca-certificates python3-venv python3-pip cmake make g++'
  touch "$system/made"
fi
rm -rf "$system/srv/downloads" "$system/srv/first"
mkdir -p "$system/srv/downloads" "$system/srv/first"
cp "$wheel" "$system/srv/downloads"
with_progress "downloading TensorBoard and what the wheel needs" in_system "$system" \
  bash -euc 'cd /srv/downloads && pip download -q tensorboard ./*.whl'

cat >"$system/srv/measure.sh" <<'END'
set -euo pipefail
cd /srv/first
total=0
# step <name> <command> ...
step() {
  local name=$1 begin end
  shift
  begin=$(date +%s%N)
  "$@" >>/srv/first/log 2>&1 || { cat /srv/first/log; exit 1; }
  end=$(date +%s%N)
  total=$((total + end - begin))
  printf '%-48s %6.1f s\n' "$name" "$(((end - begin) / 10000000))e-2"
}
# Until the curve of the run arrives, as the page asks for it.
ask_tensorboard() {
  local server
  tensorboard --logdir runs --port 6006 &
  server=$!
  until python3 - <<'PY'
import json, sys, urllib.request
try:
    with urllib.request.urlopen("http://localhost:6006/data/plugin/scalars/scalars?tag=loss&run=first") as answer:
        points = json.load(answer)
except OSError:
    sys.exit(1)
print(len(points), "points of the curve")
sys.exit(not points)
PY
  do
    kill -0 "$server"
    sleep 0.1
  done
  kill "$server"
  wait "$server" || true
}
# cpu <output of times>: the seconds of processor time of all steps
cpu() {
  awk -F '[ms ]' 'NR == 2 {printf "%.1f", $1 * 60 + $2 + $4 * 60 + $5}' "$1"
}
step "python3 -m venv, pip install steptape tensorboard" bash -c '
  python3 -m venv .venv && .venv/bin/pip install --no-index --find-links /srv/downloads steptape tensorboard'
source .venv/bin/activate
step "steptape new demo" steptape new demo
cd demo
step "cmake -B build" cmake -B build
step "cmake --build build" cmake --build build
step "build/demo" build/demo
step "tensorboard --logdir runs, until it shows it" ask_tensorboard
times >/srv/first/times
printf '%-48s %6.1f s, %s s of processor time\n' "from nothing to a curve" "$((total / 10000000))e-2" "$(cpu /srv/first/times)"
steptape plot runs --tag loss
END
say "the wheel: $(stat -c %s "$wheel") bytes"
in_system "$system" bash /srv/measure.sh

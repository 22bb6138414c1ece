#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# JAX: spans of a profile end after its `profile_stop_time`.
#
# Believed: `profile_start_time` and `profile_stop_time` of the plane "Task Environment" enclose all spans. Seen: the calls
# that stop the profile, such as `stop_trace`, are in it, and end a quarter to half a millisecond after the stop time. Who
# divides by the difference of the two times has more than 100 %, and who cuts there loses the end of spans.
#
# Versions: jax 0.10.2 from PyPI, on a CPU. Needs python3 with venv and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet jax==0.10.2

cat >"$folder/profile.py" <<'PYTHON'
import glob
import sys

import jax
import jax.numpy as jnp

jax.config.update("jax_platforms", "cpu")
product = jax.jit(lambda matrix: (matrix @ matrix).sum())
matrix = jnp.ones((200, 200))
product(matrix).block_until_ready()
with jax.profiler.trace(sys.argv[1]):
    for _ in range(5):
        product(matrix).block_until_ready()

(path,) = glob.glob(sys.argv[1] + "/**/*.xplane.pb", recursive=True)
planes = {plane.name: plane for plane in jax.profiler.ProfileData.from_file(path).planes}
facts = dict(planes["Task Environment"].stats)
window = facts["profile_stop_time"] - facts["profile_start_time"]
events = [event for line in planes["/host:CPU"].lines for event in line.events]
late = sorted(event.name for event in events if event.end_ns > window)
print(f"profile: {window / 1e6:.3f} ms; last end: {max(event.end_ns for event in events) / 1e6:.3f} ms; late: {late}")
assert min(event.start_ns for event in events) >= 0
assert any("stop_trace" in name for name in late)
PYTHON
"$folder/venv/bin/python" "$folder/profile.py" "$folder/log"

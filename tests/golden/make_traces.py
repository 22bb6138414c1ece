#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden profiles with the profilers of JAX or TensorFlow; see README.md.

    make_traces.py jax|tensorflow [folder]
"""

import glob
import os
import shutil
import sys
import tempfile

HOST = b"node7"
STEPS = 4

# Profiles name the file of each function: not the one of the machine that made them.
PROGRAM = """
def step(x):
    return np.sum(np.tanh(x @ x))
"""


def program(numpy):
    names = {"np": numpy}
    exec(compile(PROGRAM, "train.py", "exec"), names)
    return names["step"]


def with_jax():
    import jax
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    step, x = jax.jit(program(jax.numpy)), jax.numpy.ones((8, 8))
    step(x).block_until_ready()
    with jax.profiler.trace("profile"):
        for i in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=i):
                step(x).block_until_ready()


def with_tensorflow():
    import tensorflow as tf
    tf.experimental.numpy.experimental_enable_numpy_behavior()
    step, x = tf.function(program(tf.experimental.numpy)), tf.ones((8, 8))
    step(x)
    tf.profiler.experimental.start("profile")
    for i in range(STEPS):
        with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
            step(x)
    tf.profiler.experimental.stop()


def number_at(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def with_our_host(space):
    """An XSpace whose field 4, the names of hosts, is ours. All of its fields are messages or texts."""
    out, at = b"", 0
    while at < len(space):
        key, content = number_at(space, at)
        size, content = number_at(space, content)
        if key >> 3 != 4:
            out += space[at:content + size]
        at = content + size
    return out + bytes([4 << 3 | 2, len(HOST)]) + HOST


def main():
    kind, folder = sys.argv[1], os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else ".")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        {"jax": with_jax, "tensorflow": with_tensorflow}[kind]()
        (space,) = glob.glob("profile/plugins/profile/*/*.xplane.pb")
        with open(space, "rb") as file, open(f"{folder}/{kind}.xplane.pb", "wb") as golden:
            golden.write(with_our_host(file.read()))
        for trace in glob.glob("profile/plugins/profile/*/*.trace.json.gz"):
            shutil.copyfile(trace, f"{folder}/{kind}.trace.json.gz")


if __name__ == "__main__":
    main()

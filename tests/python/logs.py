# SPDX-License-Identifier: Apache-2.0
"""Log directories that the tests read: of the C++ writer, of torch, and as TensorFlow leaves them."""

import contextlib
import os
import warnings

import peer_logs
import peer_numbers
import reader_runs
import writer_program


def write_all(log_dir):
    """Every kind of value, of every writer."""
    for form in ("compatible", "tensor"):
        writer_program.run("kinds", form, os.path.join(log_dir, "cpp", form),
                           os.path.join(log_dir, f"{form}.jsonl"))
    with contextlib.redirect_stdout(None), warnings.catch_warnings(action="ignore"):
        peer_logs.Torch(os.path.join(log_dir, "torch"), peer_numbers.make()).log_all()
    for write in reader_runs.ALL:
        write(log_dir)


def run_directories(log_dir):
    """The directories that hold event files."""
    return sorted(directory for directory, _, files in os.walk(log_dir)
                  if any("tfevents" in file for file in files))


def run_name(directory, log_dir):
    return os.path.relpath(directory, log_dir)


def one_run(log_dir, tags=2, steps=100, form="compatible"):
    """Curves of the C++ writer in `log_dir` itself."""
    writer_program.run("curves", form, log_dir, tags, steps)
    return log_dir

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the peak memory of Steptape's reader for a file of images that is far larger.

    benchmarks/image_memory.py build/release/bin/reading_benchmark

The file holds 2 GiB of images of 200 KB to 1 MB each. A process reads the file and then each image. The script
compares its peak resident memory with that of the same program reading nothing. TMPDIR selects the folder of the
file, which is removed at the end.
"""

import argparse
import os
import subprocess
import tempfile

MEBIBYTE = 1 << 20
MOST_MEBIBYTES = 64


def peak(program, *arguments):
    """Returns the peak memory in MiB and the number of images read."""
    output = subprocess.run([program, "--peak", *arguments], check=True, capture_output=True,
                            text=True).stdout
    peak_bytes, images = map(int, output.split())
    return peak_bytes / MEBIBYTE, images


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reading_benchmark", help="the program that reads")
    program = os.path.abspath(parser.parse_args().reading_benchmark)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "events.out.tfevents.1")
        subprocess.run([program, "--write-images", path], check=True)
        size = os.path.getsize(path) / MEBIBYTE
        nothing, _ = peak(program)
        print("Peak resident memory in MiB")
        print(f"  {'a process that reads nothing':52} {nothing:10.2f}")
        for threads in 1, 2:
            reading, images = peak(program, path, str(threads))
            verdict = "within" if reading - nothing <= MOST_MEBIBYTES else "MISSES"
            print(f"  {f'more for {images} images of {size:.0f} MiB, threads: {threads}':52}"
                  f" {reading - nothing:10.2f}  {verdict} {MOST_MEBIBYTES}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches for event files that TensorBoard and Steptape read differently.

    STEPTAPE_TOOL=build/release/bin/steptape tests/interop/loader_fuzz.py [--seconds 60] [--seed 1] [--runs COUNT]

Writes random valid runs (random_runs.py) and reads them with TensorBoard's data server, its Python loader and
EventAccumulator, and with `steptape check`, `export`, `inspect` and, if the module is in PYTHONPATH, steptape.read().
A finding is

- a value that a file holds, or that TensorBoard shows, and that `export --format jsonl --all` does not name,
- a loss that `check` does not report for a loader, or reports where there is none,
- a count of `inspect`, a row of CSV or a series of read() that disagrees with the records.

Prints each kind of finding once, with the smallest run that has it; exits with 1 if there is any. The same seed and
number of runs give the same runs.
"""

import argparse
import collections
import csv
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

from tensorboard.backend.event_processing import event_accumulator

import loader_oracle
from patience import PATIENCE_SECONDS
from random_runs import random_run, rng_of
from reader_runs import Run
from written_values import lost_values, written_values

try:
    import steptape
except ImportError:
    steptape = None

BATCH = 25
_ENDLESS = dict.fromkeys(event_accumulator.DEFAULT_SIZE_GUIDANCE, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=None, help="stop after this many runs instead")
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    smallest = {}
    count = 0
    while count < arguments.runs if arguments.runs else time.monotonic() < deadline:
        batch = {f"run{number}": random_run(rng_of(arguments.seed, number))
                 for number in range(count, count + BATCH)}
        for name, findings in findings_of(batch).items():
            for kind, text in findings.items():
                if kind not in smallest:
                    files, text = shrunk(batch[name], kind, text)
                    smallest[kind] = text
                    report(f"seed {arguments.seed}, {name}", kind, text, files)
        count += BATCH
    print(f"{count} runs, {len(smallest)} kinds of findings")
    return 1 if smallest else 0


def report(name, kind, text, files):
    print(f"== {kind} ({name})\n{text}")
    for number, file in enumerate(files):
        print(f"-- file {number}")
        for event in file:
            print("  " + " ".join(str(event).split())[:600])
    sys.stdout.flush()


def findings_of(runs):
    """Returns {name: {kind: text}} for {name: files}."""
    directory = tempfile.mkdtemp()
    try:
        for name, files in runs.items():
            run = Run(directory, name)
            for file in files:
                run.file(*file)
        ours = Ours(directory)
        fast = loader_oracle.pages(directory, fast=True)
        findings = {}
        for name, files in runs.items():
            slow = loader_oracle.pages(os.path.join(directory, name), fast=False)
            of_run = {}
            for kind, text in compare(name, files, ours, fast, slow, os.path.join(directory, name)):
                of_run.setdefault(kind, text)
            if of_run:
                findings[name] = of_run
        return findings
    finally:
        shutil.rmtree(directory)


class Ours:
    """What Steptape says of all runs of a log directory."""

    def __init__(self, directory):
        self.directory = directory
        self.checked = self._by_run(json.loads(tool("check", "--json", directory))["runs"])
        self.inspected = self._by_run(json.loads(tool("inspect", "--json", directory))["runs"])
        self.all = self._records("--all")
        self.kept = self._records()
        self.rows = collections.defaultdict(collections.Counter)
        for row in csv.DictReader(io.StringIO(tool("export", "--format", "csv", "--layout", "long", directory))):
            self.rows[self._name(row["run"])][row["tag"]] += 1
        self.read = None
        if steptape:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.read = steptape.read(directory, purge="restarts", progress=False)

    def _name(self, run):
        return os.path.relpath(run, self.directory)

    def _by_run(self, runs):
        return {self._name(run["run"]): run for run in runs}

    def _records(self, *options):
        records = collections.defaultdict(list)
        for line in tool("export", "--format", "jsonl", *options, self.directory).splitlines():
            record = json.loads(line)
            if not record["tag"].startswith("__run_graph__"):
                records[self._name(record["run"])].append(record)
        return records


def tool(*arguments):
    result = subprocess.run([os.environ["STEPTAPE_TOOL"], *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, timeout=PATIENCE_SECONDS)
    if result.returncode not in (0, 1):
        raise RuntimeError(f"steptape {arguments}: exit code {result.returncode}")
    return result.stdout.decode()


def compare(name, files, ours, fast, slow, directory):
    """Yields (kind, text) of each finding in a run."""
    values = written_values(files)
    yield from compare_check(name, values, ours.checked.get(name), fast, slow)
    yield from compare_records(values, ours.all[name])
    for loader, answers, run in (("fast", fast, name), ("slow", slow, ".")):
        yield from compare_shown(loader, answers, run, values, ours.all[name])
    yield from compare_accumulator(directory, ours.all[name])
    counts = collections.Counter(record["tag"] for record in ours.kept[name])
    inspected = collections.Counter()
    for row in ours.inspected[name]["tags"]:  # a row for each kind of a tag
        inspected[row["tag"]] += row["points"]
    for tag, count in counts.items():
        if inspected[tag] != count:
            yield "inspect: number of points", f"{tag!r}: got {inspected[tag]}; expected {count}"
    numbers = collections.Counter(record["tag"] for record in ours.kept[name]
                                  if record["plugin"] == "scalars" and is_number(record.get("value")))
    for tag, count in numbers.items():
        if ours.rows[name][tag] != count:
            kind = "csv: number of rows" + (" of a mixed tag" if counts[tag] != count else "")
            yield kind, f"{tag!r}: got {ours.rows[name][tag]}; expected {count}"
    if ours.read is not None and name in ours.read:
        for tag, count in counts.items():
            run = ours.read[name]
            kinds = [run[tag, kind] for kind in run.kinds(tag)] if tag in run else []
            got = sum(len(series) for series in kinds)
            if got != count:
                yield "read(): number of values", f"{tag!r}: got {got}; expected {count}"
            elif not any("problem" in record or "dtype" in record for record in ours.kept[name]
                         if record["tag"] == tag):
                for series in kinds:
                    yield from compare_readable(tag, series)


def compare_check(name, values, checked, fast, slow):
    for reader, answers, run, tolerates_binary32 in (("fast_data_server", fast, name, False),
                                                     ("python_loader", slow, ".", True)):
        lost = lost_values(values, answers, run, tolerates_binary32)
        claims = [finding for finding in checked["findings"] if finding[reader] == "loss"] if checked else []
        if lost and not claims:
            yield f"check promises the {reader} everything", f"{lost}"
        # A value that a restart has discarded may be the reason.
        strict = [value._replace(is_optional=value.is_metadata) for value in values]
        if claims and not lost and not lost_values(strict, answers, run, tolerates_binary32):
            rules = sorted({finding["rule"] for finding in claims})
            yield f"check reports a loss that is none: {reader}, {rules}", "\n".join(
                f"{finding['tag']}: {finding['message']}" for finding in claims)


def compare_records(values, records):
    left = list(records)
    for value in values:
        if value.is_metadata:
            continue
        candidates = [record for record in left if record["tag"] == value.name and record["step"] == value.step
                      and is_same(record["wall_time"], value.wall_time)]
        if not candidates:
            yield "jsonl: a value is not named", f"{value}"
            continue
        right = next((record for record in candidates if has_meaning(record, value)), None)
        if right is None:
            yield f"jsonl: another value: {value.page}", f"{value}\n{candidates[0]}"
        left.remove(right or candidates[0])


def compare_shown(loader, answers, run, values, records):
    """Whatever a page shows must be among our records."""
    # The data server shows a value without a tag, whatever the name of its node is.
    names = {value.name for value in values if value.tag != value.name}
    places = {(tag, record["step"], normal(record["wall_time"])) for record in records
              for tag in (record["tag"], *([""] if record["tag"] in names else []))}
    for page, answer in answers.items():
        for (of, tag), shown in answer.tags.items():
            for step, wall_time, content in (shown.points or []) if of == run else []:
                is_empty = content == [] or page == "text" and "<td>" not in content and "<p>" not in content
                if (tag, step, normal(wall_time)) not in places and not is_empty:
                    yield f"{loader}: shows what jsonl does not name", f"{page} {tag!r} {step} {wall_time}: {content!r}"


def compare_accumulator(directory, records):
    """EventAccumulator must not have values that we have not."""
    places = collections.Counter((record["tag"], record["step"], normal(record["wall_time"])) for record in records)
    accumulator = event_accumulator.EventAccumulator(directory, size_guidance=_ENDLESS)
    try:
        accumulator.Reload()
    except Exception:  # it has nothing then
        return
    tags = accumulator.Tags()
    found = collections.Counter()
    for kind, items in (("scalars", accumulator.Scalars), ("images", accumulator.Images), ("audio", accumulator.Audio),
                        ("histograms", accumulator.Histograms), ("tensors", accumulator.Tensors)):
        for tag in tags[kind]:
            for item in items(tag):
                found[(tag, item.step, normal(item.wall_time))] += 1
    for place, count in (found - places).items():
        yield "EventAccumulator: has what jsonl does not name", f"{place}: {count} more"


def compare_readable(tag, series):
    """Every value that is exported in the form of its plugin must be readable in Python."""
    try:
        for value in series.values:
            del value
    except steptape.DataError as error:
        yield "read(): a value cannot be read", f"{tag!r}, {series.kind}: {error}"


def has_meaning(record, value):
    meaning = value.meaning
    if meaning is None or meaning == () or value.page is None or record["plugin"] != value.page:
        return True  # named, which is all
    if "problem" in record:
        return False
    if value.page == "scalars":
        number = record["value"][0] if isinstance(record["value"], list) else record["value"]
        return is_number(number) and is_same(number_in(number), float(meaning))
    if value.page == "text":
        texts = record["value"] if isinstance(record["value"], list) else [record["value"]]
        return texts == [text.decode(errors="replace") for text in meaning]
    if value.page == "histograms":
        if "dtype" in record:
            return False
        rows = [[number_in(number) for number in row] for row in record["value"]]
        return are_same_rows(rows, meaning) or are_same_rows(rows, without_empty_ends(meaning))
    if value.page in ("images", "audio"):
        blobs = record.get("images" if value.page == "images" else "clips")
        return blobs is not None and [blob["bytes"] for blob in blobs] == [len(blob) for blob in meaning]
    if not isinstance(record["value"], dict):
        return False
    return all(map(is_same, record["value"]["recall"], meaning)) and len(record["value"]["recall"]) == len(meaning)


def without_empty_ends(rows):
    full = [i for i, row in enumerate(rows) if row[2] != 0]
    if not full:
        return []
    kept = [list(row) for row in rows[full[0]:full[-1] + 1]]
    kept[0][0], kept[-1][1] = rows[0][0], rows[-1][1]
    return kept


def are_same_rows(a, b):
    return len(a) == len(b) and all(len(x) == len(y) and all(map(is_same, x, y)) for x, y in zip(a, b))


def is_number(value):
    return isinstance(value, (int, float)) or value in ("NaN", "Infinity", "-Infinity")


def number_in(value):
    return float(value) if isinstance(value, str) else value


def normal(number):
    number = number_in(number)
    return "NaN" if math.isnan(number) else number


def is_same(a, b):
    return normal(a) == normal(b)


def shrunk(files, kind, text):
    """Removes files, events and values as long as the finding stays."""
    def still_has(candidate):
        nonlocal text
        found = findings_of({"run": candidate}).get("run", {})
        if kind in found:
            text = found[kind]
        return kind in found

    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in smaller(files):
            if still_has(candidate):
                files = candidate
                is_smaller = True
                break
    return files, text


def smaller(files):
    for i in range(len(files)):
        if len(files) > 1:
            yield files[:i] + files[i + 1:]
    for i, file in enumerate(files):
        for j, event in enumerate(file):
            yield [*files[:i], file[:j] + file[j + 1:], *files[i + 1:]]
            for k in range(len(event.summary.value)):
                if len(event.summary.value) > 1:
                    shorter = type(event)()
                    shorter.CopyFrom(event)
                    del shorter.summary.value[k]
                    yield [*files[:i], [*file[:j], shorter, *file[j + 1:]], *files[i + 1:]]


if __name__ == "__main__":
    sys.exit(main())

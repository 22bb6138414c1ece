#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches for traces that `steptape profile` and `merge-traces` read or convert wrong.

    STEPTAPE_TOOL=build/release/bin/steptape tests/interop/trace_fuzz.py [--seconds 60] [--seed 1] [--jobs COUNT]

Writes random valid traces (random_traces.py), and compares with what they mean (trace_oracle.py)

- the numbers of `profile --json`, which the converted copies must have too,
- the spans, steps and arrows of the copies as .json, .pftrace, .xplane.pb and .folded, and of `merge-traces`: none is
  missing, none has another time, and the slices of each track nest, as viewers require,
- what XProf's trace viewer draws of the profiles,
- what HolisticTraceAnalysis reads of PyTorch's traces and of the copies. Its successor traceinsight has the same
  module: PYTHONPATH=.cache/traceinsight tests that.

Prints each kind of finding once, with the smallest job that has it; exits with 1 if there is any. The same seed and
number of jobs give the same jobs.
"""

import argparse
import collections
import contextlib
import dataclasses
import decimal
import gzip
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time

from google.protobuf import message
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

import trace_oracle
from patience import PATIENCE_SECONDS
from perfetto_model import Model
from random_traces import HOST, OVERHEAD, random_job, rng_of, smaller, write
from xplane_messages import XSpace

try:
    from hta.common.trace_parser import parse_trace_dataframe
    from hta.configs.parser_config import ParserConfig
    logging.getLogger("hta").setLevel(logging.CRITICAL)
except ImportError:
    parse_trace_dataframe = None
try:
    from xprof.convert import raw_to_tool_data
except ImportError:
    raw_to_tool_data = None

NANOS = decimal.Decimal(1_000)
ENDINGS = ("json", "json.gz", "pftrace", "pftrace.gz", "folded", "xplane.pb")
# Lines of XProf's own, with what it derives from the others or draws elsewhere.
DERIVED_LINES = range(-559_038_737, -559_038_446)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=None, help="stop after this many jobs instead")
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    smallest = set()
    count = 0
    while count < arguments.jobs if arguments.jobs else time.monotonic() < deadline:
        job = random_job(rng_of(arguments.seed, count))
        for kind, text in findings_of(job).items():
            if kind not in smallest:
                smallest.add(kind)
                report(f"seed {arguments.seed}, job {count}", kind, *shrunk(job, kind, text))
        count += 1
    print(f"{count} jobs, {len(smallest)} kinds of findings")
    return 1 if smallest else 0


def report(name, kind, job, text):
    print(f"== {kind} ({name})\n{text}")
    for file in job:
        print(f"-- {dataclasses.replace(file, processes=[])}")
        for process in file.processes:
            print(f"   process {process.pid}")
            for each in (*process.steps, *process.spans, *process.memory, *process.counters):
                print(f"     {each}"[:300])
    sys.stdout.flush()


def shrunk(job, kind, text):
    """Removes parts as long as the finding stays, for half a minute at most."""
    deadline = time.monotonic() + 30
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in smaller(job):
            found = findings_of(candidate)
            if kind in found:
                job, text, is_smaller = candidate, found[kind], True
                break
            if time.monotonic() > deadline:
                return job, text
    return job, text


def findings_of(job):
    """Returns {kind: text}."""
    directory = tempfile.mkdtemp()
    try:
        found = {}
        for kind, text in compare(job, directory):
            found.setdefault(kind, text)
        return found
    finally:
        shutil.rmtree(directory)


class Failure(Exception):
    pass


def tool(*arguments):
    result = subprocess.run([os.environ["STEPTAPE_TOOL"], *arguments], capture_output=True, timeout=PATIENCE_SECONDS)
    if result.returncode != 0:
        raise Failure(f"{arguments}: exit code {result.returncode}: {result.stderr.decode()}")
    return result.stdout.decode(), result.stderr.decode()


def compare(job, directory):
    """Yields (kind, text) of each finding in a job."""
    try:
        paths = [write(file, f"{directory}/rank{number}") for number, file in enumerate(job)]
        output, notes = tool("profile", "--json", *paths)
        if notes:
            yield "profile: notes about a valid trace", notes
        profiles = json.loads(output)["traces"]
        processes = [(file, process) for file in job for process in file.processes]
        if len(profiles) != len(processes):
            yield "profile: number of processes", f"got {len(profiles)}; expected {len(processes)}"
            return
        for (file, process), profile in zip(processes, profiles):
            yield from compare_profile(file, process, profile)
        yield from compare_copies(directory, processes, paths, profiles)
        if job[0].form.startswith("torch") and parse_trace_dataframe:
            for path, file in zip(paths, job):
                yield from compare_analysis("original", path, file)
            if len(paths) == 1:
                yield from compare_analysis("copy", f"{directory}/copy.json", job[0])
    except Failure as failure:
        yield "steptape: fails", str(failure)


# --- Numbers


def compare_profile(file, process, profile):
    form = file.form
    if profile["process"] != (0 if form == "xplane" else process.pid):
        yield f"{form}: process", f"got {profile['process']}; expected {process.pid}"
    if profile["spans"] != len(process.spans) or profile["dropped_spans"]:
        yield (f"{form}: number of spans", f"got {profile['spans']} and {profile['dropped_spans']} dropped; "
                                           f"expected {len(process.spans)}")
    window = trace_oracle.window_of(file, process)
    start = profile["start_unix_nanos"]
    if file.base and start != file.base + window[0] or not file.base and start not in (None, window[0]):
        yield f"{form}: start", f"got {start}; expected {file.base} + {window[0]}"
    for key, expected in (("window_ms", window[1] - window[0]), ("covered_ms", trace_oracle.covered(process, window))):
        if nanos(profile[key]) != expected:
            yield f"{form}: {key}", f"got {profile[key]}; expected {expected} ns"
    yield from compare_operators(form, trace_oracle.operators(process), profile["operators"])
    yield from compare_steps(form, process, profile["steps"])
    yield from compare_memory(form, trace_oracle.memory(process), profile["memory"])


def nanos(milliseconds):
    return round(milliseconds * 1e6)


def compare_operators(form, expected, rows):
    got = collections.defaultdict(lambda: [0, 0, 0])
    for row in rows:
        for i, value in enumerate((row["calls"], nanos(row["self_ms"]), nanos(row["total_ms"]))):
            got[row["name"]][i] += value
    for name in expected.keys() | got.keys():
        calls, self_time, least, most = expected.get(name, (0, 0, 0, 0))
        if got[name][0] != calls:
            yield f"{form}: calls", f"{name!r}: got {got[name][0]}; expected {calls}"
        if got[name][1] != self_time:
            yield f"{form}: self time", f"{name!r}: got {got[name][1]}; expected {self_time} ns"
        if not least <= got[name][2] <= most:
            yield f"{form}: total time", f"{name!r}: got {got[name][2]}; expected {least} to {most} ns"


def compare_steps(form, process, rows):
    if [row["step"] for row in rows] != [step.number for step in process.steps]:
        yield f"{form}: steps", f"got {[row['step'] for row in rows]}; expected {process.steps}"
        return
    for row, step, (number, parts) in zip(rows, process.steps, trace_oracle.steps(process)):
        got = {part: nanos(row[f"{part}_ms"]) for part in parts}
        if nanos(row["total_ms"]) != step.end - step.start or sum(got.values()) != step.end - step.start:
            yield f"{form}: total of a step", f"{number}: got {row}; expected {step.end - step.start} ns"
        if min(got.values()) < 0:
            yield f"{form}: a part of a step is negative", f"{number}: {got}"
        if got != parts:
            yield f"{form}: parts of a step", f"{number}: got {got}; expected {parts}"


def compare_memory(form, expected, devices):
    got = {device["device"]: (device["peak_bytes"], {
        row["name"]: [row["allocations"], row["allocated_bytes"], row["freed_bytes"]] for row in device["operators"]})
        for device in devices}
    if got != expected:
        yield f"{form}: memory", f"got {got}; expected {expected}"


# --- Copies


def compare_copies(directory, processes, paths, profiles):
    form = processes[0][0].form
    for ending in ENDINGS if len(processes) == 1 else ENDINGS[:-1]:
        copy = f"{directory}/copy.{ending}"
        tool("profile", *paths, "--output", copy)
        if ending == "folded":
            yield from compare_stacks(processes, copy)
        else:
            yield from compare_copy(f"{form} as {ending}", copy, processes)
        if "json" in ending or ending == "xplane.pb":
            output, notes = tool("profile", "--json", copy)
            if notes:
                yield f"{form} as {ending}: notes about our own trace", notes
            for (_, process), got, expected in zip(processes, json.loads(output)["traces"], profiles):
                yield from compare_again(f"{form} as {ending}, read again", got, expected, {"file"})
    if len(processes) > 1 or len(paths) > 1:
        for ending in ("json", "pftrace.gz"):
            tool("merge-traces", *paths, "--output", f"{directory}/merged.{ending}")
            yield from compare_copy(f"{form} merged as {ending}", f"{directory}/merged.{ending}", processes)


def compare_again(kind, got, expected, left_out):
    for key in expected.keys() - left_out:
        if key in ("operators", "memory"):
            a, b = (sorted(json.dumps(row, sort_keys=True) for row in each[key]) for each in (got, expected))
        else:
            a, b = got[key], expected[key]
        if a != b:
            yield f"{kind}: {key}", f"got {a}\nexpected {b}"


def compare_copy(kind, copy, processes):
    if "xplane" in copy:
        (_, process), = processes
        found, problems = spans_of_xplane(copy)
        expected = expected_spans(processes, lambda process, row: "thread" if row[0] == HOST else row[0])
    elif "pftrace" in copy:
        found, problems = spans_of_perfetto(copy)
        expected = expected_spans(processes, lambda process, row: (
            process, str(row[1]) if row[0] == HOST else f"stream {row[1]}"))
    else:
        found, problems = spans_of_chrome(copy)
        expected = expected_spans(processes, lambda process, row: (process, *row))
    for problem in problems:
        yield f"{kind}: {problem[0]}", problem[1]
    if "xplane" not in copy:
        expected += expected_points(processes)
    if found != expected:
        lost, new = (list(rest.items())[:4] for rest in (expected - found, found - expected))
        yield f"{kind}: spans", f"lost {lost}\nnew {new}"
    if "xplane" in copy and raw_to_tool_data:
        yield from compare_drawn(kind, copy, process)


def expected_spans(processes, place):
    spans = collections.Counter()
    for number, (file, process) in enumerate(processes):
        for span in process.spans:
            row = span.row if span.row != OVERHEAD else (HOST, 0)
            spans[place(number, row), span.name, file.base + span.start, file.base + span.end] += 1
        for step in process.steps:
            spans[place(number, step.row), f"ProfilerStep#{step.number}", file.base + step.start,
                  file.base + step.end] += 1
    return spans


def expected_points(processes):
    """Memory events and counters."""
    points = collections.Counter()
    for number, (file, process) in enumerate(processes):
        for event in process.memory:
            points[number, "[memory]", file.base + event.time, event.bytes] += 1
        for counter in process.counters:
            for time, value in counter.points:
                points[number, counter.name, file.base + time, value] += 1
    return points


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def spans_of_chrome(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal, parse_constant=refuse)
    base, events, problems = trace["baseTimeNanoseconds"], trace["traceEvents"], []
    numbers = {event["pid"]: (number, HOST) for number, event in enumerate(
        event for event in events if event["name"] == "steptape_process")}
    for event in events:
        if event["name"] == "steptape_device":
            numbers[event["pid"]] = (numbers[event["args"]["process"]][0], event["args"]["device"])
    ends = collections.defaultdict(list)
    rows = collections.defaultdict(list)
    arrows = collections.defaultdict(list)
    spans = collections.Counter()

    def time_of(value):
        scaled = decimal.Decimal(value) * NANOS
        if scaled != int(scaled) or scaled < 0:
            problems.append(("a time is no number of nanoseconds", str(value)))
        return base + int(scaled)

    for event in events:
        if event["ph"] == "e":
            ends[event["id"]].append(event)
    for event in events:
        place = numbers.get(event["pid"])
        place = place and ((place[0], place[1], event["tid"]))
        if event["ph"] == "X":
            start = time_of(event["ts"])
            end = start + time_of(event["dur"]) - base
            rows[place].append((start, -end, event["name"]))
        elif event["ph"] == "b":
            if len(ends[event["id"]]) != 1:
                problems.append(("an asynchronous span has not one end", str(event)))
                continue
            start, end = time_of(event["ts"]), time_of(ends[event["id"]][0]["ts"])
        else:
            if event["ph"] in "sf":
                arrows[event["cat"], event["id"], event["ph"]].append((place, time_of(event["ts"])))
            elif event["name"] == "[memory]":
                spans[place[0], "[memory]", time_of(event["ts"]), event["args"]["Bytes"]] += 1
            elif event["ph"] == "C" and event.get("cat") != "memory":
                spans[place[0], event["name"], time_of(event["ts"]), float(event["args"]["value"])] += 1
            continue
        spans[place, event["name"], start, end] += 1
    for row, slices in rows.items():
        problems += [("slices do not nest", f"{row}: {text}") for text in not_nested(slices)]
        begins = {start for start, _, _ in slices}
        for key, places in arrows.items():
            problems += [("an arrow has no slice", f"{key} {time}") for place, time in places
                         if place == row and time not in begins]
    for (category, number, phase), places in arrows.items():
        others = arrows.get((category, number, "f" if phase == "s" else "s"), [])
        if len(places) != 1 or len(others) != 1 or phase == "s" and others[0][1] < places[0][1]:
            problems.append(("an arrow has not two ends", f"{category} {number}"))
    return spans, problems


def not_nested(slices):
    """Texts about slices (start, -end, name) that end outside of the one in which they begin."""
    opened = []
    for start, end, name in sorted(slices):
        while opened and -opened[-1][1] <= start:
            opened.pop()
        if opened and -end > -opened[-1][1]:
            yield f"{name} {start} {-end} in {opened[-1]}"
        opened.append((start, end, name))


def spans_of_perfetto(path):
    trace = Trace()
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        trace.ParseFromString(file.read())
    problems = []
    try:
        model = Model(trace)
    except (AssertionError, IndexError, TypeError) as error:
        return collections.Counter(), [("breaks Perfetto's rules", repr(error))]
    numbers = {}
    for track in model.tracks.values():
        if track.HasField("process"):
            numbers.setdefault(track.process.pid, len(numbers))
    for flow, ends in model.flows.items():
        if len(ends) != 2:
            problems.append(("an arrow has not two ends", f"{flow} {ends}"))
    # Kineto's names of streams end in a blank.
    spans = collections.Counter(((numbers[span.process], str(span.thread).strip()), span.name, span.start, span.end)
                                for span in model.slices)
    for process, _, name, time, values in model.instants:
        if name == "[memory]":
            spans[numbers[process], name, time, dict(values)["Bytes"]] += 1
    for (process, name), points in model.counters.items():
        for time, value in () if name.startswith("memory of ") else points:
            spans[numbers[process], name, time, value] += 1
    return spans, problems


def spans_of_xplane(path):
    space, problems = XSpace(), []
    try:
        with open(path, "rb") as content:
            space.ParseFromString(content.read())
    except message.DecodeError as error:
        return collections.Counter(), [("is no profile", str(error))]
    spans = collections.Counter()
    start_time = 0
    for plane in space.planes:
        for stat in plane.stats:
            if plane.stat_metadata[stat.metadata_id].name == "profile_start_time":
                start_time = stat.uint64_value
    for plane in space.planes:
        place = int(plane.name.rsplit(":", 1)[1]) if plane.name.startswith("/device:") else "thread"
        for line in plane.lines:
            if line.id in DERIVED_LINES or line.name == "_counters_":
                continue
            slices = []
            for event in line.events:
                metadata = plane.event_metadata[event.metadata_id]
                name = metadata.display_name or metadata.name
                start_picos = line.timestamp_ns * 1000 + event.offset_ps
                end_picos = start_picos + event.duration_ps
                slices.append((start_picos, -end_picos, name))
                start, end = ((picos + 500) // 1000 for picos in (start_picos, end_picos))
                if line.timestamp_ns < 10 ** 18:
                    start, end = start + start_time, end + start_time
                spans[place, name, start, end] += 1
            problems += [("slices of a line do not nest", f"{line.name}: {text}") for text in not_nested(slices)]
    return spans, problems


@contextlib.contextmanager
def without_log():
    """XProf's library writes several lines for each call."""
    kept = os.dup(2)
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def compare_drawn(kind, copy, process):
    """XProf draws each span, one of no length as an instant."""
    with without_log():
        data, _ = raw_to_tool_data.xspace_to_tool_data([copy], "trace_viewer", {})
    drawn = collections.Counter(event["name"] for event in json.loads(data)["traceEvents"]
                                if event.get("ph") in ("X", "i"))
    expected = collections.Counter(span.name for span in process.spans)
    missing = expected - drawn
    if missing:
        yield f"{kind}: XProf draws less", f"{missing}"


def compare_stacks(processes, copy):
    got = collections.Counter()
    with open(copy, encoding="utf-8") as file:
        for line in file.read().splitlines():
            stack, _, number = line.rpartition(" ")
            got[stack.rsplit(";", 1)[-1]] += int(number)
    expected, calls = collections.Counter(), collections.Counter()
    for _, process in processes:
        for name, (count, self_time, _, _) in trace_oracle.operators(process).items():
            frame = name.replace(";", ",")
            expected[frame] += self_time / 1000
            calls[frame] += count
    for name in expected.keys() | got.keys():
        if abs(got[name] - expected[name]) > 0.5 * calls[name] + 0.01:
            yield (f"{processes[0][0].form} as folded: self time",
                   f"{name!r}: got {got[name]}; expected {expected[name]} us")


# --- HolisticTraceAnalysis


def compare_analysis(what, path, file):
    """Its rows are the spans, with times rounded to microseconds."""
    (process,) = file.processes
    kind = f"HolisticTraceAnalysis of the {what}"
    try:
        _, frame, symbols = parse_trace_dataframe(path, ParserConfig.get_default_cfg())
    except Exception as error:  # which ones, it does not say
        yield f"{kind}: fails", repr(error)
        return
    names = symbols.get_sym_table()
    got, lengths = collections.Counter(), collections.Counter()
    for number, length in zip(frame["name"], frame["dur"]):
        got[names[number]] += 1
        lengths[names[number]] += length
    expected, expected_lengths = collections.Counter(), collections.Counter()
    for span in [*process.spans, *process.steps]:
        name = span.name if span in process.spans else f"ProfilerStep#{span.number}"
        expected[name] += 1
        expected_lengths[name] += (span.end - span.start) / 1000
    if what == "copy" and crosses(process):
        return  # it does not read asynchronous spans
    got = collections.Counter({name: count for name, count in got.items() if name in expected})
    if got != expected:
        yield f"{kind}: spans", f"lost {expected - got}\nnew {got - expected}"
    for name, length in expected_lengths.items():
        if abs(lengths[name] - length) > 2 * expected[name]:
            yield f"{kind}: times", f"{name!r}: got {lengths[name]}; expected {length} us"


def crosses(process):
    """Returns whether a span begins inside another of its thread, or a step, and outlives it, or the reverse."""
    for row, spans in trace_oracle.rows_of(process).items():
        for outer in [*spans, *(step for step in process.steps if step.row == row)]:
            if any(outer.start < span.start < outer.end < span.end or span.start < outer.start < span.end < outer.end
                   for span in spans):
                return True
    return False


if __name__ == "__main__":
    sys.exit(main())

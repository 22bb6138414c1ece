# SPDX-License-Identifier: Apache-2.0
"""What random_traces.py's traces mean: self times, calls, parts of steps and memory, by the rules of docs/profiling.md
and no algorithm of ours. Each moment of a thread belongs to the open span that began last."""

import bisect
import collections

from random_traces import HOST, NODE, NODES

ROUNDING = 1000

_COLLECTIVES = ("c10d::allreduce_", "gloo:all_reduce", "all-reduce.7")
_INPUTS = ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "Iterator::Model")
_OPTIMIZER = ("Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad")
_BACKWARD = (NODES[1], "jit(step)/transpose(jvp(f))/dot")
PARTS = ("input", "forward", "backward", "optimizer", "transfer", "wait", "other")


class Moments:
    """The open spans of a thread in each interval between two times at which a span begins or ends."""

    def __init__(self, spans, more_times=()):
        self.spans = spans  # in the order in which they begin
        times = sorted({time for span in spans for time in (span.start, span.end)} | set(more_times))
        begins = collections.defaultdict(list)
        for index, span in enumerate(spans):
            begins[span.start].append(index)
        self.intervals = []  # start, end, indices of the open spans in the order in which they began
        is_open = []
        for start, end in zip(times, times[1:]):
            is_open = [index for index in is_open if spans[index].end > start]
            is_open += [index for index in begins[start] if spans[index].end > start]
            self.intervals.append((start, end, list(is_open)))


def in_order(spans):
    return sorted(spans, key=lambda span: (span.start, -span.end))


def rows_of(process):
    rows = collections.defaultdict(list)
    for span in process.spans:
        if span.id is None:
            rows[span.row].append(span)
    return {row: in_order(spans) for row, spans in rows.items()}


def operators(process):
    """Returns {name: [calls, self, the least and the largest total]}, times in nanoseconds."""
    found = collections.defaultdict(lambda: [0, 0, 0, 0])
    for spans in rows_of(process).values():
        for start, end, is_open in Moments(spans).intervals:
            if is_open:
                found[spans[is_open[-1]].name][1] += end - start
        for index, span in enumerate(spans):
            row = found[span.name]
            row[0] += 1
            same = [other for other in spans[:index] if other.name == span.name and other.end >= span.start]
            # A span inside one of its name is no second call of it. Whether one that outlasts it by a rounding, or
            # meets it, is inside, and whether spans that cross are inside others, is not said here.
            length = span.end - span.start
            row[3] += length if not any(other.start < span.start and span.end < other.end and is_plain(other, spans)
                                        for other in same) else 0
            row[2] += length if not same else 0
    for span in process.spans:
        if span.id is not None:
            row = found[span.name]
            found[span.name] = [row[0] + 1, row[1], *(total + span.end - span.start for total in row[2:])]
    return found


def is_plain(outer, spans):
    """Returns whether no span begins inside this one and outlives it."""
    return not any(outer.start <= span.start < outer.end < span.end for span in spans)


def covered(process, window):
    """Returns the time in which any thread is in a span."""
    sum_, until = 0, window[0]
    for start, end in sorted((span.start, min(span.end, window[1])) for span in process.spans):
        if end > until:
            sum_ += end - max(start, until)
            until = end
    return sum_


def window_of(file, process):
    times = [time for each in [*process.spans, *process.steps] for time in (each.start, each.end)]
    times += [event.time for event in process.memory]
    times += [time for counter in process.counters for time, _ in counter.points]
    if file.window:
        return min([file.window[0], *times]), file.window[1]
    # A profile of XProf begins at its stated start.
    return (0 if file.form == "xplane" else min(times)), max(times)


def part_of(span, has_nodes):
    if span.name in _COLLECTIVES:
        return "transfer"
    if span.name in _INPUTS:
        return "input"
    if span.name in _OPTIMIZER:
        return "optimizer"
    if span.name in _BACKWARD or (span.name == NODE and has_nodes):
        return "backward"
    return None


def steps(process):
    """Returns a dict of the parts of each step, in nanoseconds."""
    rows = rows_of(process)
    has_nodes = any(span.name == NODES[1] for span in process.spans)
    beside = [(span.start, span.end) for row, spans in rows.items() for span in spans
              if row[0] == HOST and span.name in _COLLECTIVES and process.steps and row != process.steps[0].row]
    kernels = [span for row, spans in rows.items() for span in spans
               if row[0] != HOST and span.category != "gpu_user_annotation"]
    nccl = [(span.start, span.end) for span in kernels if span.name.startswith("nccl")]
    computing = [(span.start, span.end) for span in kernels if not span.name.startswith("nccl")]
    times = [time for pair in [*beside, *nccl, *computing] for time in pair]
    times += [time for step in process.steps for time in (step.start, step.end)]
    answers = []
    spans = rows.get(process.steps[0].row, []) if process.steps else []
    moments = Moments(spans, times).intervals
    starts = [start for start, _, _ in moments]
    for step in process.steps:
        parts = dict.fromkeys(PARTS, 0)
        for start, end, is_open in moments[bisect.bisect_left(starts, step.start):]:
            if start >= step.end:
                break
            is_beside, is_nccl, is_computing = (any(a <= start and end <= b for a, b in pairs)
                                                for pairs in (beside, nccl, computing))
            parts[part_at(spans, is_open, has_nodes, is_beside, is_nccl and not is_computing)] += end - start
        answers.append((step.number, parts))
    return answers


def part_at(spans, is_open, has_nodes, is_beside, waits_for_device):
    """The part to which a moment belongs in which spans of these indices are open."""
    if not is_open:
        return "transfer" if is_beside else "other"
    opened = [spans[index] for index in is_open]
    owner = opened[-1]
    owns = [part for part in (part_of(span, has_nodes) for span in opened) if part]
    is_operator = owner.category == "cpu_op"
    is_call = owner.category == "cuda_runtime"
    in_operator = is_operator or (is_call and is_in_operator(spans, is_open[-1], has_nodes))
    part = owns[-1] if owns else "forward" if in_operator else "other"
    if is_beside and not is_operator and not is_call and part_of(owner, has_nodes) in (None, "backward", "optimizer"):
        return "transfer" if part in ("other", "backward") else part
    if is_call and waits_for_device and ("Synchronize" in owner.name or owner.name.startswith("cudaMemcpy")):
        return "transfer"
    return part


def is_in_operator(spans, index, has_nodes):
    """Returns whether a span begins in an operator that lasts longer, but for a rounding."""
    span = spans[index]
    for number in range(index - 1, -1, -1):
        outer = spans[number]
        inside = outer.end - span.start
        if inside > 0 and span.end - outer.end <= min(ROUNDING, inside):
            is_operator = outer.category == "cpu_op" and part_of(outer, has_nodes) in (None, "backward")
            return is_operator and outer.name != NODE or is_in_operator(spans, number, has_nodes)
    return False


def memory(process):
    """Returns {device: (peak, {operator: [allocations, allocated, freed]})}."""
    rows = rows_of(process)
    devices = {}
    for event in sorted(process.memory, key=lambda event: event.time):
        kind, index = event.device
        name = "cpu" if kind == 0 else f"cuda:{index}"
        device = devices.setdefault(name, [0, 0, {}, collections.defaultdict(lambda: [0, 0, 0])])
        opened = [span for span in rows.get(event.row, []) if span.start < event.time < span.end]
        row = device[3][opened[-1].name if opened else "(no operator)"]
        if event.bytes >= 0:
            row[0] += 1
            row[1] += event.bytes
            device[2][event.address] = event.bytes
            device[0] += event.bytes
        else:
            row[2] -= event.bytes
            device[0] -= device[2].pop(event.address, 0)
        device[1] = max(device[0], device[1])
    return {name: (device[1], dict(device[3])) for name, device in devices.items()}

# SPDX-License-Identifier: Apache-2.0
"""Random valid traces: spans that nest, cross or outlast each other by a rounding, in the forms of PyTorch 1.13 to
2.15, JAX, other programs that write Chrome's format, and XProf."""

import copy
import dataclasses
import gzip
import json
import random
import re

from xplane_messages import XSpace

HOST = -1  # the device of a thread
OVERHEAD = (HOST, -1)  # the row of what Kineto itself did
MICRO = 1000
BASE = 1_795_737_600_000_000_000

OPERATORS = ("aten::mm", "aten::add", "aten::linear", "aten::copy_", "c10d::allreduce_", "größe::op")
NODE = "AddmmBackward0"
NODES = (NODE, f"autograd::engine::evaluate_function: {NODE}")
SCOPES = ("scope; of mine", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad", "gloo:all_reduce",
          "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
FRAMES = ("train.py(10): main", "nn.Module: Linear_0", "<built-in method \"x\">")
CALLS = ("cudaLaunchKernel", "cudaStreamSynchronize", "cudaMemcpyAsync")
KERNELS = (("kernel", "sgemm<float, 128>"), ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"),
           ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"), ("gpu_memset", "Memset (Device)"),
           ("gpu_user_annotation", "scope; of mine"))
ZONES = ("PjitFunction(step)", "ThunkExecutor::Execute", "all-reduce.7", "fusion.3", "Iterator::Model",
         "jit(step)/transpose(jvp(f))/dot")

FORMS = ("torch", "torch micros", "list", "begin end", "jax", "xplane")


@dataclasses.dataclass
class Span:
    row: tuple  # device and thread
    name: str
    category: str
    start: int  # in nanoseconds of the file's clock
    end: int
    arguments: dict = dataclasses.field(default_factory=dict)
    id: int = None  # of an asynchronous span, which takes no time of its thread; those of one id nest
    flow: int = None  # of the arrow from this operator, or to this backward node


@dataclasses.dataclass
class Step:
    number: int
    row: tuple
    start: int
    end: int
    overhang: int = 0  # how much later, by a rounding, the file says that it ends: inside the next step


@dataclasses.dataclass
class Memory:
    row: tuple
    time: int
    address: int
    bytes: int
    device: tuple  # type and index


@dataclasses.dataclass
class Counter:
    name: str
    points: list


@dataclasses.dataclass
class Process:
    pid: int
    spans: list
    steps: list = dataclasses.field(default_factory=list)
    memory: list = dataclasses.field(default_factory=list)
    counters: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class File:
    form: str
    seed: int  # of what does not change the meaning: order, forms of numbers
    base: int  # the Unix time of the clock's 0
    rank: int
    world: int
    processes: list
    window: tuple = None
    is_gzipped: bool = False


def rng_of(seed, number):
    return random.Random(f"{seed} {number}")


def random_job(rng):
    """Returns the files of the ranks of a job."""
    form = rng.choices(FORMS, (6, 3, 1, 2, 2, 3))[0]
    ranks = rng.choice((1, 1, 2, 3)) if form.startswith("torch") or form == "xplane" else 1
    return [random_file(rng, form, rank, ranks) for rank in range(ranks)]


def random_file(rng, form, rank, world):
    unit = MICRO if form == "torch micros" else rng.choice((1, 1, 500, MICRO))
    base = {"torch": BASE, "xplane": BASE + rng.randrange(10 ** 9)}.get(form, 0)
    # The clock of older PyTorch and of Chrome counts from 1970 or the start of the machine.
    began = BASE if form == "torch micros" else rng.choice((0, MICRO, 987_654_321_000, 6_000_000_000_000_000))
    began = began if form != "xplane" else rng.choice((0, 6194))
    pids = rng.sample(range(2, 4_000_000), rng.choice((1, 1, 3)) if form in ("list", "begin end") else 1)
    processes = [Maker(rng, form, unit, began).process(701 if form == "jax" else pid) for pid in pids]
    file = File(form, rng.randrange(10 ** 6), base, rank, world, processes, is_gzipped=rng.random() < 0.2)
    if form.startswith("torch") and rng.random() < 0.8:
        times = [time for process in processes for span in process.spans for time in (span.start, span.end)]
        start = max(0, min(times) - rng.choice((0, 0, 5 * MICRO)))
        file.window = (start, max(start + MICRO, max(times) + rng.choice((0, 7, -3)) * MICRO))
    return file


class Maker:
    """Makes a process. What crosses and juts out is decided per process, so that plain ones remain."""

    def __init__(self, rng, form, unit, began):
        self.rng = rng
        self.form = form
        self.unit = unit
        self.began = began
        nests = form == "begin end"
        self.crossing = 0 if nests else rng.choice((0, 0, 0.02, 0.2))
        self.rounding = 0 if nests else rng.choice((0, 0.05, 0.5))
        self.empty = rng.choice((0, 0.05, 0.3))
        self.twins = rng.choice((0, 0.05))
        self.spans = []
        self.correlation = 0
        self.has_nodes = rng.random() < 0.5

    def length(self, most):
        return self.rng.randint(0, max(0, int(most // self.unit))) * self.unit

    def process(self, pid):
        rng = self.rng
        rows = [(HOST, pid if i == 0 else thread) for i, thread in
                enumerate(rng.sample(range(1, 99_999), rng.choice((1, 2, 4))))]
        total = rng.choice((20, 200, 5000)) * MICRO
        for row in rows:
            self.fill(row, self.began + self.length(total / 10), self.began + total, rng.randint(1, 5), 0)
        if (self.form.startswith("torch") or self.form == "xplane") and rng.random() < 0.4:
            for device in range(rng.choice((1, 2))):
                for stream in rng.sample((7, 13, 20), rng.choice((1, 2))):
                    self.stream((device, stream), total)
        if self.form == "torch" and rng.random() < 0.3:
            self.spans.append(Span(OVERHEAD, "Activity Buffer Request", "overhead", self.began,
                                   self.began + self.length(total)))
        if self.form == "list":
            self.asynchronous(rows, total)
        if not self.spans:
            self.add(rows[0], self.began, self.began + self.unit)
        process = Process(pid, self.spans)
        if self.form in ("torch", "torch micros", "jax", "xplane") and rng.random() < 0.7:
            process.steps = self.steps(rows[0], total)
            # Only PyTorch 2.5 has a Python call that begins with a step and outlasts it, since it moves the step.
            for span in self.spans:
                if span.category == "python_function" and any(
                        abs(span.start - step.start) <= MICRO and span.end > step.end for step in process.steps):
                    span.category, span.name = "user_annotation", SCOPES[0]
            streams = [span.row for span in self.spans if span.row[0] != HOST]
            # PyTorch repeats for devices what the host did.
            if streams and self.form != "xplane" and rng.random() < 0.5:
                self.spans += [Span(streams[0], f"ProfilerStep#{step.number}", "gpu_user_annotation", step.start,
                                    step.end, {"device": streams[0][0], "stream": streams[0][1]})
                               for step in process.steps]
        if self.form == "torch":
            self.link_gradients()
        if self.form.startswith("torch"):
            if rng.random() < 0.4:
                process.memory = self.memory(rows, total)
            if rng.random() < 0.2:
                times = sorted(self.began + self.length(total) for _ in range(3))
                process.counters = [Counter("queue", [(time, rng.choice((0, 1.5, -2))) for time in times])]
        return process

    def fill(self, row, begin, end, children, depth):
        """Spans one behind the other, with others inside."""
        rng = self.rng
        time = begin
        for _ in range(rng.randint(0, children)):
            start = time + self.length((end - time) / 4)
            stop = start + (0 if rng.random() < self.empty else self.length(end - start))
            time = stop
            chance = rng.random()
            if chance < self.crossing:
                stop += self.length((end - begin) / 2)
            elif chance < self.crossing + self.rounding:
                stop += self.length(MICRO)
            for _ in range(2 if rng.random() < self.twins else 1):
                self.add(row, start, stop)
            if depth < 5:
                self.fill(row, start, min(stop, end) if rng.random() < 0.9 else stop, children, depth + 1)

    def add(self, row, start, end):
        rng = self.rng
        if self.form in ("jax", "xplane", "list", "begin end"):
            self.spans.append(Span(row, rng.choice(ZONES + FRAMES), "", start, end))
            return
        category, names = rng.choices((("cpu_op", OPERATORS), ("cpu_op", NODES), ("user_annotation", SCOPES),
                                       ("python_function", FRAMES), ("cuda_runtime", CALLS)),
                                      (6, 2 if self.has_nodes else 0, 1, 1, 1))[0]
        span = Span(row, rng.choice(names), category, start, end)
        if category == "cpu_op" and rng.random() < 0.5:
            span.arguments = {"Input Dims": [[rng.randint(1, 3), 4], []], "Ev Idx": len(self.spans)}
        if category == "cuda_runtime":
            self.correlation += 1
            span.arguments = {"correlation": self.correlation, "cbid": 211}
        self.spans.append(span)

    def stream(self, row, total):
        rng = self.rng
        time = self.began
        for _ in range(rng.randint(0, 8)):
            start = time + self.length(total / 8)
            time = start + self.length(total / 8)
            category, name = rng.choice(KERNELS)
            if self.form == "xplane":
                self.spans.append(Span(row, name, "", start, time))
                continue
            arguments = {"device": row[0], "stream": row[1]}
            if category != "gpu_user_annotation" and self.correlation:
                arguments["correlation"] = rng.randint(1, self.correlation)
            self.spans.append(Span(row, name, category, start, time, arguments))

    def asynchronous(self, rows, total):
        rng = self.rng
        for number in range(rng.choice((0, 0, 2, 5))):
            row, start = rng.choice(rows), self.began + self.length(total)
            end = start + self.length(total)
            self.spans.append(Span(row, "request", "async", start, end, id=number))
            if rng.random() < 0.3:
                inner = start + self.length((end - start) / 2)
                self.spans.append(Span(row, "part of it", "async", inner, inner + self.length(end - inner), id=number))

    def link_gradients(self):
        """Gives backward nodes the sequence numbers of operators before them."""
        rng = self.rng
        calls = [span for span in self.spans if span.category == "cpu_op" and span.name.startswith("aten::")]
        for number, node in enumerate(span for span in self.spans if span.name == NODE):
            before = [call for call in calls if call.start < node.start and call.flow is None]
            if before and rng.random() < 0.7:
                call = rng.choice(before)
                call.flow = node.flow = number + 1
                call.arguments = {**call.arguments, "Sequence number": number, "Fwd thread id": 0}
                node.arguments = {**node.arguments, "Sequence number": number, "Fwd thread id": 1}

    def steps(self, row, total):
        rng = self.rng
        number, time, steps = rng.choice((0, 3, 100)), self.began + self.length(total / 10), []
        for _ in range(rng.randint(1, 4)):
            end = time + max(self.unit, self.length(total / 3))
            steps.append(Step(number, row, time, end))
            time = end + rng.choice((0, 0, self.length(total / 10)))
            number += 1
        if self.form.startswith("torch"):
            for step, following in zip(steps, steps[1:]):
                if step.end == following.start and rng.random() < 0.3:
                    step.overhang = min(self.unit, following.end - following.start)
        return steps

    def memory(self, rows, total):
        rng = self.rng
        # Which of two spans owns memory at the very time at which they meet, is undefined.
        taken = {time for span in self.spans for time in (span.start, span.end)}
        events, blocks, address = [], {}, 2 ** 46
        times = sorted(self.began + self.length(total) for _ in range(rng.randint(1, 12)))
        for time in times:
            if time in taken:
                continue
            taken.add(time)
            if blocks and rng.random() < 0.4:
                freed = rng.choice(sorted(blocks))
                size, device = blocks.pop(freed)
                events.append(Memory(rng.choice(rows), time, freed, -size, device))
            else:
                address += 4096
                blocks[address] = (rng.choice((4, 512, 2 ** 33)), rng.choice(((0, -1), (1, 0), (1, 1))))
                events.append(Memory(rng.choice(rows), time, address, *blocks[address]))
        return events


# --- Files


def write(file, path):
    """Writes the file, and returns its path with the ending of its form."""
    content = xplane_of(file).SerializeToString() if file.form == "xplane" else json_of(file).encode()
    path += ".xplane.pb" if file.form == "xplane" else ".pt.trace.json"
    if file.is_gzipped:
        path += ".gz"
        content = gzip.compress(content, 1)
    with open(path, "wb") as out:
        out.write(content)
    return path


def json_of(file):
    rng = random.Random(file.seed)
    events = metadata_events(file, rng)
    timed = [event for process in file.processes for event in process_events(file, process, rng)]
    events += timed if file.form == "begin end" else in_order(timed, rng)
    if file.form == "list":
        content = events
    elif file.form == "jax":
        content = {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": [*events, {}]}
    else:
        content = {"schemaVersion": 1, "deviceProperties": []} if file.form != "begin end" else {}
        if file.form.startswith("torch"):
            content["distributedInfo"] = {"backend": "nccl", "rank": file.rank, "world_size": file.world}
            content["host_name"] = f"node{file.rank}"
        if file.form == "torch":
            content["baseTimeNanoseconds"] = file.base
        behind = rng.random() < 0.2  # members may stand behind the events
        content = {"traceEvents": events, **content} if behind else {**content, "traceEvents": events}
    text = json.dumps(content, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, None, 2)))
    text = re.sub(r'"@(\d+)@"', lambda match: _times[int(match[1])], text)
    _times.clear()
    return text


_times = []  # numbers whose form json.dumps() cannot be told


def in_order(events, rng):
    """As they are, in the order of time, or in that of the ends, in which profilers finish spans. Equal spans keep
    their order."""
    key = rng.choice((lambda event: 0, lambda event: event["_start"], lambda event: event["_end"]))
    return [{name: value for name, value in event.items() if name[0] != "_"} for event in sorted(events, key=key)]


def micros(nanos, rng):
    """A time in one of the forms in which it is written."""
    whole, rest = divmod(nanos, MICRO)
    if rest == 0 and rng.random() < 0.7:
        text = str(whole)
    elif rng.random() < 0.1 and nanos < 2 ** 40:
        text = repr(nanos / MICRO)  # also 1e-05
    elif rng.random() < 0.1 and rest % 10 and nanos < 10 ** 10:
        text = f"{whole}.{rest - 1:03}999999999997"
    else:
        text = f"{whole}.{rest:03}"
    _times.append(text)
    return f"@{len(_times) - 1}@"


def metadata_events(file, rng):
    events = []
    for process in file.processes:
        events.append({"name": "process_name", "ph": "M", "pid": process.pid, "tid": 0, "args": {"name": "python3"}})
        if file.form.startswith("torch"):
            events[-1]["ts"] = 1
            events.append({"name": "process_labels", "ph": "M", "pid": process.pid, "tid": 0,
                           "args": {"labels": "CPU"}})
            events.append({"name": "process_sort_index", "ph": "M", "pid": process.pid, "tid": 0,
                           "args": {"sort_index": process.pid}})
        for device in sorted({span.row[0] for span in process.spans} - {HOST}):
            events.append({"name": "process_labels", "ph": "M", "pid": device, "tid": 0,
                           "args": {"labels": f"GPU {device}"}})
        for device, thread in sorted({span.row for span in process.spans} - {OVERHEAD}):
            pid = process.pid if device == HOST else device
            if rng.random() < 0.7:
                events.append({"name": "thread_name", "ph": "M", "pid": pid, "tid": thread, "args": {
                    "name": f"stream {thread} " if device != HOST else f"thread {thread} (python3)"}})
    if file.form.startswith("torch"):
        events.append({"name": "process_name", "ph": "M", "pid": "Spans", "tid": 0, "args": {"name": "Spans"}})
    return events


def process_events(file, process, rng):
    if file.form == "begin end":
        yield from begins_and_ends(process, rng)
        return

    def slice_of(row, name, category, start, end, arguments):
        device, thread = row
        pid, tid = (-1, 0) if row == OVERHEAD else (process.pid if device == HOST else device, thread)
        event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": micros(start, rng),
                 "dur": micros(end - start, rng), "_start": start, "_end": end}
        if not category:
            del event["cat"]
        if arguments or rng.random() < 0.5:
            event["args"] = dict(arguments)
        return event

    if file.window:
        yield {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
               "ts": micros(file.window[0], rng), "dur": micros(file.window[1] - file.window[0], rng),
               "args": {"Op count": 0}, "_start": file.window[0], "_end": file.window[1]}
        yield {"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces",
               "tid": "Trace PyTorch Profiler", "ts": micros(file.window[0], rng), "_start": file.window[0],
               "_end": file.window[0]}
        yield {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "",
               "ts": micros(file.window[1], rng), "_start": file.window[1], "_end": file.window[1]}
    for step in process.steps:
        if file.form == "jax":
            yield slice_of(step.row, "train", "", step.start, step.end, {"step_num": str(step.number)})
        else:
            yield slice_of(step.row, f"ProfilerStep#{step.number}", "user_annotation", step.start,
                           step.end + step.overhang, {})
    for span in process.spans:
        if span.id is not None:
            continue
        yield slice_of(span.row, span.name, span.category, span.start, span.end, span.arguments)
        if span.flow is not None:
            ends = {"ph": "f", "bp": "e"} if span.name == NODE else {"ph": "s"}
            yield {**ends, "cat": "fwdbwd", "name": "fwdbwd", "id": span.flow, "pid": process.pid, "tid": span.row[1],
                   "ts": micros(span.start, rng), "_start": span.start, "_end": span.end}
    # Begins and ends of one id must be in their order.
    for span in (span for span in process.spans if span.id is not None):
        inner = [other for other in process.spans if other.id == span.id and other is not span]
        if inner and inner[0].name == "request":
            continue
        begins = [("b", each, each.start) for each in (span, *inner)]
        for phase, each, time in (*begins, *(("e", each, each.end) for each in (*inner, span))):
            yield {"ph": phase, "cat": each.category, "name": each.name, "id": each.id, "pid": process.pid,
                   "tid": each.row[1], "ts": micros(time, rng), "_start": 0, "_end": 0}
    for event in process.memory:
        yield {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": process.pid,
               "tid": event.row[1], "ts": micros(event.time, rng), "_start": event.time, "_end": event.time,
               "args": {"Total Reserved": 0, "Total Allocated": 0, "Bytes": event.bytes, "Addr": event.address,
                        "Device Id": event.device[1], "Device Type": event.device[0], "Ev Idx": 1}}
    for counter in process.counters:
        for time, value in counter.points:
            yield {"ph": "C", "name": counter.name, "pid": process.pid, "tid": 0, "ts": micros(time, rng),
                   "args": {"value": value}, "_start": time, "_end": time}


def begins_and_ends(process, rng):
    """The spans of a thread, which nest, as events with "ph" "B" and "E"."""
    for row in sorted({span.row for span in process.spans}):
        spans = sorted((span for span in process.spans if span.row == row), key=lambda span: (span.start, -span.end))
        open_ends = []

        def end_until(time):
            while open_ends and open_ends[-1] <= time:
                yield {"ph": "E", "pid": process.pid, "tid": row[1], "ts": micros(open_ends.pop(), rng)}

        for span in spans:
            yield from end_until(span.start)
            yield {"ph": "B", "name": span.name, "pid": process.pid, "tid": row[1], "ts": micros(span.start, rng)}
            open_ends.append(span.end)
        yield from end_until(2 ** 63)


class Plane:
    """The rows of a host or a device."""

    def __init__(self, space, name):
        self.plane = space.planes.add(name=name, id=len(space.planes) + 1)
        self.names = {}
        self.stats = {}

    def number_of(self, name):
        if name not in self.names:
            number = self.names[name] = len(self.names) + 1
            self.plane.event_metadata[number].id = number
            self.plane.event_metadata[number].name = name
        return self.names[name]

    def stat(self, event, name, **value):
        if name not in self.stats:
            number = self.stats[name] = len(self.stats) + 1
            self.plane.stat_metadata[number].id = number
            self.plane.stat_metadata[number].name = name
        event.stats.add(metadata_id=self.stats[name], **value)


def xplane_of(file):
    rng = random.Random(file.seed)
    (process,) = file.processes
    space = XSpace()
    space.hostnames.append(f"node{file.rank}")
    planes = {HOST: Plane(space, "/host:CPU")}
    # Before 2024, lines had Unix times.
    clock = file.base if rng.random() < 0.3 else 0
    has_groups = rng.random() < 0.3
    for row in sorted({each.row for each in [*process.spans, *process.steps]}):
        device, thread = row
        if device not in planes:
            planes[device] = Plane(space, f"/device:GPU:{device}")
        plane = planes[device]
        # Of spans that begin together, the outer one comes first.
        events = sorted([each for each in [*process.steps, *process.spans] if each.row == row],
                        key=lambda each: (each.start, -each.end))
        first = rng.choice((0, events[0].start))
        line = plane.plane.lines.add(id=thread, timestamp_ns=clock + first,
                                     name=f"thread {thread}" if device == HOST else f"stream {thread}")
        for each in events:
            is_step = isinstance(each, Step)
            event = line.events.add(metadata_id=plane.number_of("train" if is_step else each.name))
            # Times of a device are not whole nanoseconds.
            event.offset_ps = (each.start - first) * 1000 + rng.choice((0, 0, 499))
            event.duration_ps = (each.end - first) * 1000 + rng.choice((0, 499)) - event.offset_ps
            event.duration_ps = max(event.duration_ps, 0)
            if is_step and has_groups:
                plane.stat(event, "group_id", int64_value=each.number)
                plane.stat(event, "step_name", str_value=str(each.number))
            elif is_step:
                plane.stat(event, "step_num", int64_value=each.number)
    environment = Plane(space, "Task Environment")
    environment.stat(environment.plane, "profile_start_time", uint64_value=file.base)
    return space


# --- Smaller ones


def smaller(job):
    """Yields jobs that lack a part of this one, large parts first."""
    if len(job) > 1:
        for i in range(len(job)):
            yield job[:i] + job[i + 1:]
    for i, file in enumerate(job):
        for change in smaller_files(file):
            yield [*job[:i], change, *job[i + 1:]]


def smaller_files(file):
    def without(process, part, first, count):
        changed = copy.deepcopy(file)
        del getattr(changed.processes[process], part)[first:first + count]
        return changed

    if len(file.processes) > 1:
        for process in range(len(file.processes)):
            changed = copy.deepcopy(file)
            del changed.processes[process]
            yield changed
    if file.window:
        yield dataclasses.replace(file, window=None)
    if file.is_gzipped:
        yield dataclasses.replace(file, is_gzipped=False)
    for number, process in enumerate(file.processes):
        for part in ("memory", "counters", "steps", "spans"):
            size = len(getattr(process, part))
            count = size
            while count:
                for first in range(0, size, count):
                    changed = without(number, part, first, count)
                    if changed.processes[number].spans:
                        yield changed
                count //= 2

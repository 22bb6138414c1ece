# SPDX-License-Identifier: Apache-2.0
"""Log directories of every writer, for two data servers to show."""

import contextlib
import os
import shutil
import struct
import tempfile

import numpy as np
import torch
import torch.utils.tensorboard
from tensorboard.compat.proto import event_pb2, summary_pb2, types_pb2
from tensorboard.plugins.histogram import summary_v2 as histogram_summary

import check_family_test
import peer_graph
import peer_logs
import peer_numbers
import random_runs
import reader_runs
import writer_program
from event_records import record
from reader_runs import BEGAN, Run, event, image, metadata_of, new_scalar, scalar, tensor, version

GOLDEN = os.path.join(os.path.dirname(__file__), os.pardir, "golden")
RANDOM_RUNS = 60
SEED = 43
FILE_NAME = "events.out.tfevents.0000000001.host"


def compatible(log_dir):
    """Steptape's files in the form that every reader shows."""
    _steptape("compatible", log_dir)


def tensor_form(log_dir):
    """Steptape's files in the form of TensorFlow 2."""
    _steptape("tensor", log_dir)


def _steptape(form, log_dir):
    with tempfile.TemporaryDirectory() as scratch:
        writer_program.run("kinds", form, log_dir, os.path.join(scratch, "expectations"))


def tensorboardx(log_dir):
    with contextlib.redirect_stdout(None):  # it prints which tags it renames
        peer_logs.TensorboardX(log_dir, peer_numbers.make()).log_all()


def pytorch(log_dir):
    with contextlib.redirect_stdout(None):
        peer_logs.Torch(log_dir, peer_numbers.make()).log_all()
    shutil.rmtree(f"{log_dir}_study")
    with torch.utils.tensorboard.SummaryWriter(os.path.join(log_dir, "graph")) as writer:
        writer.add_graph(peer_graph.Net(), torch.zeros(peer_graph.INPUT_SHAPE))


def study(log_dir):
    """Hyperparameters with an experiment record, which applies to the whole log directory."""
    with contextlib.redirect_stdout(None):
        peer_logs.Torch(os.path.join(log_dir, "torch"), {}).study(hparam_domain_discrete=peer_logs.DOMAINS)


def folders(log_dir):
    """Nested runs and one in the log directory itself; links, profiles, and what is no run."""
    os.makedirs(log_dir)
    _file(os.path.join(log_dir, FILE_NAME), version(2), event(0, scalar("in the log directory", 1)))
    links(log_dir)
    profiles(log_dir)


def links(log_dir):
    """Links to a run and to a file, one to nothing, a circle, and names that a server must look at twice."""
    def path(*names):
        return os.path.join(log_dir, "links", *names)

    os.makedirs(path("run", "inner", "events.tfevents.folder"))
    _file(path("run", FILE_NAME), version(2), event(0, scalar("loss", 1)))
    _file(path("run", "inner", FILE_NAME), version(2), event(0, scalar("loss", 2)))
    _file(path("run", "inner", "events.tfevents.folder", FILE_NAME), version(2), event(0, scalar("loss", 3)))
    _file(path("run", "inner", "notes.txt"), version(2), event(0, scalar("not an event file's name", 1)))
    _file(path("run", "inner", "a tfevents b"), version(2), event(1, scalar("loss", 4)))
    os.symlink("run", path("run link"))
    os.symlink("nowhere", path("dangling"))
    os.makedirs(path("file link"))
    os.symlink(os.path.join("..", "run", FILE_NAME), path("file link", FILE_NAME))
    os.symlink("nowhere", path("file link", "dangling.tfevents"))
    os.makedirs(path("empty file"))
    open(path("empty file", FILE_NAME), "wb").close()
    os.makedirs(path("only a version"))
    _file(path("only a version", FILE_NAME), version(2))
    os.makedirs(path("no files", "at all"))


def profiles(log_dir):
    """As JAX leaves them: a profile without an event file, and one in a run."""
    for run in ("jax", os.path.join("jax run", "trained")):
        folder = os.path.join(log_dir, run, "plugins", "profile", "2026_01_02_03_04_05")
        os.makedirs(folder)
        shutil.copy(os.path.join(GOLDEN, "jax.xplane.pb"), os.path.join(folder, "host.xplane.pb"))
    _file(os.path.join(log_dir, "jax run", "trained", FILE_NAME), version(2), event(0, scalar("loss", 1)))


def odd_events(log_dir):
    """Every kind and form of values, restarts, and what no writer should write."""
    for run in (*reader_runs.ALL, reader_runs.oddities):
        run(os.path.join(log_dir, "written"))
    for number, (name, files) in enumerate(check_family_test.family()):
        _run(log_dir, os.path.join("family", f"{number:03} {name}".replace("/", "-")), files)
    for number in range(RANDOM_RUNS):
        _run(log_dir, os.path.join("random", f"{number:03}"), random_runs.random_run(random_runs.rng_of(SEED, number)))
    times(log_dir)
    graphs_of_keras(log_dir)


def times(log_dir):
    """Wall times that are not those of today; events in no order."""
    def at(time, step, number):
        return event_pb2.Event(wall_time=time, step=step, summary=summary_pb2.Summary(value=[scalar("loss", number)]))

    numbers = (0.0, -1.0, 1e300, -1e300, 5e-324, BEGAN)
    _run(log_dir, "times", [[version(2), *(at(time, step, step) for step, time in enumerate(numbers))]])
    _run(log_dir, "times without a version", [[at(BEGAN, 0, 1), at(BEGAN - 5, 1, 2), at(BEGAN + 5, 2, 3)]])
    _run(log_dir, "negative steps", [[version(2), at(BEGAN, -2 ** 63, 1), at(BEGAN, -5, 2), at(BEGAN, 2 ** 63 - 1, 3)]])


def graphs_of_keras(log_dir):
    """The three ways in which TensorFlow writes graphs as values."""
    model = (b'{"class_name": "Sequential", "config": {"name": "model", "layers": [{"class_name": "Dense", "config": '
             b'{"name": "dense", "trainable": true, "dtype": "float32", "units": 2}}]}}')
    graph = b"\x1a\0"
    values = [tensor("keras", model, _of_graphs("graph_keras_model")),
              tensor("profile", graph, _of_graphs("graph_run_metadata")),
              tensor("graph", graph, _of_graphs("graph_run_metadata_graph")),
              tensor("old version", graph, _of_graphs("graph_run_metadata", b"9"))]
    _run(log_dir, "keras", [[version(2), event(0, *values)]])


def _of_graphs(plugin, content=b"1"):
    metadata = metadata_of(plugin, data_class=summary_pb2.DATA_CLASS_BLOB_SEQUENCE)
    metadata.plugin_data.content = content
    return metadata


def sampled(log_dir, points):
    """More points than a data server keeps by default. A spike, a NaN and both infinities are far from the ends."""
    for name, numbers in curves(points).items():
        _run(log_dir, name, [[version(2), *(event(step, scalar("curve", number), new_scalar("tensor", number))
                                            for step, number in enumerate(numbers))]])
    histograms = [histogram_summary.histogram_pb("histogram", np.array([step, step + 1.0]), buckets=2).value[0]
                  for step in range(300)]
    _run(log_dir, "others", [[version(2), *(
        event(step, value, image("image", b"PNG %d" % step)) for step, value in enumerate(histograms))]])


def curves(points):
    """{run: numbers}, of which each hides something."""
    flat = [0.25] * points
    special = {"spike": {points // 3: 1e6}, "dip": {points // 2: -1e6}, "one NaN": {points // 5: float("nan")},
               "infinities": {points // 7: float("inf"), points // 4: float("-inf")}, "flat": {}}
    return {run: [found.get(step, number) for step, number in enumerate(flat)] for run, found in special.items()}


# What the servers show differently: see server_differences.py. Each function returns the bytes of a file.

def _points(tag="loss", count=12):
    return [record(event(step, scalar(tag, step / 8)).SerializeToString()) for step in range(count)]


def _started(points):
    return [record(version(2).SerializeToString()), *points]


NOT_UTF8 = "not UTF-8"


def damaged_files():
    """{name: bytes} of files that lost something in the middle. Whole points follow in each."""
    records = _started(_points())
    before, spot, after = b"".join(records[:6]), records[6], b"".join(records[7:])
    value = spot.index(struct.pack("<f", 5 / 8)) + 2

    def flipped(offset):
        return spot[:offset] + bytes([spot[offset] ^ 1]) + spot[offset + 1:]

    spots = {
        "length": flipped(0),
        "checksum of the length": flipped(8),
        "value": flipped(value),
        "field": flipped(12 + 9),  # the step becomes a number of another type
        "checksum of the payload": flipped(len(spot) - 1),
        "zeros": bytes(len(spot)),
        "zeros instead of many": bytes(4096),
        "text between records": spot + b"a line that a script printed\n",
        "cut and continued": spot[:len(spot) // 2],
        "not an event": record(b"\xff\xff\xff\xff"),
        NOT_UTF8: record(spot[12:-4].replace(b"loss", b"l\xffss")),
    }
    return {name if name == NOT_UTF8 else f"damaged {name}": before + spot + after for name, spot in spots.items()}


def events_without_a_time():
    """{name: bytes} of files in which one event has a wall time that is no number."""
    bad = event_pb2.Event(wall_time=float("nan"), step=5, summary=summary_pb2.Summary(value=[scalar("loss", 5)]))
    records = _started(_points())
    records[6] = record(bad.SerializeToString())
    return {"wall time NaN": b"".join(records)}


def other_scalars():
    """{name: bytes} of scalars that are not float32 or not of rank 0."""
    kinds = {types_pb2.DT_DOUBLE: ("double_val", 0.1), types_pb2.DT_INT64: ("int64_val", 3),
             types_pb2.DT_INT32: ("int_val", -3), types_pb2.DT_UINT8: ("int_val", 200),
             types_pb2.DT_BOOL: ("bool_val", True), types_pb2.DT_HALF: ("half_val", 0x3e00),
             types_pb2.DT_BFLOAT16: ("half_val", 0x3fc0)}
    values = {types_pb2.DataType.Name(dtype): check_family_test.number(dtype, **{field: [number]})
              for dtype, (field, number) in kinds.items()}
    values["one element"] = check_family_test.number(shape=(1,))
    values["one element of rank 2"] = check_family_test.number(shape=(1, 1))
    return {f"scalar {name}": b"".join(_started([record(event(step, value).SerializeToString()) for step in range(3)]))
            for name, value in values.items()}


def other_metadata():
    """{name: bytes} of tags whose metadata TensorBoard's server does not understand, or only in part."""
    named = summary_pb2.SummaryMetadata(display_name="Loss", summary_description="of a batch")
    bare = new_scalar("loss", 1)
    bare.ClearField("metadata")
    node = scalar("", 2)
    node.node_name = "loss"
    events = {
        "mixed plugins": [event(0, scalar("t", 1)), event(1, scalar("t", 2), image("t", b"PNG")), event(1, image("t", b"PNG"))],
        "late metadata": [event(0, bare), event(1, new_scalar("loss", 2))],
        "described scalar": [event(step, scalar("loss", step, metadata=named)) for step in range(3)],
        "node name": [event(0, node, scalar("other", 1))],
        "repeated number": [event(0, check_family_test.tensor_value(
            "histograms", types_pb2.DT_DOUBLE, (2, 3), double_val=[0, 1, 3, 1]))],
        "buckets without counts": [event(0, reader_runs.histogram("t", 0, 3, [1, 2, 3], [2, 3]))],
        "buckets without limits": [event(0, reader_runs.histogram("t", 0, 3, [1, 2], [2, 3, 4]))],
    }
    return {name: b"".join(_started([record(each.SerializeToString()) for each in run]))
            for name, run in events.items()}


def differing(log_dir):
    """A run for each file that the servers show differently."""
    for name, data in {**damaged_files(), **events_without_a_time(), **other_scalars(), **other_metadata()}.items():
        _write(log_dir, name, [data])


# Files that change while a server shows them. Each function takes the log directory.

def before_changes(log_dir):
    for run in ("grown", "removed", *REPLACEMENTS):
        _write(log_dir, run, _started(_points()))
    for run in ("removed image", "restarted image"):
        _write(log_dir, run, _started([record(event(5, image("image", b"PNG")).SerializeToString())]))


def grow(log_dir):
    """What a training that goes on does, and one that starts; a run that is removed."""
    with open(os.path.join(log_dir, "grown", FILE_NAME), "ab") as file:
        file.writelines(_points(count=20)[12:])
    _write(log_dir, os.path.join("grown", "inner"), _started(_points("other")))
    shutil.rmtree(os.path.join(log_dir, "removed"))


def discard_images(log_dir):
    """Removes a run, and goes back behind the step of another one's image."""
    shutil.rmtree(os.path.join(log_dir, "removed image"))
    with open(os.path.join(log_dir, "restarted image", FILE_NAME), "ab") as file:
        file.write(record(event(3, image("image", b"PNG again")).SerializeToString()))


def replace(log_dir):
    for run, change in REPLACEMENTS.items():
        change(os.path.join(log_dir, run, FILE_NAME), b"".join(_started(_points("other", 8))))


def _rename_over(path, data):
    other = os.path.join(os.path.dirname(path), "not yet")  # no event file's name
    _write_again(other, data)
    os.replace(other, path)


def _write_again(path, data):
    with open(path, "wb") as file:
        file.write(data)


def _delete_and_write(path, data):
    os.remove(path)
    _write_again(path, data)


def _shorten(path, _):
    os.truncate(path, os.path.getsize(path) // 2)


REPLACEMENTS = {"renamed over": _rename_over, "written again": _write_again, "deleted and written": _delete_and_write,
                "shortened": _shorten}


def _write(log_dir, run, records):
    os.makedirs(os.path.join(log_dir, run), exist_ok=True)
    with open(os.path.join(log_dir, run, FILE_NAME), "wb") as file:
        file.writelines(records)


def _run(log_dir, name, files):
    run = Run(log_dir, name)
    for events in files:
        run.file(*events)


def _file(path, *events):
    with open(path, "wb") as file:
        for each in events:
            file.write(record(each.SerializeToString()))

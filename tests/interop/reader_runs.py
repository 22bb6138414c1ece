# SPDX-License-Identifier: Apache-2.0
"""Runs as TensorFlow and older writers leave them, event by event."""

import os

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.audio import metadata as audio_metadata
from tensorboard.plugins.histogram import summary_v2 as histogram_summary
from tensorboard.plugins.hparams import api_pb2 as hparams_api
from tensorboard.plugins.hparams import summary_v2 as hparams_summary
from tensorboard.plugins.image import metadata as image_metadata
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.plugins.pr_curve import metadata as pr_curve_metadata
from tensorboard.plugins.scalar import summary_v2 as scalar_summary
from tensorboard.plugins.text import summary_v2 as text_summary
from tensorboard.summary import _output, _writer
from tensorboard.summary.writer.record_writer import RecordWriter
from tensorboard.util import tensor_util

BEGAN = 1.7e9
SUMMARY = summary_pb2.Summary


def version(number):
    return event_pb2.Event(wall_time=BEGAN, file_version=f"brain.Event:{number}")


def start(step):
    log = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
    return event_pb2.Event(wall_time=BEGAN + step, step=step, session_log=log)


def event(step, *values):
    return event_pb2.Event(wall_time=BEGAN + step + 0.25, step=step, summary=SUMMARY(value=values))


def scalar(tag, number, **metadata):
    """In the compatible form."""
    return SUMMARY.Value(tag=tag, simple_value=number, **metadata)


def new_scalar(tag, number):
    (value,) = scalar_summary.scalar_pb(tag, number).value
    return value


def tensor(tag, data, metadata=None):
    return SUMMARY.Value(tag=tag, tensor=tensor_util.make_tensor_proto(data), metadata=metadata)


def metadata_of(plugin, **fields):
    plugin_data = summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin)
    return summary_pb2.SummaryMetadata(plugin_data=plugin_data, **fields)


def image(tag, content, width=4, height=3):
    picture = SUMMARY.Image(width=width, height=height, colorspace=3, encoded_image_string=content)
    return SUMMARY.Value(tag=tag, image=picture)


def sound(tag, content):
    clip = SUMMARY.Audio(sample_rate=8000, num_channels=2, length_frames=7,
                         encoded_audio_string=content, content_type="audio/wav")
    return SUMMARY.Value(tag=tag, audio=clip)


def histogram(tag, low, high, limits, counts):
    histo = summary_pb2.HistogramProto(min=low, max=high, num=sum(counts), bucket_limit=limits,
                                       bucket=counts)
    return SUMMARY.Value(tag=tag, histo=histo)


class Run:
    """A directory that gets one file of events after another."""

    def __init__(self, log_dir, name):
        self.directory = os.path.join(log_dir, name)
        os.makedirs(self.directory)
        self._files = 0

    def file(self, *events):
        self._files += 1
        path = os.path.join(self.directory, f"events.out.tfevents.{self._files:010}.host")
        with open(path, "wb") as file:
            writer = RecordWriter(file)
            for each in events:
                writer.write(each.SerializeToString())


def compatible(log_dir):
    """Every kind of the compatible form, and the odd values of each."""
    far = np.finfo(np.float64).max
    unusual = (float("nan"), float("inf"), float("-inf"), -0.0, 2.0 ** -149, 1 / 3)
    run = Run(log_dir, "compatible")
    run.file(
        version(2),
        *(event(step, scalar("scalar", number), scalar("a tag/ü?", step))
          for step, number in enumerate(unusual)),
        event(0, scalar("named", 1, metadata=summary_pb2.SummaryMetadata(
            display_name="Name", summary_description="of *one* batch"))),
        *(event(step, image("image", b"PNG %d" % step), sound("audio", b"RIFF %d" % step))
          for step in range(3)),
        event(0, histogram("histogram", -1.5, 2.5, [-far, -1, 0, 1, 2, far], [0, 1, 0, 3, 0, 2])),
        event(1, histogram("histogram", 0.1, 16777217, [0.5, 1.0], [16777217, 1])),
        event(2, histogram("histogram", 5, 5, [4, 5, 6], [0, 4, 0])),
        event(3, histogram("histogram", 0, 0, [1, 2], [0, 0])),
        event(4, histogram("histogram", float("inf"), float("-inf"), [], [])),
    )


def new_style(log_dir):
    """Every plugin as tensors; metadata with a tag's first value only, as TensorFlow writes it."""
    run = Run(log_dir, "new_style")
    values = []
    for step in range(3):
        bare = step > 0
        values.append([
            new_scalar("scalar", 0.1 * step),
            tensor("double", np.float64(0.1 * step), metadata_of("scalars")),
            histogram_summary.histogram_pb("histogram", np.arange(10.0) * step).value[0],
            histogram_summary.histogram_pb("no histogram", []).value[0],
            tensor("image", [b"40", b"30"] + [b"PNG"] * step,
                   image_metadata.create_summary_metadata("Pictures", "*two*")),
            tensor("labeled audio", [[b"RIFF a", b"label"], [b"RIFF b", b""]],
                   audio_metadata.create_summary_metadata(
                       None, None, encoding=audio_metadata.Encoding.Value("WAV"))),
            tensor("audio", [b"RIFF"], metadata_of(
                "audio", data_class=summary_pb2.DATA_CLASS_BLOB_SEQUENCE)),
            text_summary.text_pb("text", "*one*").value[0],
            text_summary.text_pb(
                "table", np.array([["a", "ü"], ["c", "d"]], dtype=object)).value[0],
            tensor("curve", np.arange(12, dtype=np.float32).reshape(6, 2) + step,
                   pr_curve_metadata.create_summary_metadata("curve", "", 2)),
            tensor("mesh_FACE", np.arange(6, dtype=np.int32).reshape(1, 2, 3) * step,
                   mesh_metadata.create_summary_metadata(
                       "mesh", None, 2, mesh_metadata.get_components_bitmask([1, 2]), [1, 2, 3],
                       json_config='{"camera": {}}')),
            tensor("others", np.arange(4, dtype=np.int16), metadata_of("my plugin")),
            tensor("halves", np.arange(4, dtype=np.float16), metadata_of("my plugin")),
            tensor("one number", np.float32(step), metadata_of("my plugin")),
        ])
        for value in values[-1] if bare else ():
            value.ClearField("metadata")
    run.file(version(2), *(event(step, *each) for step, each in enumerate(values)),
             event(0, tensor("no metadata", np.float32(2))),
             event(1, tensor("no metadata", np.arange(3))))


def graphs(log_dir):
    """Graphs with the cost of their nodes, then a restart."""
    def graph(content):
        return event_pb2.Event(wall_time=BEGAN, graph_def=content)

    tagged = event_pb2.TaggedRunMetadata(tag="step1", run_metadata=b"\x1a\0")
    Run(log_dir, "graphs").file(
        version(2), start(0), graph(b"\x0a\0"), graph(b"\x0a\x02\x0a\0"),
        event_pb2.Event(wall_time=BEGAN, meta_graph_def=b"\x12\0"),
        event_pb2.Event(wall_time=BEGAN, step=1, tagged_run_metadata=tagged), start(0))


def large(log_dir):
    """Values of kilobytes, several in an event."""
    noise = np.random.default_rng(1)

    def values(step):
        content = noise.bytes(5000)
        limits = np.arange(1000.0)
        counts = noise.integers(0, 3, 1000)
        return event(
            step, image("compatible image", content), sound("compatible audio", content),
            histogram("compatible histogram", -1, 1000, limits, counts),
            histogram_summary.histogram_pb("histogram", noise.normal(size=300), 300).value[0],
            tensor("image", [b"40", b"30", content, content], metadata_of("images")),
            tensor("tensor", noise.normal(size=(20, 30)), metadata_of("my plugin")),
            tensor("no metadata", noise.normal(size=(20, 30))), scalar("scalar", step))

    run = Run(log_dir, "large")
    run.file(version(2), *map(values, range(14)), start(0), values(14), start(9), values(9))
    run.file(version(1), values(4), values(3))


def oddities(log_dir):
    """Events that no writer should write."""
    no_plugin = summary_pb2.SummaryMetadata(display_name="Name")
    Run(log_dir, "oddities").file(
        version(2),
        event(0, tensor("integer", np.int64(7), metadata_of("scalars")),
              tensor("plugin later", np.arange(2), no_plugin),
              SUMMARY.Value(tag="nothing"),
              SUMMARY.Value(node_name="node", tensor=tensor_util.make_tensor_proto([1, 2])),
              SUMMARY.Value(tag="no data", metadata=metadata_of("my plugin"))),
        event(1, tensor("plugin later", np.arange(2), metadata_of("my plugin"))))


def hparams(log_dir):
    start_pb = hparams_summary.hparams_pb(
        {"lr": 0.1, "optimizer": "sgd", "amp": True}, trial_id="trial", start_time_secs=17)
    config = hparams_summary.hparams_config_pb(
        [hparams_summary.HParam("lr", hparams_summary.Discrete([0.1, 0.2]))],
        [hparams_summary.Metric("accuracy")], time_created_secs=17)
    Run(log_dir, "hparams").file(version(2), event(0, config.value[0]), event(0, start_pb.value[0]))


def output_writer(log_dir):
    """TensorBoard's own writer."""
    directory = os.path.join(log_dir, "output_writer")
    writer = _writer.Writer(_output.DirectoryOutput(directory))
    for step in range(5):
        writer.add_scalar("scalar", step / 3, step, wall_time=BEGAN + step, description="*one*")
    writer.close()


def both(tag, step, number=None):
    """One value of each form that a restart drops."""
    number = step if number is None else number
    return event(step, scalar(f"{tag}/compatible", number), new_scalar(f"{tag}/new", number),
                 image(f"{tag}/image", b"PNG %d" % number),
                 histogram(f"{tag}/histogram", 0, number, [1], [number + 1]),
                 sound(f"{tag}/audio", b"RIFF %d" % number))


def restarts(log_dir):
    """A START in each file, as from TensorFlow, and then two in one."""
    run = Run(log_dir, "restarts")
    run.file(version(2), start(0), *(both("x", step) for step in range(10)),
             *(both("y", step) for step in range(10)))
    run.file(version(2), start(6), *(both("x", step, 100 + step) for step in range(6, 9)))
    run.file(version(2), start(8), both("x", 8, 208), start(3), both("x", 20, 300),
             both("x", 21, 300))


def late_start(log_dir):
    """No START before the first restart, as from torch; the policies part here."""
    run = Run(log_dir, "late_start")
    run.file(version(2), *(both("x", step) for step in range(10)))
    run.file(version(2), start(6), *(both("x", step, 100 + step) for step in range(6, 9)))
    run.file(version(2), start(7), both("x", 7, 207))


def steps_back(log_dir):
    """Version 1 has no START: a step that goes back is one, for the tags of its event."""
    run = Run(log_dir, "steps_back")
    run.file(version(1), *(both("x", step) for step in range(10)), both("y", 11), both("x", 4, 104),
             both("x", 5, 105), both("y", 12), both("x", 8, 208), both("y", 7, 107))
    run.file(version(1), both("x", 2, 302), both("z", 1), both("x", 3, 303))


def no_version(log_dir):
    """TensorBoard treats a file without a version as one of version 1."""
    run = Run(log_dir, "no_version")
    run.file(*(both("x", step) for step in range(6)), both("x", 3, 103), both("x", 4, 104))


def versions(log_dir):
    """A version holds until the next."""
    run = Run(log_dir, "versions")
    run.file(version(2), *(both("x", step) for step in range(6)), both("x", 4, 104))
    run.file(version(1), both("x", 2, 202), both("x", 3, 203))
    run.file(version(2), both("x", 1, 301), start(0), start(3))


def start_in_version_1(log_dir):
    Run(log_dir, "start_in_version_1").file(
        version(1), start(0), *(both("x", step) for step in range(6)), start(3), both("x", 7))


def tag_twice(log_dir):
    """Two values of a tag in an event that goes back."""
    Run(log_dir, "tag_twice").file(
        version(1), *(both("x", step) for step in range(6)),
        event(3, scalar("x/compatible", 1), scalar("x/compatible", 2),
              new_scalar("x/new", 1), new_scalar("x/new", 2)))


def full(log_dir):
    """More points than TensorBoard keeps, before and after restarts, in several files."""
    run = Run(log_dir, "full")

    def points(steps):
        for step in steps:
            values = [scalar("compatible", step), new_scalar("new", step),
                      histogram_summary.histogram_pb("histogram", np.array([step, step + 1.0]),
                                                     buckets=2).value[0]]
            if step % 3 == 0:
                values += [tensor("curve", np.full((6, 2), step, np.float32),
                                  pr_curve_metadata.create_summary_metadata("curve", "", 2)),
                           image("image", b"PNG %d" % step), sound("audio", b"RIFF %d" % step),
                           text_summary.text_pb("text", str(step)).value[0],
                           tensor("others", np.arange(2) + step, metadata_of("my plugin")),
                           tensor("no metadata", np.float32(step))]
            yield event(step, *values)

    run.file(version(2), start(0), *points(range(1300)))
    run.file(version(2), start(700), *points(range(700, 1700)))
    run.file(version(2), start(1500), *points(range(1500, 2600)))


ALL = (compatible, new_style, graphs, hparams, output_writer, large, restarts, late_start, steps_back,
       no_version, versions, start_in_version_1, tag_twice, full)

# SPDX-License-Identifier: Apache-2.0
"""Reads a run with TensorBoard's accumulators, in the format of reader_dump.cpp.

A run is a dict from tag to {"plugin", "display_name", "description", "points"}, each point
[step, wall time, value].
"""

import json
import os
import subprocess

import numpy as np
from google.protobuf import json_format
from patience import PATIENCE_SECONDS
from tensorboard import data_compat
from tensorboard.backend.event_processing import (data_ingester, event_accumulator,
                                                  plugin_event_accumulator)
from tensorboard.compat.proto import summary_pb2, types_pb2
from tensorboard.plugins.audio import metadata as audio_metadata
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.hparams import plugin_data_pb2 as hparams_pb2
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.util import tensor_util

# The number of points that TensorBoard's server keeps per series.
SAMPLED = {"size_guidance": data_ingester.DEFAULT_SIZE_GUIDANCE,
           "tensor_size_guidance": data_ingester.DEFAULT_TENSOR_SIZE_GUIDANCE}
ALL = {"size_guidance": plugin_event_accumulator.STORE_EVERYTHING_SIZE_GUIDANCE}
UNREADABLE = "TensorBoard cannot read it"


def dump(directory, purge, sampling="all"):
    """Returns RunReader's result for the run."""
    command = [os.environ["STEPTAPE_READER_DUMP"], directory, purge, sampling]
    text = subprocess.run(command, check=True, timeout=PATIENCE_SECONDS, stdout=subprocess.PIPE).stdout
    return json.loads(text)


def server(directory, **options):
    """Returns the result of TensorBoard's Python server for the run."""
    accumulator = plugin_event_accumulator.EventAccumulator(directory, **options).Reload()
    run = {}
    for tag in accumulator.Tags()["tensors"]:
        metadata = accumulator.AllSummaryMetadata().get(tag, summary_pb2.SummaryMetadata())
        plugin = metadata.plugin_data.plugin_name
        run[tag] = {
            "plugin": plugin,
            "display_name": metadata.display_name,
            "description": metadata.summary_description,
            "points": [[event.step, event.wall_time,
                        meaning(plugin, metadata.plugin_data.content, event.tensor_proto)]
                       for event in accumulator.Tensors(tag)]}
    return run


def graph(directory):
    """The run's graph, serialized."""
    return plugin_event_accumulator.EventAccumulator(directory, **ALL).Reload().SerializedGraph()


def accumulator(directory):
    """Returns EventAccumulator's result: {kind: {tag: points}}, with separate kinds for the compatible form."""
    run = event_accumulator.EventAccumulator(
        directory, size_guidance=event_accumulator.STORE_EVERYTHING_SIZE_GUIDANCE).Reload()
    tags = run.Tags()

    def points(kind, items, value_of):
        return {tag: [[item.step, item.wall_time, value_of(item)] for item in items(tag)]
                for tag in tags[kind]}

    return {
        "scalars": points("scalars", run.Scalars, lambda item: item.value),
        "images": points("images", run.Images, lambda item: {
            "width": item.width, "height": item.height,
            "encoded": [item.encoded_image_string.hex()]}),
        "audio": points("audio", run.Audio, lambda item: {
            "content_type": item.content_type, "encoded": [item.encoded_audio_string.hex()],
            "sample_rate": item.sample_rate, "frames": item.length_frames}),
        "histograms": points("histograms", run.Histograms, _migrated),
        # Its tensors of all plugins: steps and times.
        "tensors": points("tensors", run.Tensors, lambda item: None),
    }


def _migrated(item):
    histogram = item.histogram_value
    histo = summary_pb2.HistogramProto(
        min=histogram.min, max=histogram.max, num=histogram.num, sum=histogram.sum,
        sum_squares=histogram.sum_squares, bucket_limit=histogram.bucket_limit,
        bucket=histogram.bucket)
    value = data_compat.migrate_value(summary_pb2.Summary.Value(tag="h", histo=histo))
    return meaning("histograms", b"", value.tensor)


def meaning(plugin, content, tensor):
    try:
        array = tensor_util.make_ndarray(tensor)
    except (OverflowError, ValueError):
        return UNREADABLE
    if plugin == "scalars":
        return float(array.item())
    if plugin == "images":
        return {"width": int(array[0]), "height": int(array[1]),
                "encoded": [picture.hex() for picture in array[2:]]}
    if plugin == "audio":
        wav = audio_metadata.parse_plugin_metadata(content).encoding == 11
        return {"content_type": "audio/wav" if wav else "application/octet-stream",
                "encoded": [clip.hex() for clip in array]}
    if plugin == "text":
        return {"shape": list(array.shape), "strings": [text.hex() for text in array.ravel()]}
    if plugin == "histograms":
        # data_compat.py makes binary32 numbers of the histograms of this form.
        is_rounded = tensor.dtype == types_pb2.DT_FLOAT
        return {"rounded_rows": array.tolist()} if is_rounded else array.tolist()
    if plugin == "pr_curves":
        return array.tolist()
    if plugin == "mesh":
        return mesh(mesh_metadata.parse_plugin_metadata(content), tensor)
    if plugin == "custom_scalars":
        return layout(layout_pb2.Layout.FromString(array.item()))
    if plugin == "hparams":
        return hparams(content)
    return plain(tensor)


def plain(tensor):
    array = tensor_util.make_ndarray(tensor)
    strings = tensor.dtype == types_pb2.DT_STRING
    return {"type": tensor.dtype, "shape": list(array.shape),
            "content": "" if strings else array.tobytes().hex(),
            "strings": [text.hex() for text in array.ravel()] if strings else []}


def mesh(content, tensor):
    return {"name": content.name, "part": content.content_type,
            "parts": [part for part in (1, 2, 3) if content.components & 1 << part],
            "shape": list(content.shape), "json_config": content.json_config,
            "tensor": plain(tensor)}


def layout(message):
    return [{"title": category.title,
             "charts": [{"title": chart.title, "tags": list(chart.multiline.tag),
                         "margins": [[series.value, series.lower, series.upper]
                                     for series in chart.margin.series]}
                        for chart in category.chart]}
            for category in message.category]


def hparams(content):
    record = hparams_pb2.HParamsPluginData.FromString(content)
    kind = record.WhichOneof("data")
    if kind == "experiment":
        return {"hparams": [{"name": info.name,
                             "discrete": json_format.MessageToDict(info.domain_discrete)}
                            for info in record.experiment.hparam_infos],
                "metrics": [info.name.tag for info in record.experiment.metric_infos]}
    if kind == "session_start_info":
        info = hparams_metadata.parse_session_start_info_plugin_data(content)
        return {"values": {name: json_format.MessageToDict(value)
                           for name, value in info.hparams.items()},
                "group": info.group_name, "time": info.start_time_secs}
    info = hparams_metadata.parse_session_end_info_plugin_data(content)
    return {"status": info.status, "time": info.end_time_secs}


def rounded(rows):
    """Rows of a histogram as binary32 numbers."""
    return np.array(rows, np.float64).reshape(-1, 3).astype(np.float32).tolist()

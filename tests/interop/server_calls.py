# SPDX-License-Identifier: Apache-2.0
"""Every call of the protocol between TensorBoard and its data server, with good and bad requests."""

import os
from typing import NamedTuple

import grpc
from google.protobuf import json_format
from tensorboard.compat.proto import summary_pb2, types_pb2
from tensorboard.data.proto import data_provider_pb2 as protocol

import check_family_test
import reader_runs
from reader_runs import Run, event, image, metadata_of, scalar, tensor, version

# One plugin of each class, one that has data of another class, and one that nobody knows.
PLUGINS = {"Scalars": ("scalars", "images", "unknown"), "Tensors": ("histograms", "text", "scalars", "my plugin"),
           "BlobSequences": ("images", "audio", "graphs", "scalars")}


LARGE_BLOB = 20 << 20  # is sent in several messages


class Answer(NamedTuple):
    """A status code, or the parsed answer with runs and tags in order and blobs for their keys.

    The texts of errors are a server's own words. They are not compared.
    """
    code: str
    message: object


def log_directory(log_dir):
    """Series of at most two points, of which no server leaves any out, and a blob of several messages."""
    for write in (reader_runs.graphs, reader_runs.hparams):
        write(log_dir)
    nothing = check_family_test.tensor_value("scalars", types_pb2.DT_STRING, tag="nothing to show", string_val=[b"?"])
    Run(log_dir, "texts").file(version(2), event(0, nothing))
    kinds = Run(log_dir, "kinds")
    kinds.file(version(2), *(event(
        step, scalar("loss", step), scalar("a/ü \"tag\"", step), image("image", b"PNG %d" % step),
        reader_runs.histogram("histogram", 0, 1, [1], [step]), reader_runs.sound("sound", b"RIFF"),
        tensor("images", [b"4", b"3", b"PNG a", b"PNG b"], metadata_of(
            "images", data_class=summary_pb2.DATA_CLASS_BLOB_SEQUENCE))) for step in range(2)))
    Run(log_dir, os.path.join("kinds", "inner")).file(version(2), event(0, scalar("loss", 3), image("image", b"PNG")))
    Run(log_dir, "large").file(version(2), event(0, image("image", bytes(LARGE_BLOB))))


def answers_of(server):
    """Returns {name of the call: Answer}."""
    answers = {}
    for name, method, request in _calls():
        answers[f"{method} {name}"] = _answer(server, method, request)
    for name, method, request in _broken_requests():
        answers[f"{method} {name}"] = _answer_to_bytes(server, method, request)
    for name, key in _keys(server):
        answers[f"ReadBlob {name}"] = _answer(server, "ReadBlob", protocol.ReadBlobRequest(blob_key=key))
    return answers


def scalars(server, points):
    """Returns {(run, tag): {step: number}} of at most so many points each, in the server's order."""
    request = _request(protocol.ReadScalarsRequest, plugin="scalars", points=points)
    return {(run.run_name, tag.tag_name): dict(zip(tag.data.step, tag.data.value))
            for run in server.call("ReadScalars", request).runs for tag in run.tags}


def steps_of_others(server):
    """Returns {name: steps} of histograms and images, as many as a page asks for."""
    histograms = _request(protocol.ReadTensorsRequest, plugin="histograms", points=51)
    images = _request(protocol.ReadBlobSequencesRequest, plugin="images", points=10)
    return {tag.tag_name: list(tag.data.step)
            for message in (server.call("ReadTensors", histograms), server.call("ReadBlobSequences", images))
            for run in message.runs for tag in run.tags}


def _calls():
    """Yields (name, method, request)."""
    for method, request in (("GetExperiment", protocol.GetExperimentRequest),
                            ("ListPlugins", protocol.ListPluginsRequest), ("ListRuns", protocol.ListRunsRequest)):
        yield "of no experiment", method, request()
        yield "of an experiment", method, request(experiment_id="any")
    for kind, plugins in PLUGINS.items():
        for verb in ("List", "Read"):
            make = getattr(protocol, f"{verb}{kind}Request")
            for name, arguments in _arguments(plugins):
                yield name, f"{verb}{kind}", _request(make, **arguments)


def _arguments(plugins):
    yield "without anything", {}
    yield "with an empty plugin filter", {"plugin": "", "points": 1}
    yield "without a plugin filter, -1 points", {"points": -1}
    yield "without downsample", {"plugin": plugins[0]}
    yield "with an empty downsample", {"plugin": plugins[0], "points": 0}
    for points in (-1, -2 ** 63, 1, 2, 1000, 2 ** 63 - 1):
        yield f"of {points} points", {"plugin": plugins[0], "points": points}
    for plugin in plugins[1:]:
        yield f"of plugin {plugin}", {"plugin": plugin, "points": 1000}
    filters = {"an empty filter": {}, "no runs": {"runs": []}, "no tags": {"tags": []}, "a run": {"runs": ["kinds"]},
               "two runs": {"runs": ["large", "kinds"]}, "a run twice": {"runs": ["kinds", "kinds"]},
               "an unknown run": {"runs": ["nowhere"]}, "a run and an unknown one": {"runs": ["kinds", "nowhere"]},
               "the empty run": {"runs": [""]}, "a tag": {"tags": ["loss", "histogram", "image"]},
               "an unknown tag": {"tags": ["nothing"]}, "a run and no tags": {"runs": ["kinds"], "tags": []},
               "a run and a tag": {"runs": ["kinds"], "tags": ["loss", "histogram", "image"]},
               "a tag of another run": {"runs": ["kinds"], "tags": ["__run_graph__"]}}
    for name, names in filters.items():
        yield f"with {name}", {"plugin": plugins[0], "points": 1000, "names": names}
    yield "of an experiment", {"plugin": plugins[0], "points": 1, "experiment_id": "any"}


def _request(make, plugin=None, points=None, names=None, experiment_id=""):
    request = make(experiment_id=experiment_id)
    if plugin is not None:
        request.plugin_filter.SetInParent()
        request.plugin_filter.plugin_name = plugin
    if names is not None:
        request.run_tag_filter.SetInParent()
        for field, found in names.items():
            getattr(request.run_tag_filter, field).SetInParent()
            getattr(request.run_tag_filter, field).names.extend(found)
    if points is not None and hasattr(request, "downsample"):
        request.downsample.SetInParent()
        request.downsample.num_points = points
    return request


def _broken_requests():
    yield "of a service", "/unknown.Service/Call", b""
    yield "of a method", "Unknown", b""
    whole = protocol.ReadScalarsRequest(plugin_filter={"plugin_name": "scalars"}, downsample={"num_points": 1})
    for name, data in {"that ends in a tag": b"\xff", "that ends in a length": b"\x0a\xff",
                       "that ends in a name": b"\x0a\5abc", "with a number for a name": b"\x12\2\x08\1",
                       "with a name that is not UTF-8": b"\x0a\1\xff",
                       "with a field of number 0": b"\2\0"}.items():
        yield name, "ReadScalars", data
    yield "with an unknown field", "ReadScalars", whole.SerializeToString() + b"\xfa\x7f\1a"


def _keys(server):
    """Keys that no server makes, and one that this server makes. What else a server's keys give, _in_order() shows."""
    for name, key in {"with an empty key": "", "with a key of one letter": "x", "with a key of other letters": "!!",
                      "with a key that holds nothing": "AAAA", "with a long key": "A" * 100_000}.items():
        yield name, key
    yield "of several messages", key_of(server, "large", "image")


def key_of(server, run, tag):
    """The server's key of the last blob of the last point."""
    request = _request(protocol.ReadBlobSequencesRequest, plugin="images", points=1,
                       names={"runs": [run], "tags": [tag]})
    (found,) = server.call("ReadBlobSequences", request).runs
    return found.tags[0].data.values[0].blob_refs[-1].blob_key


def code_of_blob(server, key):
    return _answer(server, "ReadBlob", protocol.ReadBlobRequest(blob_key=key)).code


def _answer_to_bytes(server, method, request):
    def call():
        message = protocol.ReadScalarsResponse.FromString(server.call_with_bytes(method, request))
        return _in_order(server, method, message)

    answer = _guarded(call)
    # Bytes that are no request are an internal error for 0.7.2, and an invalid argument for Steptape.
    return answer._replace(code="an error") if answer.code in ("INTERNAL", "INVALID_ARGUMENT") else answer


def _answer(server, method, request):
    return _guarded(lambda: _in_order(server, method, server.call(method, request)))


def _guarded(call):
    try:
        return Answer("OK", call())
    except grpc.RpcError as error:
        return Answer(error.code().name, None)


def _in_order(server, method, message):
    if method == "ReadBlob":
        return [(len(part.data), part.data[:20]) for part in message]
    parsed = json_format.MessageToDict(message, preserving_proto_field_name=True)
    parsed.get("plugins", []).sort(key=lambda plugin: plugin["name"])
    runs = parsed.get("runs", [])
    runs.sort(key=lambda run: (run.get("start_time", 0), run.get("run_name", run.get("name", ""))))
    if method not in ("ListRuns", "ListPlugins"):
        runs[:] = [run for run in runs if run.get("tags")]  # 0.7.2's Read calls name runs without tags as well
    for run in runs:
        run.get("tags", []).sort(key=lambda tag: tag.get("tag_name", ""))
        for tag in run.get("tags", ()):
            for sequence in tag.get("data", {}).get("values", ()):
                for reference in sequence.get("blob_refs", ()):
                    blob = server.call("ReadBlob", protocol.ReadBlobRequest(blob_key=reference["blob_key"]))
                    reference["blob_key"] = b"".join(part.data for part in blob)[:1000]
    return parsed

# SPDX-License-Identifier: Apache-2.0
"""Asks a TensorBoard everything that its pages can ask: every route of every plugin, for each run, tag and sample.

What to ask follows from the answers: the lists of tags name the series, and the series name the blobs. Answers are
brought into a form in which two data servers can be compared: see NORMALIZED.
"""

import json
import urllib.parse
from concurrent import futures
from typing import NamedTuple

# What is brought into one form before two answers are compared, and why two equal servers differ in it.
NORMALIZED = {
    "blob keys": "A key means nothing except to the server that made it. It is left out; what it gives is an answer of "
                 "its own.",
    "order of runs and tags": "0.7.2 lists them in another order after each start. A JSON object has no order; lists "
                              "of tags, sessions and parts of a mesh are sorted.",
    "address": "Each server listens on a port of its own, and each TensorBoard too. The environment shows both in its "
               "debugging information, which is left out.",
    "projector": "TensorBoard looks for embeddings in the background, so it enables this page at some time.",
    "log directory": "The servers may serve copies. Its path is replaced by a name.",
}

# 0.7.2 mostly waits for acknowledgments of packets, 40 ms for an answer.
CLIENTS = 8
MESH_CONTENT = ("UNDEFINED", "VERTEX", "FACE", "COLOR")
DOWNLOADS = ("json", "csv", "latex")


class Answer(NamedTuple):
    """A normalized answer. `body` is the parsed JSON, or bytes."""
    status: int
    content_type: str
    body: object


class Question(NamedTuple):
    """A route, and the names of what it is asked for; never a key of a blob."""
    route: str
    names: tuple = ()

    def __str__(self):
        return f"{self.route} {', '.join(map(repr, self.names))}"


def answers_of(board):
    """Returns {Question: Answer} of a TensorBoard that has loaded its log directory."""
    with futures.ThreadPoolExecutor(CLIENTS) as pool:
        asker = _Asker(board, pool)
        for ask in (_core, _scalars, _custom_scalars, _histograms, _images, _audio, _text, _pr_curves, _meshes, _graphs,
                    _hparams, _timeseries, _own_files):
            ask(asker)
        asker.finish()
    return asker.answers


def differences(expected, got):
    """Returns {Question: (expected, got)}; None for an answer to a question that the other server did not cause."""
    return {question: (expected.get(question), got.get(question)) for question in sorted({*expected, *got})
            if expected.get(question) != got.get(question)}


def places(expected, got, place=""):
    """Yields where two answers differ: (place, expected, got)."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for name in sorted({*expected, *got}):
            yield from places(expected.get(name), got.get(name), f"{place}/{name}")
    elif isinstance(expected, (list, tuple)) and isinstance(got, (list, tuple)) and len(expected) == len(got):
        for number, (one, other) in enumerate(zip(expected, got)):
            yield from places(one, other, f"{place}/{number}")
    elif expected != got:
        yield place, expected, got


class _Asker:
    def __init__(self, board, pool):
        self._log_dir = board.log_dir.encode()
        self._board = board
        self._pool = pool
        self._pending = []
        self.answers = {}

    def later(self, *arguments, **options):
        """As ask(), for an answer that leads to no further question."""
        self._pending.append(self._pool.submit(self.ask, *arguments, **options))

    def finish(self):
        for pending in self._pending:
            pending.result()

    def ask(self, route, names=(), form=None, path=None, change=lambda parsed: parsed, **query):
        """Asks and notes the answer, changed by `change`. Returns what was answered, unchanged; None unless it is JSON.

        The query counts as names, unless other names are given.
        """
        names = tuple(map(str, names)) or tuple(str(value) for value in query.values())
        status, content_type, body = self._board.fetch(path or f"plugin/{route}", query=query, form=form)
        body = body.replace(self._log_dir, b"LOGDIR")
        is_json = status == 200 and content_type.startswith("application/json")
        parsed = json.loads(body) if is_json else None
        self.answers[Question(route, names)] = Answer(status, content_type, change(parsed) if is_json else body)
        return json.loads(body) if is_json else None


def _series(tags):
    """Yields (run, tag, info) of an answer to a plugin's route `tags`."""
    for run, of_run in sorted((tags or {}).items()):
        for tag in sorted(of_run):
            yield run, tag, of_run[tag] if isinstance(of_run, dict) else None


def _runs_by_tag(tags):
    runs = {}
    for run, tag, _ in _series(tags):
        runs.setdefault(tag, []).append(run)
    return runs


def _core(asker):
    def without_address(environment):
        return {name: value for name, value in environment.items() if name != "debug"}

    def without_projector(plugins):
        return {name: listed for name, listed in plugins.items() if name != "projector"}

    asker.later("environment", path="environment", change=without_address)
    asker.later("plugins_listing", path="plugins_listing", change=without_projector)
    for route in ("logdir", "runs", "experiments", "experiment_runs", "window_properties"):
        asker.later(route, path=route)
    asker.later("runs", ("of an experiment",), path="/experiment/some/data/runs")


def _scalars(asker):
    tags = asker.ask("scalars/tags")
    for run, tag, _ in _series(tags):
        asker.later("scalars/scalars", run=run, tag=tag)
        asker.later("scalars/scalars", run=run, tag=tag, format="csv")
    for tag, runs in _runs_by_tag(tags).items():
        asker.later("scalars/scalars_multirun", (tag,), form=[("tag", tag), *(("runs", run) for run in runs)])
    for run in sorted(tags or {})[:1]:
        asker.later("scalars/scalars", run=run, tag="no such tag")
        asker.later("scalars/scalars_multirun", (run, "no such tag"), form=[("tag", "no such tag"), ("runs", run)])
    asker.later("scalars/scalars", run="no such run", tag="no such tag")
    asker.later("scalars/scalars_multirun", ("no runs",), form=[("tag", "loss")])


def _custom_scalars(asker):
    asker.later("custom_scalars/layout")
    runs = asker.ask("scalars/tags") or {}
    for run in sorted(runs):
        asker.later("custom_scalars/scalars", run=run, tag=".*")
    for run, tag, _ in _series(runs):
        for form in ("json", "csv"):
            asker.later("custom_scalars/download_data", run=run, tag=tag, format=form)


def _histograms(asker):
    for plugin in ("histograms", "distributions"):
        for run, tag, _ in _series(asker.ask(f"{plugin}/tags")):
            asker.later(f"{plugin}/{plugin}", run=run, tag=tag)
        asker.later(f"{plugin}/{plugin}", run="no such run", tag="no such tag")


def _blob_series(asker, plugin, route, blob_route):
    """`samples` is None if a restart has discarded all values; one sample is asked for beyond the last."""
    for run, tag, info in _series(asker.ask(f"{plugin}/tags")):
        for sample in range(max(0, info["samples"] or 0) + 1):
            entries = asker.ask(f"{plugin}/{route}", run=run, tag=tag, sample=sample, change=_without_keys) or ()
            for number, entry in enumerate(entries):
                asker.later(f"{plugin}/{blob_route}", (run, tag, sample, number),
                            **dict(urllib.parse.parse_qsl(entry["query"])))
    asker.later(f"{plugin}/{route}", run="no such run", tag="no such tag", sample=0)


def _without_keys(entries):
    return [{name: value for name, value in entry.items() if name not in ("query", "imageId")} for entry in entries]


def _images(asker):
    _blob_series(asker, "images", "images", "individualImage")


def _audio(asker):
    _blob_series(asker, "audio", "audio", "individualAudio")


def _text(asker):
    def in_order(runs):
        return {run: sorted(tags) for run, tags in runs.items()}

    for run, tag, _ in _series(asker.ask("text/tags", change=in_order)):
        asker.later("text/text", run=run, tag=tag)
        asker.later("text/text", run=run, tag=tag, markdown="false")


def _pr_curves(asker):
    tags = asker.ask("pr_curves/tags")
    for run, tag, _ in _series(tags):
        asker.later("pr_curves/pr_curves", run=run, tag=tag)
    for tag, runs in _runs_by_tag(tags).items():
        query = "&".join(urllib.parse.urlencode({"run": run}) for run in runs)
        asker.later("pr_curves/pr_curves", (tag, "all runs"),
                  path=f"plugin/pr_curves/pr_curves?{urllib.parse.urlencode({'tag': tag})}&{query}")


def _meshes(asker):
    def in_order(entries):
        return sorted(entries, key=lambda entry: (entry["step"], entry["content_type"]))

    for run, tag, info in _series(asker.ask("mesh/tags")):
        entries = asker.ask("mesh/meshes", run=run, tag=tag, sample=0, change=in_order) or []
        for step in sorted({entry["step"] for entry in entries}):
            for content in MESH_CONTENT:
                for sample in range(info["samples"]):
                    asker.later("mesh/data", run=run, tag=tag, sample=sample, content_type=content, step=step)


def _graphs(asker):
    def in_order(info):
        return {run: {**of_run, "tags": dict(sorted(of_run["tags"].items()))} for run, of_run in info.items()}

    for run, of_run in sorted((asker.ask("graphs/info", change=in_order) or {}).items()):
        asker.later("graphs/graph", run=run)
        asker.later("graphs/graph", run=run, limit_attr_size=100, large_attrs_key="_too_large")
        for tag in sorted(of_run["tags"]):
            asker.later("graphs/graph", run=run, tag=tag)
            asker.later("graphs/graph", run=run, tag=tag, conceptual="true")
            asker.later("graphs/run_metadata", run=run, tag=tag)


def _hparams(asker):
    asker.later("hparams/experiment", request="{}")
    request = json.dumps({"allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"],
                          "colParams": [], "startIndex": 0, "sliceSize": 1000, "aggregationType": "AGGREGATION_AVG"})
    groups = asker.ask("hparams/session_groups", request=request, change=_sorted_groups) or {}
    for group in groups.get("sessionGroups", ()):
        for session in group.get("sessions", ()):
            for value in session.get("metricValues", ()):
                evaluations = json.dumps({"sessionName": session["name"], "metricName": value["name"]}, sort_keys=True)
                asker.later("hparams/metric_evals", request=evaluations)
    for form in DOWNLOADS:
        asker.later("hparams/download_data", (form,), format=form, columnsVisibility="[true]", request=request,
                  change=lambda table: {**table, "rows": sorted(table["rows"], key=str)})


def _sorted_groups(groups):
    def sorted_by(key, entries):
        return sorted(entries, key=lambda entry: json.dumps(entry[key], sort_keys=True))

    for group in groups.get("sessionGroups", ()):
        for session in group.get("sessions", ()):
            session["metricValues"] = sorted_by("name", session.get("metricValues", ()))
        group["metricValues"] = sorted_by("name", group.get("metricValues", ()))
        group["sessions"] = sorted_by("name", group.get("sessions", ()))
    return {**groups, "sessionGroups": sorted_by("sessions", groups.get("sessionGroups", ()))}


def _timeseries(asker):
    tags = asker.ask("timeseries/tags") or {}
    for plugin in ("scalars", "histograms"):
        runs = tags.get(plugin, {}).get("runTagInfo", {})
        for tag in sorted({tag for of_run in runs.values() for tag in of_run}):
            if plugin == "scalars":  # of all runs at once
                _time_series(asker, {"plugin": plugin, "tag": tag})
            else:
                for run in sorted(run for run, of_run in runs.items() if tag in of_run):
                    _time_series(asker, {"plugin": plugin, "tag": tag, "run": run})
    for tag, runs in sorted(tags.get("images", {}).get("tagRunSampledInfo", {}).items()):
        for run, info in sorted(runs.items()):
            for sample in range(max(0, info["maxSamplesPerStep"])):
                _time_series(asker, {"plugin": "images", "tag": tag, "run": run, "sample": sample})


def _time_series(asker, request):
    """Asks for one series, and for the images of one."""
    names = tuple(request.values())
    form = [("requests", json.dumps([request]))]
    if request["plugin"] != "images":
        asker.later("timeseries/timeSeries", names, form=form)
        return

    def without_keys(answers):
        return [{**answer, "runToSeries": {run: _without_keys(series) for run, series in answer["runToSeries"].items()}}
                for answer in answers]

    for answer in asker.ask("timeseries/timeSeries", names, form=form, change=without_keys) or ():
        for run, series in answer["runToSeries"].items():
            for number, entry in enumerate(series):
                asker.later("timeseries/imageData", (*names, run, number), imageId=entry["imageId"])


def _own_files(asker):
    """Plugins that read files of their own, beside the event files of runs that the data server lists."""
    for run in asker.ask("projector/runs") or ():
        info = asker.ask("projector/info", run=run) or {}
        for embedding in info.get("embeddings", ()):
            for route in ("tensor", "metadata", "sprite_image", "bookmarks"):
                asker.later(f"projector/{route}", run=run, name=embedding["tensorName"])
    asker.later("debugger-v2/runs")
    asker.later("profile/runs")

# SPDX-License-Identifier: Apache-2.0
"""All runs as one table, by the tool `steptape runs`."""

import json
import os
import subprocess
import warnings

from ._frames import distinct
from ._optional import require
from ._read import DamageWarning
from ._tool import tool

_COLUMNS = ("run", "state", "step", "trained_seconds", "sessions", "last_wall_time")


def runs(path, *, metrics=None, where=(), run=None):
    """A pandas DataFrame with a row for each run at and below `path`.

        import steptape

        table = steptape.runs("runs", metrics=["val/loss:min"], where=["lr>0.01"])
        table.sort_values("val/loss:min").head(10)

    path:     a log directory, a run's directory, an event file, or a list of them
    metrics:  scalars to show: "TAG" or "TAG:last", "TAG:min", "TAG:max". None: the last values of all tags
    where:    conditions that must all hold, such as "lr>0.01" or "state=killed"
    run:      a regular expression that some part of the run's directory must match

    | column | |
    |---|---|
    | `run` | the directory |
    | `state` | "running", "hanging", "killed", "failed" or "ended"; None: unknown. docs/tool.md describes them |
    | `step` | the largest step |
    | `trained_seconds`, `sessions` | time of training without the gaps between sessions, and their number |
    | `last_wall_time` | of the last event, in seconds since 1970 |
    | `hparams/NAME` | each hyperparameter that a run has logged |
    | a metric | its value |

    A metric named like another column, such as a tag `step`, is the column "step (2)", with a warning.

    Raises ValueError for a name that no run has, and OSError if there is no run. Warns as `steptape runs`
    prints: of damage, for example. Needs pandas. Cost: starts the tool once.
    """
    pandas = require("pandas", "pandas", "steptape.runs()")
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    options = [f"--metric={metric}" for metric in _texts(metrics, "metrics")]
    options += [f"--where={condition}" for condition in _texts(where, "where")]
    if run is not None:
        options.append(f"--run={run}")
    answer = _ask(["runs", "--json", *options, "--", *map(os.fspath, paths)])
    rows = answer["runs"]
    hparams = [f"hparams/{name}" for name in _names(rows, "hparams")]
    tags = _names(rows, "metrics")
    titles = dict(zip(tags, distinct(tags, [*_COLUMNS, *hparams], "steptape.runs()", stacklevel=3)))
    return pandas.DataFrame([_row(each, titles) for each in rows], columns=[*_COLUMNS, *hparams, *titles.values()])


def _ask(arguments):
    program = tool()
    if program is None:
        raise FileNotFoundError("steptape.runs(): got no program 'steptape'; expected the one that comes with the "
                                "package. Install the wheel: pip install --force-reinstall steptape")
    done = subprocess.run([program, *arguments], capture_output=True, encoding="utf-8", errors="surrogateescape",
                          check=False)
    lines = done.stderr.splitlines()
    if not done.stdout:
        message = "steptape.runs(): " + " ".join(lines[:1]).removeprefix("steptape: ")
        raise (ValueError if done.returncode == 2 and not message.startswith("steptape.runs(): PATH")
               else FileNotFoundError)(message)
    for line in lines:
        category = DamageWarning if line.startswith("problem: ") else UserWarning
        warnings.warn(line.removeprefix("problem: ").removeprefix("note: "), category, stacklevel=3)
    return json.loads(done.stdout)


def _texts(value, name):
    if value is None:
        return []
    if isinstance(value, str):
        raise TypeError(f"steptape.runs(): {name}: got the str {value!r}; expected a list of them: [{value!r}]")
    return list(value)


def _names(rows, kind):
    """The keys of an object that each row has, in their order."""
    return list(dict.fromkeys(name for row in rows for name in row[kind]))


def _row(run, titles):
    row = {name: run[name] for name in _COLUMNS}
    row.update((f"hparams/{name}", value) for name, value in run["hparams"].items())
    row.update((titles[name], None if metric is None else float(metric["value"]))
               for name, metric in run["metrics"].items())
    return row

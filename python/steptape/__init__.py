# SPDX-License-Identifier: Apache-2.0
"""Reads TensorBoard event files as numpy columns, pandas, polars and Arrow tables.

    import steptape

    steptape.runs("runs")                      # one row for each run: hyperparameters, metrics, state
    runs = steptape.read("runs")               # every run below the directory
    loss = runs["exp1"]["loss"]                # a Series: one tag of one run
    loss.steps, loss.wall_times, loss.values   # numpy columns
    runs.to_pandas()                           # run, tag, step, wall_time, value
    runs.to_pandas(pivot=True)                 # one column for each tag

read() reads every intact record of a damaged file and warns about the rest. follow() returns what a
running job adds. Images, audio, histograms, tensors and texts are read from their files on access.

steptape.compat has EventAccumulator and tbparse.SummaryReader under the same names: change one import.
`python -m steptape` starts the command-line tool, as `steptape` does.
"""

from ._core import DataError, __version__
from ._follow import Follower, ReplacedFileWarning, follow
from ._read import DamageWarning, EmptyLogWarning, MixedTagWarning, RoundedWarning, read
from ._runs import Damage, Run, Runs
from ._series import Series
from ._open_run import WriterWarning
from ._overview import runs
from ._values import Audio, Histogram, Image
from ._writer import SummaryWriter

__all__ = ["Audio", "Damage", "DamageWarning", "DataError", "EmptyLogWarning", "Follower", "Histogram",
           "Image", "MixedTagWarning", "ReplacedFileWarning", "RoundedWarning", "Run", "Runs", "Series",
           "SummaryWriter", "WriterWarning", "follow", "read", "runs", "__version__"]

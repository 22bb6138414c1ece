# SPDX-License-Identifier: Apache-2.0
"""TensorBoard's EventMultiplexer over Steptape's reader: an EventAccumulator for each run.

    from steptape.compat.event_multiplexer import EventMultiplexer

    multiplexer = EventMultiplexer().AddRunsFromDirectory("runs").Reload()
    multiplexer.Scalars("exp1", "loss")

Names, arguments and results are those of tensorboard.backend.event_processing.event_multiplexer.
"""

from __future__ import annotations

import os
from typing import Any, Optional

from .event_accumulator import DEFAULT_SIZE_GUIDANCE, EventAccumulator


class EventMultiplexer:
    """The runs that were added, by name."""

    def __init__(self, run_path_map: Optional[dict] = None, size_guidance: Optional[dict] = None,
                 purge_orphaned_data: bool = True):
        """run_path_map: paths by the name of the run. Other arguments as for EventAccumulator."""
        self.purge_orphaned_data = purge_orphaned_data
        self._size_guidance = size_guidance or DEFAULT_SIZE_GUIDANCE
        self._accumulators: dict[str, EventAccumulator] = {}
        self._is_reloaded = False
        for name, path in (run_path_map or {}).items():
            self.AddRun(path, name)

    def AddRun(self, path, name: Optional[str] = None) -> EventMultiplexer:
        """Adds the run of a directory or a file, or replaces one of another path under the same name."""
        name = name or path
        if name not in self._accumulators or self._accumulators[name].path != path:
            self._accumulators[name] = EventAccumulator(path, self._size_guidance,
                                                        purge_orphaned_data=self.purge_orphaned_data)
            if self._is_reloaded:
                self._accumulators[name].Reload()
        return self

    def AddRunsFromDirectory(self, path, name: Optional[str] = None) -> EventMultiplexer:
        """Adds every run in and below a directory; none if it does not exist."""
        visited = set()  # links may lead back
        for directory, folders, files in os.walk(path, followlinks=True):
            folders.sort()
            place = os.path.realpath(directory)
            if place in visited:
                folders.clear()
                continue
            visited.add(place)
            if any("tfevents" in file for file in files):
                below = os.path.relpath(directory, path)
                self.AddRun(directory, os.path.join(name, below) if name else below)
        return self

    def Reload(self) -> EventMultiplexer:
        """Reads what was written to all runs; a run whose directory is gone keeps what it has."""
        self._is_reloaded = True
        for accumulator in self._accumulators.values():
            try:
                accumulator.Reload()
            except OSError:
                pass  # The original logs it.
        return self

    def GetAccumulator(self, run: str) -> EventAccumulator:
        """Raises KeyError if there is no such run, like all methods with a run."""
        return self._accumulators[run]

    def Runs(self) -> dict[str, dict[str, Any]]:
        """EventAccumulator.Tags() of each run."""
        return {run: accumulator.Tags() for run, accumulator in self._accumulators.items()}

    def RunPaths(self) -> dict[str, Any]:
        return {run: accumulator.path for run, accumulator in self._accumulators.items()}

    def Scalars(self, run: str, tag: str) -> list:
        return self.GetAccumulator(run).Scalars(tag)

    def Histograms(self, run: str, tag: str) -> list:
        return self.GetAccumulator(run).Histograms(tag)

    def CompressedHistograms(self, run: str, tag: str) -> list:
        return self.GetAccumulator(run).CompressedHistograms(tag)

    def Images(self, run: str, tag: str) -> list:
        return self.GetAccumulator(run).Images(tag)

    def Audio(self, run: str, tag: str) -> list:
        return self.GetAccumulator(run).Audio(tag)

    def Tensors(self, run: str, tag: str) -> list:
        return self.GetAccumulator(run).Tensors(tag)

    def Graph(self, run: str) -> Any:
        return self.GetAccumulator(run).Graph()

    def SerializedGraph(self, run: str) -> bytes:
        return self.GetAccumulator(run).SerializedGraph()

    def MetaGraph(self, run: str) -> Any:
        return self.GetAccumulator(run).MetaGraph()

    def RunMetadata(self, run: str, tag: str) -> Any:
        return self.GetAccumulator(run).RunMetadata(tag)

    def FirstEventTimestamp(self, run: str) -> float:
        return self.GetAccumulator(run).FirstEventTimestamp()

    def GetSourceWriter(self, run: str) -> Optional[str]:
        return self.GetAccumulator(run).GetSourceWriter()

    def SummaryMetadata(self, run: str, tag: str) -> Any:
        return self.GetAccumulator(run).SummaryMetadata(tag)

    def PluginRunToTagToContent(self, plugin_name: str) -> dict[str, dict[str, bytes]]:
        """EventAccumulator.PluginTagToContent() of each run that has the plugin."""
        contents = {}
        for run, accumulator in self._accumulators.items():
            try:
                contents[run] = accumulator.PluginTagToContent(plugin_name)
            except KeyError:
                pass
        return contents

    def PluginAssets(self, plugin_name: str) -> dict[str, list[str]]:
        return {run: accumulator.PluginAssets(plugin_name) for run, accumulator in self._accumulators.items()}

    def RetrievePluginAsset(self, run: str, plugin_name: str, asset_name: str) -> str:
        return self.GetAccumulator(run).RetrievePluginAsset(plugin_name, asset_name)

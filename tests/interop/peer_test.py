#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorBoard shows Steptape's files like those of tensorboardX and torch.utils.tensorboard.

Each value is written by all three from the same numbers, and what a TensorBoard serves of it is
compared. Where it differs, the checks say how exactly; docs/compatibility.md has the list.
"""

import unittest

from peer_comparison import PeerComparison
from peer_graph_checks import OnnxChecks
from peer_media_checks import ImageChecks, SoundChecks, VideoChecks
from peer_plugin_checks import (EmbeddingChecks, LayoutChecks, MeshChecks, PrCurveChecks,
                                TrialChecks)
from peer_tensor_checks import TensorChecks
from peer_values_checks import HistogramChecks, ScalarChecks, TextChecks


class Checks(ScalarChecks, TextChecks, HistogramChecks, ImageChecks, VideoChecks, SoundChecks,
             PrCurveChecks, MeshChecks, LayoutChecks, TrialChecks, EmbeddingChecks, OnnxChecks,
             TensorChecks, PeerComparison):
    """Every kind of value; a subclass for each of TensorBoard's two loaders."""


class FastLoader(Checks, unittest.TestCase):
    """TensorBoard's default, the data server in Rust."""

    fast = True


class PythonLoader(Checks, unittest.TestCase):
    """--load_fast=false, which TensorBoard also takes for some file systems."""

    fast = False


if __name__ == "__main__":
    unittest.main()

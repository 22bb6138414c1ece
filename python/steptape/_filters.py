# SPDX-License-Identifier: Apache-2.0
"""Selects the runs and tags to read."""

from __future__ import annotations

import os
import re
from typing import Callable, Optional, Union

Pattern = Union[str, "re.Pattern[str]"]
Wants = Callable[[str], bool]


def wants(pattern: Optional[Pattern]) -> Optional[Wants]:
    """A function that returns whether any part of a name matches; None if every name does."""
    if pattern is None:
        return None
    search = re.compile(pattern).search
    return lambda name: search(name) is not None


def default_threads() -> int:
    """The number of processors that this process may use, at most eight: more do not read faster."""
    return min(len(os.sched_getaffinity(0)), 8)

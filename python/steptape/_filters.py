# SPDX-License-Identifier: Apache-2.0
"""Which runs and tags are read."""

from __future__ import annotations

import os
import re
from typing import Callable, Optional, Union

Pattern = Union[str, "re.Pattern[str]"]
Wants = Callable[[str], bool]


def wants(pattern: Optional[Pattern]) -> Optional[Wants]:
    """A function that says whether a name matches anywhere; None if every name does."""
    if pattern is None:
        return None
    search = re.compile(pattern).search
    return lambda name: search(name) is not None


def default_threads() -> int:
    """As many as there are processors for this process; more than eight read no faster."""
    return min(len(os.sched_getaffinity(0)), 8)

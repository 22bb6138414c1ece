# SPDX-License-Identifier: Apache-2.0
"""Event files as TensorBoard's own loader reads them, for data that no page shows."""

import glob
import os

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader


def values_by_tag(directory):
    """The values of a run's only event file, each as (event, value); a tag's last one."""
    (path,) = glob.glob(os.path.join(directory, "*tfevents*"))
    return {value.tag: (event, value) for event in EventFileLoader(path).Load()
            for value in event.summary.value}

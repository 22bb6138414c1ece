# SPDX-License-Identifier: Apache-2.0
"""The classes that scripts for TensorBoard's files use, over Steptape's reader: change one import.

    from steptape.compat.event_accumulator import EventAccumulator   # was tensorboard.backend....
    from steptape.compat.tbparse import SummaryReader                # was tbparse

Neither package need be installed. docs/python.md lists what differs.
"""

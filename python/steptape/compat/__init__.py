# SPDX-License-Identifier: Apache-2.0
"""The classes that scripts for TensorBoard use, over Steptape's reader and writer: change one import.

    from steptape.compat.event_accumulator import EventAccumulator   # was tensorboard.backend....
    from steptape.compat.tbparse import SummaryReader                # was tbparse
    from steptape.compat.tensorboard import SummaryWriter            # was torch.utils.tensorboard
    from steptape.compat.tensorboardX import SummaryWriter           # was tensorboardX

None of them need be installed. docs/python.md lists what differs.
"""

# SPDX-License-Identifier: Apache-2.0
"""How long a test waits for what a free machine does within seconds."""

PATIENCE_SECONDS = 300

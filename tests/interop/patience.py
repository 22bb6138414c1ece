# SPDX-License-Identifier: Apache-2.0
"""Time limits of tests for events that an idle machine produces within seconds."""

PATIENCE_SECONDS = 300

# SPDX-License-Identifier: Apache-2.0
"""A program that a test starts and always ends, with every process it started."""

import os
import signal


class OwnedProcess:
    """A context manager around self._process, which leads a separate session.

    A subclass starts the process in its constructor, waits for it in _begin(), and gives back what
    else it holds in _release().
    """

    def __enter__(self):
        try:
            self._begin()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait(timeout=60)
        self._release()

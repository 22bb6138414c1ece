# SPDX-License-Identifier: Apache-2.0
"""Asks XProf for the numbers that its page fetches for its charts and tables."""


def rows_of(table):
    """The rows of a table, each a dict from column to value."""
    names = [column["id"] for column in table["cols"]]
    return [dict(zip(names, [cell and cell["v"] for cell in row["c"]])) for row in table["rows"]]


class XProfRun:
    """One session of profiles, which XProf calls a run: "<sub-run>/<session>"."""

    def __init__(self, tensorboard, name):
        self._tensorboard = tensorboard
        self.name = name

    def get(self, tool, **query):
        """A tool's data, of all hosts unless one is named.

        XProf saves the statistics of the first question, and answers later ones from them, also
        if they are about other hosts.
        """
        return self._tensorboard.get("plugin/profile/data", run=self.name, tag=tool, **{
            "host": "ALL_HOSTS", "use_saved_result": "false", **query})

    def hosts(self):
        hosts = self._tensorboard.get("plugin/profile/hosts", run=self.name, tag="memory_profile")
        return sorted(host["hostname"] for host in hosts)

    def steps(self, tool="overview_page", **query):
        """The rows of the chart of step times."""
        for table in self.get(tool, **query):
            if table and any(column["id"] == "stepTimeMs" for column in table["cols"]):
                return rows_of(table)
        return []

    def operators(self):
        # The second table is without idle time.
        return rows_of(self.get("framework_op_stats")[1])

    def memory(self, host):
        """Returns the memory page's data about the CPU's memory."""
        return self.get("memory_profile", host=host)["memoryProfilePerAllocator"]["cpu"]

    def trace(self, *hosts, **query):
        """The events that the trace viewer draws."""
        return self.get("trace_viewer@", hosts=",".join(hosts), **query)["traceEvents"]

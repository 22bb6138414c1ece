#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorBoard and the terminal show the same results of the example scaling_study."""

import os
import re
import subprocess
import tempfile
import unittest

import screenshot
from browser import Page
from page_case import PageCase
from patience import PATIENCE_SECONDS
from tensorboard_server import TensorBoard

RANKS = [1, 2, 4]
COLUMNS = ["ranks", "cell_updates_per_second", "speed-up", "efficiency", "wait", "input",
           "compute", "seconds"]

output = None
tensorboard = None
page = None


def setUpModule():
    global output, tensorboard, page
    runs = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    output = subprocess.run(
        [os.environ["STEPTAPE_SCALING_STUDY"], "--ranks", ",".join(map(str, RANKS)),
         "--launcher", os.environ["STEPTAPE_MPIEXEC"] + " -n {ranks}",
         "--rate-tag", "cell_updates_per_second", "--scaling", "strong", "--work", "64",
         "--log-dir", os.path.join(runs, "study"), "--", os.environ["STEPTAPE_METRIC_AVERAGING"],
         "--cells", "64", "--iterations", "100", "--tolerance", "0", "--log-dir", "{log_dir}"],
        check=True, timeout=PATIENCE_SECONDS, stdout=subprocess.PIPE, text=True).stdout
    tensorboard = unittest.enterModuleContext(TensorBoard(runs))
    page = unittest.enterModuleContext(Page(1400, 1000))


class StudyCase(PageCase):
    def setUp(self):
        self.page = page

    def tearDown(self):
        self.assertEqual(self.page.errors(), [], "the browser's console")

    def show(self, name, *texts, tags):
        screenshot.show(self.page, tensorboard.url, name, tags)
        for text in texts:
            self.page.wait_for_text(text)

    def cells(self):
        """The rows of the terminal's table, without its heading."""
        lines = [re.split(" {2,}", line.strip()) for line in output.splitlines()]
        at = lines.index(COLUMNS)
        return lines[at + 1:at + 1 + len(RANKS)]

    def values(self, name):
        """A scalar's values by ranks, once they are all there."""
        def check():
            points = tensorboard.get("plugin/scalars/scalars", run="study", tag=f"scaling/{name}")
            self.assertEqual([step for _, step, _ in points], RANKS)
            return [value for _, _, value in points]

        return tensorboard.eventually(check)


class ScalingStudy(StudyCase):
    def test_the_terminal_has_a_row_for_each_number_of_ranks(self):
        self.assertEqual([int(row[0]) for row in self.cells()], RANKS)
        self.assertEqual(self.cells()[0][2:4], ["1.00", "100.0 %"])

    def test_shares_of_the_time_add_up_to_the_whole(self):
        for row in self.cells():
            shares = [float(cell.removesuffix(" %")) for cell in row[4:7]]
            self.assertAlmostEqual(sum(shares), 100, delta=0.16)  # Each is rounded to 0.1.
        shares = zip(*(self.values(f"{part}_share") for part in ("wait", "input", "compute")))
        for ranks, of_ranks in zip(RANKS, shares):
            self.assertAlmostEqual(sum(of_ranks), 1, places=6)
            self.assertTrue(all(0 <= share <= 1 for share in of_ranks), (ranks, of_ranks))

    def test_scalars_have_the_number_of_ranks_as_step(self):
        rates = self.values("cell_updates_per_second")
        speed_ups = self.values("speed_up")
        efficiencies = self.values("efficiency")
        for ranks, rate, speed_up, efficiency, row in zip(RANKS, rates, speed_ups, efficiencies,
                                                          self.cells()):
            self.assertAlmostEqual(speed_up, rate / rates[0], places=5)
            self.assertAlmostEqual(efficiency, speed_up / ranks, places=5)
            self.assertEqual(row[2:4], [f"{speed_up:.2f}", f"{100 * efficiency:.1f} %"])

    def test_the_page_draws_the_scalars(self):
        self.show("scalars", "scaling/efficiency", "scaling/speed_up",
                  tags="scaling/(eff|speed)")
        for index in range(2):
            self.eventually(lambda: self.assert_colored("vz-line-chart2", 100, index))

    def test_the_page_shows_the_terminals_table(self):
        self.show("text", "scaling/table", "Strong scaling, work in total: 64", tags="scaling")

        def check():
            cells = self.page.all("tf-markdown-view >> td")[:len(RANKS) * len(COLUMNS)]
            self.assertEqual(cells, sum(self.cells(), []))

        self.eventually(check)


class StudyFigures(StudyCase):
    def test_the_page_shows_speed_up_and_shares(self):
        self.show("images", "scaling/speed_up_against_ideal", "scaling/where_the_time_goes",
                  tags="scaling")
        self.eventually(lambda: self.assertEqual(
            self.page.all("tf-image-loader >> img", "`${e.naturalWidth}x${e.naturalHeight}`")[:2],
            ["480x360", "480x360"]))
        for index in range(2):
            # At least the bar of one rank, which is 100 %.
            self.eventually(lambda: self.assert_colored("tf-image-loader >> img", 1000, index))


if __name__ == "__main__":
    unittest.main()

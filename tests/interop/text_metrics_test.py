#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prometheus's client for Python reads the text that Steptape writes for node_exporter."""

import os
import re
import subprocess
import unittest

import prometheus_client.openmetrics.parser
import prometheus_client.parser

PARSERS = {
    "Prometheus text": prometheus_client.parser.text_string_to_metric_families,
    "OpenMetrics": prometheus_client.openmetrics.parser.text_string_to_metric_families,
}
RUN = 'runs/"a"\\b\nnew line é'


class TextMetrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        arguments = [os.environ["STEPTAPE_TEXT_METRICS_PROGRAM"], os.environ["STEPTAPE_FAKE_NVML"], RUN]
        environment = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
        result = subprocess.run(arguments, capture_output=True, check=True, env=environment)
        cls.text = result.stdout.decode("utf-8")

    def families(self, parser):
        return {family.name: family for family in parser(self.text)}

    def test_both_parsers_read_every_family(self):
        names = set(re.findall(r"^# TYPE (\S+)", self.text, re.MULTILINE))
        for name, parser in PARSERS.items():
            with self.subTest(parser=name):
                families = self.families(parser)
                self.assertEqual(set(families), names)
                for family in families.values():
                    self.assertEqual(family.type, "gauge")
                    self.assertTrue(family.documentation)
                    self.assertTrue(family.samples)

    def test_labels_survive(self):
        for name, parser in PARSERS.items():
            with self.subTest(parser=name):
                for family in self.families(parser).values():
                    for sample in family.samples:
                        self.assertEqual(sample.name, family.name)
                        self.assertEqual(sample.labels["run"], RUN)
                        self.assertEqual(sample.labels["host"], "node7")
                        self.assertEqual(sample.labels["rank"], "3")

    def test_values_survive(self):
        for name, parser in PARSERS.items():
            with self.subTest(parser=name):
                families = self.families(parser)
                self.assertEqual(families["steptape_last_step"].samples[0].value, 12)
                self.assertEqual(families["steptape_last_step_time_seconds"].samples[0].value, 1700000000.25)
                self.assertGreater(families["steptape_machine_resident_bytes"].samples[0].value, 1e5)
                self.assertEqual(
                    {s.labels["gpu"]: s.value for s in families["steptape_machine_gpu_memory_bytes"].samples},
                    {"0": 1e9, "1": 3e9})

    def test_no_sample_has_a_time_stamp(self):
        # node_exporter's textfile collector rejects files with time stamps.
        for family in self.families(PARSERS["Prometheus text"]).values():
            for sample in family.samples:
                self.assertIsNone(sample.timestamp)


if __name__ == "__main__":
    unittest.main()

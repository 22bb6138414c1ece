// SPDX-License-Identifier: Apache-2.0
#include "process/machine/text_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// tests/interop reads the text with the parsers of Prometheus's client for Python.
namespace steptape::detail::process {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TextMetrics, AreGaugesWithTheLabelsOfTheRank) {
  MachineSample sample;
  sample.residentBytes = 1.5e9;
  sample.load = 0.25;
  sample.gpus.resize(2);
  sample.gpus[0].powerWatts = 100.5;
  sample.gpus[1].powerWatts = 700;
  EXPECT_EQ(textMetrics(sample, {"runs/a", "node7", 3}, LatestStep{12, 1700000000.5}),
            R"(# HELP steptape_last_step Latest training step.
# TYPE steptape_last_step gauge
steptape_last_step{run="runs/a",host="node7",rank="3"} 12
# HELP steptape_last_step_time_seconds Time of the latest training step, in seconds since 1970-01-01 UTC.
# TYPE steptape_last_step_time_seconds gauge
steptape_last_step_time_seconds{run="runs/a",host="node7",rank="3"} 1700000000.5
# HELP steptape_machine_resident_bytes Physical memory of the process.
# TYPE steptape_machine_resident_bytes gauge
steptape_machine_resident_bytes{run="runs/a",host="node7",rank="3"} 1.5e+09
# HELP steptape_machine_node_load Threads of the node that run or wait, over a minute.
# TYPE steptape_machine_node_load gauge
steptape_machine_node_load{run="runs/a",host="node7",rank="3"} 0.25
# HELP steptape_machine_gpu_power_watts Power that the GPU draws.
# TYPE steptape_machine_gpu_power_watts gauge
steptape_machine_gpu_power_watts{run="runs/a",host="node7",rank="3",gpu="0"} 100.5
steptape_machine_gpu_power_watts{run="runs/a",host="node7",rank="3",gpu="1"} 700
# EOF
)");
}

TEST(TextMetrics, LeaveOutWhatIsUnknown) {
  EXPECT_EQ(textMetrics(MachineSample(), {"a", "b", 0}, std::nullopt), "# EOF\n");
}

TEST(TextMetrics, EscapeLabels) {
  MachineSample sample;
  sample.load = 1;
  EXPECT_THAT(textMetrics(sample, {"a\"b\\c\nd\xff", "h", 0}, std::nullopt),
              HasSubstr(R"({run="a\"b\\c\nd)"
                        "\xEF\xBF\xBD\",host=\"h\""));
}

TEST(TextMetrics, HaveAFileForEachRankAndRun) {
  EXPECT_EQ(textMetricsFileName({"runs/my exp", "node7.cluster", 12}),
            "steptape_runs_my_exp_node7.cluster_12.prom");
  EXPECT_THAT(textMetricsFileName({"../../etc/x", "h", 0}), Not(HasSubstr("/")));
  EXPECT_LT(textMetricsFileName({std::string(5000, 'a'), std::string(5000, 'b'), 0}).size(), 256U);
}

}  // namespace
}  // namespace steptape::detail::process

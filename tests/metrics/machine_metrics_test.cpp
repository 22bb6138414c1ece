// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/machine_metrics.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics/writer_on_ranks.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using test::Points;
using test::PointsByTag;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kGpuMemory = "machine/gpu0/memory_bytes";

class MachineMetricsOnRanks : public test::WriterOnRanks {
 protected:
  /// Each rank has one GPU of the library in the place of NVIDIA's: rank 0 that with 1 GB in use,
  /// rank 1 that with 3 GB. Only rank 0 has new samples all the time.
  static MachineMetricsOptions optionsOf(int rank) {
    MachineMetricsOptions options;
    options.period = std::chrono::milliseconds(rank == 0 ? 1 : 60000);
    options.sampler.nvmlLibrary = STEPTAPE_FAKE_NVML;
    options.sampler.gpus = {rank};
    return options;
  }

  /// Makes steps until the root has written a mean over the GPUs of both ranks.
  void makeSteps(DistributedWriter& writer, Communicator& world, MachineMetrics& machine) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    std::int64_t step = 0;
    bool isDone = false;
    while (!isDone) {
      for (int i = 0; i < 20; ++i) {
        machine.endStep(++step);
      }
      machine.finish();
      if (world.isRoot()) {
        EXPECT_TRUE(writer.flush().ok());
        isDone = hasMeanOfBoth() || std::chrono::steady_clock::now() > deadline;
      }
      world.broadcast(&isDone, sizeof isDone, 0);
    }
  }

 private:
  bool hasMeanOfBoth() const {
    const PointsByTag points = pointsOf();
    const auto found = points.find(kGpuMemory);
    return found != points.end() && found->second.back().second == 2e9F;
  }
};

TEST_F(MachineMetricsOnRanks, AreMeanMinimumAndMaximum) {
  onRanks(2, [this](DistributedWriter& writer, Communicator& world) {
    MachineMetrics machine(writer, optionsOf(world.rank()));
    makeSteps(writer, world, machine);
  });
  const PointsByTag points = pointsOf();
  ASSERT_THAT(points, Contains(Key(kGpuMemory)));
  const auto [step, mean] = points.at(kGpuMemory).back();
  EXPECT_EQ(mean, 2e9F);
  EXPECT_EQ(points.at(std::string(kGpuMemory) + "/min").back(), std::pair(step, 1e9F));
  EXPECT_EQ(points.at(std::string(kGpuMemory) + "/max").back(), std::pair(step, 3e9F));
  EXPECT_THAT(points, AllOf(Contains(Key("machine/resident_bytes")),
                            Contains(Key("machine/resident_bytes/min")),
                            Contains(Key("machine/resident_bytes/max"))));
  EXPECT_THAT(points, Not(Contains(Key(StartsWith("machine/gpu1/")))));
  EXPECT_THAT(runs(), ElementsAre("."));
  EXPECT_THAT(reports_, IsEmpty());
}

TEST_F(MachineMetricsOnRanks, AreAlsoWrittenForEachRankUnderThatPolicy) {
  policy_ = RankPolicy::kPerRank;
  onRanks(2, [this](DistributedWriter& writer, Communicator& world) {
    MachineMetrics machine(writer, optionsOf(world.rank()));
    makeSteps(writer, world, machine);
  });
  PointsByTag ofRanks = pointsOf(rankRunName(0));
  ofRanks.merge(pointsOf(rankRunName(1)));
  ASSERT_THAT(ofRanks, Contains(Key(kGpuMemory)));
  EXPECT_THAT(ofRanks.at(kGpuMemory).front().second, ::testing::AnyOf(1e9F, 3e9F));
  EXPECT_THAT(ofRanks, Not(Contains(Key("machine/resident_bytes/min"))));
  EXPECT_THAT(pointsOf(), Contains(Key("machine/resident_bytes/min")));
}

TEST_F(MachineMetricsOnRanks, RejectRanksAtDifferentSteps) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    MachineMetrics machine(writer, optionsOf(world.rank()));
    test::expectError(ErrorCode::kRankMismatch, "machine metrics at step ", [&] {
      machine.endStep(world.rank());
      machine.finish();
    });
  });
}

class MachineMetricsAlone : public test::WriterOnRanks {
 protected:
  MachineMetricsOptions options() const {
    MachineMetricsOptions options;
    options.period = std::chrono::milliseconds(1);
    options.sampler.nvmlLibrary = "";
    options.textFileDirectory = textFiles();
    options.run = "my run";
    return options;
  }

  std::string textFiles() const { return directory_.string() + "/text"; }

  std::string text() const {
    std::ostringstream text;
    if (std::filesystem::exists(textFiles())) {
      for (const auto& entry : std::filesystem::directory_iterator(textFiles())) {
        if (entry.path().extension() == ".prom") {
          text << std::ifstream(entry.path()).rdbuf();
        }
      }
    }
    return text.str();
  }

  /// Makes steps until `condition` is true, at most for a minute.
  template <typename Condition>
  static void makeStepsUntil(MachineMetrics& machine, const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (std::int64_t step = 1; !condition(); ++step) {
      machine.endStep(step);
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    }
  }
};

TEST_F(MachineMetricsAlone, NeedNoRanks) {
  SummaryWriter writer(logDir());
  {
    MachineMetrics machine(writer, options());
    makeStepsUntil(machine, [&] {
      EXPECT_TRUE(writer.flush().ok());
      return pointsOf().count("machine/cpu_percent") != 0;
    });
  }
  EXPECT_TRUE(writer.close().ok());
  const PointsByTag points = pointsOf();
  EXPECT_GT(points.at("machine/resident_bytes").front().second, 1e5F);
  EXPECT_THAT(points, Not(Contains(Key(::testing::EndsWith("/max")))));
  EXPECT_THAT(points, Not(Contains(Key(StartsWith("machine/gpu0/")))));
}

TEST_F(MachineMetricsAlone, ArePointsNoMoreOftenThanSamples) {
  SummaryWriter writer(logDir());
  MachineMetricsOptions rare = options();
  rare.period = std::chrono::hours(1);
  {
    MachineMetrics machine(writer, rare);
    makeStepsUntil(machine, [&] {
      EXPECT_TRUE(writer.flush().ok());
      return pointsOf().count("machine/resident_bytes") != 0;
    });
    for (std::int64_t step = 1000000; step < 1010000; ++step) {
      machine.endStep(step);
    }
  }
  EXPECT_TRUE(writer.close().ok());
  EXPECT_LE(pointsOf().at("machine/resident_bytes").size(), 2U);  // at the start and a second later
}

TEST_F(MachineMetricsAlone, AreATextFileForNodeExporterUntilTheEnd) {
  SummaryWriter writer(logDir());
  {
    MachineMetrics machine(writer, options());
    makeStepsUntil(machine,
                   [&] { return text().find("steptape_last_step{") != std::string::npos; });
    EXPECT_THAT(text(), AllOf(HasSubstr("steptape_machine_resident_bytes{run=\"my run\",host=\""),
                              HasSubstr("\",rank=\"0\"} ")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(textFiles()));
}

TEST_F(MachineMetricsAlone, DoNothingInAForkedChild) {
  SummaryWriter writer(logDir());
  auto machine = std::make_unique<MachineMetrics>(writer, options());
  makeStepsUntil(*machine, [&] { return !text().empty(); });
  const pid_t child = fork();
  if (child == 0) {
    machine->endStep(1);
    machine->finish();
    machine.reset();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(text(), Not(IsEmpty()));
}

TEST_F(MachineMetricsAlone, RejectAPeriodOfZero) {
  SummaryWriter writer(logDir());
  MachineMetricsOptions wrong;
  wrong.period = std::chrono::milliseconds(0);
  test::expectError(ErrorCode::kInvalidArgument,
                    "MachineMetrics: got period = 0 ms; expected at least 1 ms",
                    [&] { MachineMetrics machine(writer, wrong); });
}

}  // namespace
}  // namespace steptape

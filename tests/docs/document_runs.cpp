// SPDX-License-Identifier: Apache-2.0
//
// document_runs DIRECTORY
//
// Writes the log directories on which screens_test.py runs the commands of the documents. Times,
// hosts and processes are constants. Values are integers after a single division, or have more
// digits than a screen shows, so that screens are the same on every machine.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "docs/document_traces.h"
#include "events/framing/record_buffer.h"
#include "events/messages/event_codec.h"

namespace steptape {
namespace {

namespace fs = std::filesystem;

constexpr double kBegin = 1795289521;  // 2026-11-21 19:32:01 UTC

/// The records of one event file.
class EventLog {
 public:
  /// @param writer Its library, as the file says.
  explicit EventLog(double begin = kBegin, const std::string& writer = {}) {
    add(begin, 0, event::FileVersion{"brain.Event:2"}, writer);
  }

  void add(double wallTime, std::int64_t step, event::Event::What what,
           const std::string& writer = {}) {
    event::Event event;
    event.sourceWriter = writer;
    event.wallTime = wallTime;
    event.step = step;
    event.what = std::move(what);
    detail::events::encodeEvent(event, buffer_.beginRecord());
    buffer_.endRecord();
  }
  void scalar(const std::string& tag, double value, std::int64_t step, double wallTime) {
    add(wallTime, step, event::Summary{{{tag, static_cast<float>(value), {}}}});
  }
  void doubleScalar(const std::string& tag, double value, std::int64_t step, double wallTime) {
    event::Tensor tensor;
    tensor.type = event::TensorType::kDouble;
    tensor.content.assign(reinterpret_cast<const char*>(&value), sizeof value);
    add(wallTime, step,
        event::Summary{{{tag, tensor, event::SummaryMetadata{"scalars", "", "", "", {}}}}});
  }
  std::string take() { return buffer_.take(); }

 private:
  detail::events::RecordBuffer buffer_;
};

/// Returns a name with the date, host and process as writers write them.
std::string fileName(double begin, int process) {
  return "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(begin)) + ".node7." +
         std::to_string(process) + ".0";
}

void writeFile(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) {
    throw std::runtime_error("cannot write " + path.string());
  }
}

/// Returns values between -1 and 1, in steps that a double represents exactly.
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : state_(seed) {}
  double next() {
    state_ = state_ * 1664525U + 1013904223U;
    return (static_cast<double>(state_ >> 16) - 32768.0) / 32768.0;
  }

 private:
  std::uint32_t state_;
};

/// A curve that falls from limit + height / delay towards limit, with noise in units of 1 / 64.
struct Curve {
  double limit;
  double height;
  double delay;
  double at(std::int64_t step, Noise* noise) const {
    return limit + height / (static_cast<double>(step) + delay) + noise->next() / 64.0;
  }
};

/// Writes `runs/adam` and similar runs: 5000 steps of training, with an evaluation every 100 steps.
void writeOptimizer(const fs::path& run, std::uint32_t seed, Curve loss, Curve accuracy) {
  EventLog log;
  Noise noise(seed);
  for (std::int64_t step = 0; step < 5000; ++step) {
    const double time = kBegin + static_cast<double>(step) / 64 + seed / 1024.0;
    log.scalar("loss/train", loss.at(step, &noise), step, time);
    if (step % 100 == 99) {
      log.scalar("accuracy/test", accuracy.at(step, &noise), step, time);
    }
  }
  writeFile(run / fileName(kBegin, 4240 + static_cast<int>(seed)), log.take());
}

/// Writes `seeds/seed_1` and similar runs: one training with several seeds, the first of which
/// ended early.
void writeSeed(const fs::path& run, std::uint32_t seed) {
  EventLog log;
  Noise noise(seed);
  const std::int64_t steps = seed == 1 ? 3000 : 4000;
  for (std::int64_t step = 0; step < steps; step += 10) {
    const double time = kBegin + static_cast<double>(step) / 64;
    log.scalar("loss/train", Curve{0.21, 260, 120}.at(step, &noise), step, time);
    if (step % 100 == 0) {
      log.scalar("accuracy/test", Curve{0.93, -90, 110}.at(step, &noise), step, time);
    }
  }
  writeFile(run / fileName(kBegin, 4250 + static_cast<int>(seed)), log.take());
}

/// Writes few enough points to list all of them in a document.
void writeDemo(const fs::path& run) {
  EventLog log(1700000000);
  log.scalar("loss", 0.5, 1, 1700000000.5);
  log.scalar("loss", 0.25, 20, 1700000001.5);
  log.scalar("accuracy", 1, 20, 1700000001.5);
  writeFile(run / "events.out.tfevents.1700000000.node7.4242.0", log.take());
}

/// Writes the curves of the ten lines of README.md, one event per step, as the writer does unless
/// its thread runs in between.
void writeQuickstart(const fs::path& run) {
  EventLog log;
  for (std::int64_t step = 0; step < 1000; ++step) {
    const auto x = static_cast<double>(step);
    log.add(kBegin, step,
            event::Summary{{{"loss", static_cast<float>(std::exp(-x / 200)), {}},
                            {"accuracy", static_cast<float>(1 - std::exp(-x / 300)), {}}}});
  }
  writeFile(run / "events.out.tfevents.1795289521.node7.4239.00000", log.take());
}

/// Writes an intact file with values that the fast data server omits.
void writeBaseline(const fs::path& run) {
  EventLog log;
  for (std::int64_t step = 0; step < 100; ++step) {
    const double time = kBegin + static_cast<double>(step);
    log.scalar("accuracy", static_cast<double>(step) / 128, step, time);
    if (step == 40) {
      log.scalar("accuracy", 0.75, step, time);
    }
    if (step >= 97) {
      log.doubleScalar("lr", 0.5, step, time);
    }
  }
  writeFile(run / fileName(kBegin, 4260), log.take());
}

/// Writes a file in which the disk has lost a block of 4096 bytes, and whose writer was killed.
void writeDamaged(const fs::path& run) {
  EventLog log;
  Noise noise(7);
  for (std::int64_t step = 0; step < 1000; ++step) {
    log.scalar("loss", Curve{0.2, 300, 150}.at(step, &noise), step,
               kBegin + static_cast<double>(step));
  }
  std::string bytes = log.take();
  bytes.replace(20480, 4096, 4096, '\0');
  bytes.resize(bytes.size() - 9);
  writeFile(run / fileName(kBegin, 4261), bytes);
}

/// Writes `sweep/adam_0.01` and similar runs: a trial of 400 steps, two seconds each.
///
/// @param resumed Whether the second half follows a day later.
void writeTrial(const fs::path& run, double learningRate, const std::string& optimizer, Curve loss,
                bool resumed = false) {
  constexpr double kStart = 1700000000;  // 2023-11-14 22:13:20 UTC
  constexpr double kDay = 24.0 * 60 * 60;
  event::SummaryMetadata metadata{"hparams", "", "", "", {}};
  metadata.pluginContent = encodeHparamsContent(
      HparamsSessionStart{{{"lr", learningRate}, {"optimizer", optimizer}, {"batch", 64}}});
  EventLog log(kStart, "steptape");
  log.add(kStart, 0,
          event::Summary{{{"_hparams_/session_start_info",
                           event::Tensor{event::TensorType::kFloat, {}, std::string(4, '\0'), {}},
                           metadata}}});
  Noise noise(7);
  for (std::int64_t step = 0; step < 400; ++step) {
    const bool isLater = resumed && step >= 200;
    const double begin = kStart + (isLater ? kDay : 0);
    if (isLater && step == 200) {
      writeFile(run / fileName(kStart, 4270), log.take());
      log = EventLog(begin + 400, "steptape");
    }
    const double time = begin + 2.0 * static_cast<double>(step);
    log.scalar("loss", loss.at(step, &noise), step, time);
    log.scalar("accuracy", 1 - loss.at(step, &noise) / 2, step, time);
  }
  writeFile(run / fileName(kStart + (resumed ? kDay : 0), 4271), log.take());
}

/// Writes a curve, a point a second, into the run's log.
template <typename ValueAt>
void writeCurve(EventLog* log, const std::string& tag, std::int64_t begin, std::int64_t end,
                const ValueAt& valueAt, std::int64_t stride = 1) {
  for (std::int64_t step = begin; step < end; step += stride) {
    log->scalar(tag, valueAt(step), step, kBegin + static_cast<double>(step));
  }
}

/// Writes `sick/nan` and similar runs, one for each rule of `check --values`.
void writeSick(const fs::path& root) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Noise noise(11);
  const auto loss = [&](std::int64_t step) {
    return Curve{0.5, 200, 100}.at(step, &noise) + noise.next() / 8;
  };
  const auto write = [&](const std::string& name, EventLog* log) {
    writeFile(root / name / fileName(kBegin, 4280), log->take());
  };
  EventLog nans;
  writeCurve(&nans, "grad_norm", 0, 200, [&](std::int64_t step) {
    return step < 119 ? 1 + noise.next() / 4 : std::numeric_limits<double>::infinity();
  });
  writeCurve(&nans, "loss", 0, 200,
             [&](std::int64_t step) { return step < 120 ? loss(step) : nan; });
  write("nan", &nans);
  EventLog spike;
  writeCurve(&spike, "loss", 0, 1000,
             [&](std::int64_t step) { return step == 700 ? 12 : loss(step); });
  write("spike", &spike);
  EventLog diverged;
  writeCurve(&diverged, "loss", 0, 1000, [&](std::int64_t step) {
    return loss(step) + (step > 600 ? static_cast<double>(step - 600) / 64 : 0.0);
  });
  write("diverged", &diverged);
  EventLog stuck;
  writeCurve(&stuck, "loss", 0, 400,
             [&](std::int64_t step) { return step < 150 ? loss(step) : 0.75; });
  write("stuck", &stuck);
  EventLog stopped;
  writeCurve(&stopped, "grad_norm", 0, 300, [&](std::int64_t) { return 1 + noise.next() / 4; });
  writeCurve(&stopped, "loss", 0, 1000, loss);
  write("stopped", &stopped);
  EventLog overfit;
  writeCurve(&overfit, "loss/train", 0, 1000, [&](std::int64_t step) {
    return Curve{0, 200, 100}.at(step, &noise);
  });
  writeCurve(
      &overfit, "loss/val", 0, 1000,
      [&](std::int64_t step) {
        return step < 300 ? 2 - static_cast<double>(step) / 256
                          : 0.828125 + static_cast<double>(step - 300) / 1024;
      },
      50);
  write("overfit", &overfit);
  EventLog wrapped;
  wrapped.scalar("loss", 1, 2147483647, kBegin);
  wrapped.scalar("loss", 1, -2147483648, kBegin + 1);
  write("wrapped", &wrapped);
  EventLog milliseconds(1000 * kBegin);
  milliseconds.scalar("loss", 1, 0, 1000 * kBegin);
  write("milliseconds", &milliseconds);
}

/// Leaves the file of a process that was killed while it wrote the run.
void leaveOwner(const fs::path& run) {
  const fs::path file = run / ".steptape_owner";
  writeFile(file, "steptape owner 1\n");
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

void writeRuns(const fs::path& root) {
  writeDemo(root / "runs/demo");
  writeQuickstart(root / "runs/quickstart");
  writeOptimizer(root / "runs/adam", 1, {0.21, 400, 200}, {0.95, -70, 80});
  writeOptimizer(root / "runs/lion", 2, {0.25, 560, 290}, {0.93, -105, 120});
  writeOptimizer(root / "runs/sgd", 3, {0.28, 1000, 520}, {0.89, -180, 215});
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    writeSeed(root / ("seeds/seed_" + std::to_string(seed)), seed);
  }
  writeTrial(root / "sweep/adam_0.01", 0.01, "adam", {0.25, 60, 40});
  writeTrial(root / "sweep/adam_0.001", 0.001, "adam", {0.125, 90, 60}, /*resumed=*/true);
  writeTrial(root / "sweep/sgd_0.1", 0.1, "sgd", {0.5, 50, 50});
  writeTrial(root / "sweep/sgd_0.01", 0.01, "sgd", {0.375, 120, 90});
  leaveOwner(root / "sweep/sgd_0.1");
  writeSick(root / "sick");
  writeBaseline(root / "nightly/baseline");
  writeDamaged(root / "nightly/resnet");
  fs::create_directories(root / "tensorboardx");
  fs::copy_file(STEPTAPE_SOURCE_DIR "/tests/golden/tensorboardx.tfevents",
                root / "tensorboardx" / fileName(kBegin, 4262));
  if (::mkfifo((root / "runs/fifo").c_str(), 0600) != 0) {
    throw std::runtime_error("cannot make a FIFO in " + root.string());
  }
  writeDocumentTraces(root);
}

}  // namespace
}  // namespace steptape

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: document_runs DIRECTORY\n";
    return 2;
  }
  try {
    steptape::writeRuns(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "document_runs: " << error.what() << '\n';
    return 1;
  }
}

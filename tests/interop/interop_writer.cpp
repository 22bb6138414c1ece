// SPDX-License-Identifier: Apache-2.0
// Writes runs for the interop tests, in which the real TensorBoard reads them.
//
//   interop_writer kinds FORM LOGDIR EXPECTATIONS
//       Every kind of value in the form `compatible` or `tensor`; what was logged as JSON lines.
//   interop_writer flush LOGDIR POINTS
//       So many points, flush(), the line "flushed", then points without end: to be killed.
//   interop_writer live LOGDIR MILLISECONDS
//       A point every so many milliseconds, never flushed: to be killed.
//   interop_writer json LOGDIR FILE
//       Scalars, and FILE from exportScalarsToJson().
//   interop_writer curves FORM LOGDIR TAGS STEPS
//       So many curves of so many points, nine characters a tag.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "steptape/steptape.h"

#include "expectation_log.h"

namespace {

using steptape::SummaryWriter;
using steptape::ValueForm;
using steptape::WriterOptions;

constexpr double kWallTime = 1'700'000'000.25;

/// A directory of runs, with the expectations.
struct Target {
  std::string logDir;
  ExpectationLog* log;
  ValueForm form;

  std::string directory(const std::string& run) const { return logDir + "/" + run; }

  WriterOptions options() const {
    WriterOptions options;
    options.valueForm = form;
    return options;
  }
  WriterOptions optionsOfTheOtherForm() const {
    WriterOptions other;
    other.valueForm = form == ValueForm::kTensor ? ValueForm::kCompatible : ValueForm::kTensor;
    return other;
  }
};

double curve(std::int64_t step) {
  return std::exp(-0.02 * static_cast<double>(step));
}

void logScalars(const Target& target) {
  const std::string run = "scalars";
  SummaryWriter writer(target.directory(run), target.options());
  const auto byHandle = writer.scalarTag("by/handle");
  for (std::int64_t step = 0; step < 1500; ++step) {
    writer.addScalar(byHandle, curve(step), step);
    target.log->scalar(run, "by/handle", step, curve(step));
    writer.addScalar("by/name", 2 * curve(step), step);
    target.log->scalar(run, "by/name", step, 2 * curve(step));
    auto batch = writer.atStep(step);
    batch.add("batch/by name", 3 * curve(step));
    target.log->scalar(run, "batch/by name", step, 3 * curve(step));
    batch.add(byHandle, 0);  // a second value at this step: readers keep the last
    target.log->scalar(run, "by/handle", step, 0);
  }
  const std::int64_t far = std::int64_t{1} << 52;  // the largest step that JavaScript can count to
  writer.addScalar("far", 1, far);
  target.log->scalar(run, "far", far, 1);
}

void logScalarOptions(const Target& target) {
  const std::string run = "scalar_options";
  SummaryWriter writer(target.directory(run), target.options());
  steptape::ScalarOptions options;
  options.displayName = "Loss";
  options.description = "cross-entropy of *one* batch";
  for (std::int64_t step = 0; step < 5; ++step) {
    options.wallTime = kWallTime + 0.125 * static_cast<double>(step);
    writer.addScalar("loss/train", curve(step), step, options);
    target.log->scalar(run, "loss/train", step, curve(step), options.wallTime);
  }
  target.log->names(run, "loss/train", options.displayName, options.description);
}

void logUnusualScalars(const Target& target) {
  const std::string run = "unusual";
  SummaryWriter writer(target.directory(run), target.options());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {std::numeric_limits<double>::quiet_NaN(),
                                      kInfinity,
                                      -kInfinity,
                                      std::numeric_limits<float>::denorm_min(),
                                      std::numeric_limits<float>::max(),
                                      1.0 / 3};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i);
    writer.addScalar("not finite", values[i], step);
    target.log->scalar(run, "not finite", step, values[i]);
  }
  const std::string strange = "a b/ü?&=%2F+#\"<i>";
  writer.addScalar(strange, 1, 0);
  target.log->scalar(run, strange, 0, 1);
  writer.addScalar("not \xff UTF-8", 1, 0);
  target.log->scalar(run, "not \xef\xbf\xbd UTF-8", 0, 1);
}

void logSubRuns(const Target& target) {
  const std::string run = "sub_runs";
  SummaryWriter writer(target.directory(run), target.options());
  target.log->run(run);
  for (std::int64_t step = 0; step < 50; ++step) {
    std::vector<std::pair<std::string, double>> values;
    for (int i = 0; i < 80; ++i) {  // more files than are kept open
      const std::string name = "curve_" + std::to_string(i);
      values.emplace_back(name, i * curve(step));
      target.log->scalar("sub_runs/group/" + name, "group", step, i * curve(step));
    }
    writer.addScalars("group", values, step);
  }
}

void logHistograms(const Target& target) {
  const std::string run = "histograms";
  SummaryWriter writer(target.directory(run), target.options());
  const auto log = [&](const std::string& tag, std::int64_t step,
                       const std::vector<double>& values) {
    writer.addHistogram(tag, values, step);
    target.log->histogram(run, tag, step, values);
  };
  std::vector<double> wave(1000);
  for (std::int64_t step = 0; step < 20; ++step) {
    for (std::size_t i = 0; i < wave.size(); ++i) {
      wave[i] = std::sin(0.1 * static_cast<double>(i)) * curve(step) + 0.25;
    }
    log("wave", step, wave);
  }
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  log("all equal", 0, {2.5, 2.5, 2.5});
  log("single", 0, {-0.75});
  log("zeros", 0, {0, 0, 0, 0});
  log("empty", 0, {});
  log("with nan", 0, {1, kNan, 2, kInfinity, 3, -kInfinity});
  log("only nan", 0, {kNan, kNan});
  log("wide", 0, {-1e20, -1e-20, 0, 1e-20, 1e20});
  log("integers", 0, {-3, -2, -1, 0, 1, 2, 3, 3});
}

steptape::detail::values::Pixels pattern(int channels, int height, int width, int seed) {
  steptape::detail::values::Pixels pixels;
  pixels.width = width;
  pixels.height = height;
  pixels.channels = channels;
  std::uint32_t state = static_cast<std::uint32_t>(seed) + 1;
  for (int i = 0; i < channels * height * width; ++i) {
    state = state * 1664525U + 1013904223U;
    pixels.data.push_back(static_cast<std::uint8_t>(state >> 24));
  }
  return pixels;
}

void logImages(const Target& target) {
  const std::string run = "images";
  SummaryWriter writer(target.directory(run), target.options());
  steptape::ImageOptions rowsOfPixels;
  rowsOfPixels.dataFormat = "HWC";
  for (const int channels : {1, 3, 4}) {
    const std::string tag = "channels/" + std::to_string(channels);
    for (int step = 0; step < 12; ++step) {
      const steptape::detail::values::Pixels pixels = pattern(channels, 5 + step, 9, step);
      writer.addImage(tag, {pixels.data.data(), {pixels.height, pixels.width, pixels.channels}},
                      step, rowsOfPixels);
      target.log->image(run, tag, step, pixels);
    }
  }

  // As networks use them: planes of numbers from 0 to 1. Offset by half a level, so that rounding
  // is unambiguous.
  const steptape::detail::values::Pixels pixels = pattern(3, 7, 9, 0);
  std::vector<float> planes;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = channel; i < pixels.data.size(); i += 3) {
      planes.push_back((static_cast<float>(pixels.data[i]) + 0.5F) / 255);
    }
  }
  writer.addImage("planes", {planes.data(), {3, pixels.height, pixels.width}}, 0);
  target.log->image(run, "planes", 0, pixels);

  // Eleven tiles of 2 x 3 are one full row of eight and one with three: 24 x 4 pixels.
  constexpr int kTiles = 11;
  constexpr int kTileHeight = 2;
  constexpr int kTileWidth = 3;
  std::vector<std::uint8_t> tiles;
  steptape::detail::values::Pixels grid{8 * kTileWidth, 2 * kTileHeight, 1, {}};
  grid.data.resize(std::size_t{8} * kTileWidth * 2 * kTileHeight);
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int y = 0; y < kTileHeight; ++y) {
      for (int x = 0; x < kTileWidth; ++x) {
        tiles.push_back(static_cast<std::uint8_t>(20 * tile + 3 * y + x));
        const int row = (tile / 8) * kTileHeight + y;
        const int column = (tile % 8) * kTileWidth + x;
        grid.data.at(row * grid.width + column) = tiles.back();
      }
    }
  }
  writer.addImages("grid", {tiles.data(), {kTiles, 1, kTileHeight, kTileWidth}}, 0);
  target.log->image(run, "grid", 0, grid);
}

void logSounds(const Target& target) {
  const std::string run = "sounds";
  SummaryWriter writer(target.directory(run), target.options());
  steptape::AudioOptions options;
  options.sampleRate = 8000;
  for (const int channels : {1, 2}) {
    const std::string tag = "channels/" + std::to_string(channels);
    for (int step = 0; step < 3; ++step) {
      std::vector<std::int16_t> samples;
      for (int i = 0; i < 100 * channels; ++i) {
        samples.push_back(static_cast<std::int16_t>(331 * i * (step + 1)));
      }
      writer.addAudio(tag, {samples.data(), {100, channels}}, step, options);
      target.log->sound(run, tag, step, samples, channels, options.sampleRate);
    }
  }
}

void logTexts(const Target& target) {
  const std::string run = "texts";
  SummaryWriter writer(target.directory(run), target.options());
  const std::vector<std::string> texts = {"*markdown*", "plain", "| a | b |\n|---|---|\n| 1 | 2 |"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i);
    writer.addText("note", texts[i], step);
    target.log->text(run, "note", step, texts[i]);
  }
}

/// A job that wrote 100 steps and continues from its checkpoint at step 80.
void logResumedRun(const Target& target, const std::string& run, const WriterOptions& before) {
  {
    SummaryWriter writer(target.directory(run), before);
    for (std::int64_t step = 0; step < 100; ++step) {
      writer.addScalar("loss", 1, step);
      writer.addScalar("only before", 1, step);
      target.log->scalar(run, "only before", step, 1);
      if (step < 80) {
        target.log->scalar(run, "loss", step, 1);
      }
    }
  }
  target.log->purged(run, "only before", 80);
  WriterOptions options = target.options();
  options.purgeStep = 80;
  SummaryWriter writer(target.directory(run), options);
  for (std::int64_t step = 80; step < 120; ++step) {
    writer.addScalar("loss", 2, step);
    target.log->scalar(run, "loss", step, 2);
  }
}

/// A job that starts a hundred times within a second.
void logRestartedRun(const Target& target) {
  const std::string run = "restarted";
  for (std::int64_t step = 0; step < 200; step += 2) {
    SummaryWriter writer(target.directory(run), target.options());
    for (std::int64_t i = step; i < step + 2; ++i) {
      writer.addScalar("loss", curve(i), i);
      target.log->scalar(run, "loss", i, curve(i));
    }
  }
}

void logFromThreads(const Target& target) {
  const std::string run = "threads";
  SummaryWriter writer(target.directory(run), target.options());
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, tag = "thread/" + std::to_string(i)] {
      for (std::int64_t step = 0; step < 5000; ++step) {
        writer.addScalar(tag, curve(step), step);
        target.log->scalar(run, tag, step, curve(step));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// Histograms, images and audio whose first file has the other form.
void logMixedForms(const Target& target) {
  const std::string run = "mixed";
  for (std::int64_t step = 0; step < 6; ++step) {
    const bool isEarly = step < 3;
    SummaryWriter writer(target.directory(run),
                         isEarly ? target.optionsOfTheOtherForm() : target.options());
    const std::vector<double> values = {curve(step), 1, 2, 3};
    writer.addHistogram("weights", values, step);
    target.log->histogram(run, "weights", step, values);
    const steptape::detail::values::Pixels pixels = pattern(3, 4, 5, static_cast<int>(step));
    steptape::ImageOptions rowsOfPixels;
    rowsOfPixels.dataFormat = "HWC";
    writer.addImage("picture", {pixels.data.data(), {pixels.height, pixels.width, 3}}, step,
                    rowsOfPixels);
    target.log->image(run, "picture", step, pixels);
  }
}

void logAllKinds(ValueForm form, const std::string& logDir, const std::string& expectations) {
  ExpectationLog log(expectations);
  const Target target{logDir, &log, form};
  logScalars(target);
  logScalarOptions(target);
  logUnusualScalars(target);
  logSubRuns(target);
  logHistograms(target);
  logImages(target);
  logSounds(target);
  logTexts(target);
  logResumedRun(target, "resumed", target.options());
  logResumedRun(target, "resumed_in_the_other_form", target.optionsOfTheOtherForm());
  logRestartedRun(target);
  logFromThreads(target);
  logMixedForms(target);
}

void logUntilKilled(const std::string& logDir, std::int64_t points) {
  SummaryWriter writer(logDir);
  std::int64_t step = 0;
  for (; step < points; ++step) {
    writer.addScalar("loss", curve(step), step);
  }
  writer.flush().throwIfError();
  std::puts("flushed");
  std::fflush(stdout);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (; std::chrono::steady_clock::now() < end; ++step) {
    writer.addScalar("loss", curve(step), step);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void logWithoutFlush(const std::string& logDir, int milliseconds) {
  SummaryWriter writer(logDir);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  for (std::int64_t step = 0; std::chrono::steady_clock::now() < end; ++step) {
    writer.addScalar("loss", curve(step), step);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
}

void logCurves(ValueForm form, const std::string& logDir, int tags, std::int64_t steps) {
  WriterOptions options;
  options.valueForm = form;
  SummaryWriter writer(logDir, options);
  std::vector<steptape::ScalarTag> curves;
  curves.reserve(tags);
  for (int i = 0; i < tags; ++i) {
    curves.push_back(writer.scalarTag("curve/" + std::to_string(100 + i)));
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    auto batch = writer.atStep(step);
    for (const steptape::ScalarTag tag : curves) {
      batch.add(tag, curve(step));
    }
  }
  writer.close().throwIfError();
}

/// Scalars of every kind that is difficult in JSON, of a run that continues from a checkpoint, and
/// the writer's own export of them.
void logAndExport(const std::string& logDir, const std::string& file) {
  SummaryWriter writer(logDir);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::int64_t step = 0; step < 500; ++step) {
    writer.addScalar("loss/train", curve(step), step);
    writer.addScalars("both/curves", {{"a", curve(step)}, {"b", -curve(step)}}, step);
  }
  writer.resume(300);  // steps 400 to 499 are never written again
  for (std::int64_t step = 300; step < 400; ++step) {
    writer.addScalar("loss/train", -curve(step), step);
    writer.addScalars("both/curves", {{"a", -curve(step)}}, step);
  }
  writer.addTensor("tensor", std::vector<float>{1}, 0);
  writer.addScalar("a \"tag\", \\ \n of \xc3\xbc", 1e-30, -3);
  writer.addScalar("unusual", std::nan(""), 0);
  writer.addScalar("unusual", kInfinity, 1);
  writer.addScalar("unusual", -kInfinity, std::int64_t{1} << 52);
  writer.addScalar("both/curves/b", 1, 0);  // the path of a curve above
  writer.addText("text", "no scalar", 0);
  writer.exportScalarsToJson(file).throwIfError();
}

ValueForm formOf(const std::string& name) {
  if (name != "compatible" && name != "tensor") {
    throw std::invalid_argument("got the form '" + name + "', want compatible or tensor");
  }
  return name == "tensor" ? ValueForm::kTensor : ValueForm::kCompatible;
}

int run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "kinds" && arguments.size() == 4) {
    logAllKinds(formOf(arguments[1]), arguments[2], arguments[3]);
  } else if (command == "flush" && arguments.size() == 3) {
    logUntilKilled(arguments[1], std::stoll(arguments[2]));
  } else if (command == "live" && arguments.size() == 3) {
    logWithoutFlush(arguments[1], std::stoi(arguments[2]));
  } else if (command == "curves" && arguments.size() == 5) {
    logCurves(formOf(arguments[1]), arguments[2], std::stoi(arguments[3]),
              std::stoll(arguments[4]));
  } else if (command == "json" && arguments.size() == 3) {
    logAndExport(arguments[1], arguments[2]);
  } else {
    std::fputs(
        "usage: interop_writer kinds FORM LOGDIR EXPECTATIONS | flush LOGDIR POINTS | live LOGDIR "
        "MILLISECONDS | "
        "curves FORM LOGDIR TAGS STEPS | json LOGDIR FILE\n",
        stderr);
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "interop_writer: %s\n", error.what());
    return 1;
  }
}

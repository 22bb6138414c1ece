// SPDX-License-Identifier: Apache-2.0
//
// Measures what a scalar costs the calling thread in C++, C and Fortran, by handle and by tag, as
// ratios of alternating runs; see harness.h. Each language has a run of its own.
//
//   build/release/bin/languages_benchmark
#include "languages.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "harness.h"

namespace {

constexpr int kRounds = 21;
constexpr int kBursts = 300;
constexpr int kStepsPerBurst = 5;     // a clock of 10 ns is too coarse for the calls of one step
constexpr auto kBetweenBursts = 100;  // microseconds: the other work of a step

std::int64_t step = 0;

/// Returns the median over bursts of the nanoseconds per scalar.
double burstNanos(const std::function<void(std::int64_t)>& burst) {
  benchmark::Costs costs;
  for (int i = 0; i < kBursts; ++i) {
    const double start = benchmark::nowNanos();
    for (int j = 0; j < kStepsPerBurst; ++j) {
      burst(++step);
    }
    costs.push_back((benchmark::nowNanos() - start) / (kStepsPerBurst * languages_tags));
    usleep(kBetweenBursts);
  }
  return benchmark::median(costs);
}

class CppPart {
 public:
  explicit CppPart(const std::string& run) : writer_(run) {
    for (std::size_t i = 0; i < languages_tags; ++i) {
      std::snprintf(tags_[i], sizeof tags_[i], "train/metric%02zu", i);
      strings_[i] = tags_[i];
      series_[i] = writer_.scalarTag(tags_[i]);
    }
  }
  void byHandle(std::int64_t at) {
    for (const steptape::ScalarTag tag : series_) {
      writer_.addScalar(tag, 0.5, at);
    }
  }
  void byTag(std::int64_t at) {
    for (const char* tag : tags_) {
      writer_.addScalar(tag, 0.5, at);
    }
  }
  void byString(std::int64_t at) {
    for (const std::string& tag : strings_) {
      writer_.addScalar(tag, 0.5, at);
    }
  }
  void byStep(std::int64_t at) {
    steptape::StepBatch batch = writer_.atStep(at);
    for (const steptape::ScalarTag tag : series_) {
      batch.add(tag, 0.5);
    }
  }

 private:
  steptape::SummaryWriter writer_;
  char tags_[languages_tags][16];
  std::array<std::string, languages_tags> strings_;
  std::array<steptape::ScalarTag, languages_tags> series_;
};

using Burst = std::function<void(std::int64_t)>;

benchmark::Variant variant(const std::string& name, const Burst& burst) {
  return {name, [burst] { return burstNanos(burst); }};
}

/// Compares one way to log in the three languages, and a second one of C++ if there is one.
void compare(const std::string& way, const Burst& cpp, const Burst& c, const Burst& fortran,
             const Burst& cppString = {}) {
  const Burst rdtsc = [](std::int64_t) {
    for (int i = 0; i < languages_tags; ++i) {
      benchmark::keep(steptape::readTicks());
    }
  };
  std::vector<benchmark::Variant> variants = {
      variant("floor: rdtsc", rdtsc),  variant("C++", cpp),
      variant("C++ again (A/A)", cpp), variant("C", c),
      variant("C again (A/A)", c),     variant("Fortran", fortran)};
  if (cppString) {
    variants.push_back(variant("C++, std::string", cppString));
  }
  const auto costs = benchmark::takeTurns(variants, kRounds);
  benchmark::printTitle(way + ": the calling thread, bursts of 100, median, ns per scalar");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "ns");
  }
  benchmark::printControl("C++ / C++ again", benchmark::ratio(costs[1], costs[2]), 0.03);
  benchmark::printControl("C / C again", benchmark::ratio(costs[3], costs[4]), 0.03);
  benchmark::printAtMost("C / C++", benchmark::ratio(costs[3], costs[1]), 1.10);
  benchmark::printAtMost("Fortran / C", benchmark::ratio(costs[5], costs[3]), 1.15);
}

}  // namespace

int main() {
  const steptape::testing::TempDir logs;
  CppPart cpp(logs.string() + "/cpp");
  c_open((logs.string() + "/c").c_str());
  const std::string fortranRun = logs.string() + "/fortran";
  fortran_open(fortranRun.c_str(), static_cast<int>(fortranRun.size()));
  compare(
      "By handle", [&](std::int64_t at) { cpp.byHandle(at); }, c_by_handle, fortran_by_handle);
  // A `const char*` in both: each has to find its end.
  compare(
      "By tag", [&](std::int64_t at) { cpp.byTag(at); }, c_by_tag, fortran_by_tag,
      [&](std::int64_t at) { cpp.byString(at); });
  compare(
      "All scalars of a step", [&](std::int64_t at) { cpp.byStep(at); }, c_by_step,
      fortran_by_step);
  c_close();
  fortran_close();
  return 0;
}

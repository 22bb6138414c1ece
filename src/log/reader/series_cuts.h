// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "steptape/log/run_reader.h"

namespace steptape::detail::log {

/// Steps from which a program wrote a series again. Each cut discards the earlier points that have
/// its step or a later one. Applying all cuts at once takes one pass, however many there are.
///
/// @threads Not thread-safe: one thread at a time.
class SeriesCuts {
 public:
  /// Adds a cut. REQUIRES: the series has at least as many points as at the previous call.
  /// @cost Constant on average.
  void add(const TagSeries& series, std::int64_t step) {
    // The new cut discards everything that earlier ones at its step or later would.
    while (!cuts_.empty() && cuts_.back().step >= step) {
      cuts_.pop_back();
    }
    cuts_.push_back({series.scalars.size(), series.values.size(), step});
  }

  /// Records that the numbers kept as values are now scalars.
  void valuesAreScalars() {
    for (Cut& cut : cuts_) {
      cut.scalars = cut.values;
      cut.values = 0;
    }
  }

  /// Discards the points, and moves the first new ones.
  void applyTo(TagSeries* series) const {
    ScalarColumns& scalars = series->scalars;
    const auto stepOfScalar = [&](std::size_t i) { return scalars.steps[i]; };
    resize(&scalars, keep(scalars.size(), &Cut::scalars, &series->firstNewScalar, stepOfScalar,
                          [&](std::size_t from, std::size_t to) { move(&scalars, from, to); }));
    std::vector<ValueLocation>& values = series->values;
    const auto stepOfValue = [&](std::size_t i) { return values[i].step; };
    values.resize(keep(values.size(), &Cut::values, &series->firstNewValue, stepOfValue,
                       [&](std::size_t from, std::size_t to) { values[to] = values[from]; }));
  }

  /// Like applyTo(), for the numbers of a series that are also kept as values.
  void applyTo(ScalarColumns* scalars) const {
    std::size_t none = 0;
    const auto stepOf = [&](std::size_t i) { return scalars->steps[i]; };
    resize(scalars, keep(scalars->size(), &Cut::values, &none, stepOf,
                         [&](std::size_t from, std::size_t to) { move(scalars, from, to); }));
  }

 private:
  struct Cut {
    std::size_t scalars;  // number of scalars before the cut
    std::size_t values;
    std::int64_t step;
  };

  static void move(ScalarColumns* scalars, std::size_t from, std::size_t to) {
    scalars->wallTimes[to] = scalars->wallTimes[from];
    scalars->steps[to] = scalars->steps[from];
    scalars->values[to] = scalars->values[from];
  }
  static void resize(ScalarColumns* scalars, std::size_t size) {
    scalars->wallTimes.resize(size);
    scalars->steps.resize(size);
    scalars->values.resize(size);
  }

  /// @return how many of `size` points are left; moves each to its new position.
  template <typename StepOf, typename Move>
  std::size_t keep(std::size_t size, std::size_t Cut::*before, std::size_t* firstNew,
                   const StepOf& stepOf, const Move& moveTo) const {
    std::size_t kept = 0;
    std::size_t keptOfOld = 0;
    auto next = cuts_.begin();
    for (std::size_t i = 0; i < size; ++i) {
      while (next != cuts_.end() && (*next).*before <= i) {
        ++next;
      }
      // Of the later cuts, the next one has the smallest step.
      if (next == cuts_.end() || stepOf(i) < next->step) {
        moveTo(i, kept++);
        keptOfOld += i < *firstNew ? 1 : 0;
      }
    }
    if (size > 0) {
      *firstNew = keptOfOld;
    }
    return kept;
  }

  std::vector<Cut> cuts_;  // sizes and steps ascend
};

}  // namespace steptape::detail::log

// SPDX-License-Identifier: Apache-2.0
#include "server/store/point_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "server/store/step_search.h"

namespace steptape::detail::server {
namespace {

std::vector<std::size_t> allOf(std::size_t size) {
  std::vector<std::size_t> all(size);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Returns `most` of the elements, evenly by index, with the first and the last.
std::vector<std::size_t> thinned(const std::vector<std::size_t>& all, std::size_t most) {
  if (all.size() <= most) {
    return all;
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < most; ++i) {
    chosen.push_back(all[most == 1 ? all.size() - 1 : i * (all.size() - 1) / (most - 1)]);
  }
  return chosen;
}

/// Equal stretches of the steps of a series.
class Stretches {
 public:
  Stretches(const TagView& tag, std::size_t count)
      : tag_(tag),
        first_(static_cast<double>(tag.step(0))),
        perStep_(static_cast<double>(count) /
                 (static_cast<double>(tag.step(tag.size() - 1)) - first_ + 1)),
        last_(count - 1) {}

  /// Returns the stretch of a point.
  std::size_t of(std::size_t i) const {
    return std::min(last_, static_cast<std::size_t>(position(i)));
  }
  /// Returns how far a point is from the middle of its stretch.
  double fromMiddle(std::size_t i) const {
    return std::abs(position(i) - static_cast<double>(of(i)) - 0.5);
  }

 private:
  double position(std::size_t i) const {
    return (static_cast<double>(tag_.step(i)) - first_) * perStep_;
  }

  const TagView& tag_;
  double first_;
  double perStep_;
  std::size_t last_;
};

/// Returns the indices of all points but NaN, and those.
struct Split {
  std::vector<std::size_t> numbers;
  std::vector<std::size_t> nans;
};
Split split(const TagView& tag) {
  Split split;
  for (std::size_t i = 0; i < tag.size(); ++i) {
    (std::isnan(tag.scalar(i)) ? split.nans : split.numbers).push_back(i);
  }
  return split;
}

void makeAscending(std::vector<std::size_t>* indices) {
  std::sort(indices->begin(), indices->end());
  indices->erase(std::unique(indices->begin(), indices->end()), indices->end());
}

}  // namespace

std::vector<std::size_t> chooseEvenly(const TagView& tag, std::size_t most) {
  const std::size_t size = tag.size();
  if (size <= most) {
    return allOf(size);
  }
  if (most <= 1) {
    return most == 0 ? std::vector<std::size_t>() : std::vector<std::size_t>{size - 1};
  }
  std::vector<std::size_t> chosen{0};
  const double first = static_cast<double>(tag.step(0));
  const double span = static_cast<double>(tag.step(size - 1)) - first;
  // Where steps are sparse, their next point is taken, and each point once.
  for (std::size_t place = 1; place + 1 < most; ++place) {
    const double wanted = first + span * static_cast<double>(place) / static_cast<double>(most - 1);
    const std::size_t from = chosen.back() + 1;
    const std::size_t until = size - (most - place) + 1;  // leaves a point for each later place
    const std::size_t found = firstNotBefore(
        from, until, [&](std::size_t i) { return static_cast<double>(tag.step(i)) < wanted; });
    chosen.push_back(std::min(found, until - 1));
  }
  chosen.push_back(size - 1);
  return chosen;
}

std::vector<std::size_t> chooseScalars(const TagView& tag, std::size_t most) {
  const std::size_t size = tag.size();
  if (size <= most || most <= 1) {
    return chooseEvenly(tag, most);
  }
  const Split all = split(tag);
  std::vector<std::size_t> chosen = thinned(all.nans, most / 2);
  chosen.push_back(0);
  chosen.push_back(size - 1);
  makeAscending(&chosen);
  std::size_t left = most - std::min(most, chosen.size());
  if (chosen.size() > most) {  // two places and NaN between the ends
    return {0, size - 1};
  }
  const auto isLess = [&](std::size_t a, std::size_t b) { return tag.scalar(a) < tag.scalar(b); };
  const auto take = [&](std::size_t index) {
    const bool isNew = std::find(chosen.begin(), chosen.end(), index) == chosen.end();
    if (isNew && left > 0) {
      chosen.push_back(index);
      --left;
    }
  };
  if (all.numbers.empty()) {
    return chosen;
  }
  take(*std::max_element(all.numbers.begin(), all.numbers.end(), isLess));
  take(*std::min_element(all.numbers.begin(), all.numbers.end(), isLess));
  constexpr std::size_t kPerStretch = 3;
  if (const std::size_t count = left / kPerStretch; count > 0) {
    constexpr std::size_t kNone = ~std::size_t{0};
    struct Best {
      std::size_t least = kNone;
      std::size_t most = kNone;
      std::size_t middle = kNone;
    };
    const Stretches stretches(tag, count);
    std::vector<Best> best(count);
    for (const std::size_t i : all.numbers) {
      Best& here = best[stretches.of(i)];
      here.least = here.least == kNone || isLess(i, here.least) ? i : here.least;
      here.most = here.most == kNone || isLess(here.most, i) ? i : here.most;
      if (here.middle == kNone || stretches.fromMiddle(i) < stretches.fromMiddle(here.middle)) {
        here.middle = i;
      }
    }
    for (const Best& here : best) {
      for (const std::size_t index : {here.least, here.most, here.middle}) {
        if (index != kNone) {
          chosen.push_back(index);
        }
      }
    }
    makeAscending(&chosen);
    left = most - chosen.size();
  }
  if (left > 0) {
    // Points that several rules have chosen, and stretches without any, leave places.
    std::vector<bool> isChosen(size);
    for (const std::size_t index : chosen) {
      isChosen[index] = true;
    }
    std::vector<std::size_t> others;
    for (const std::size_t i : all.numbers) {
      if (!isChosen[i]) {
        others.push_back(i);
      }
    }
    for (const std::size_t index : thinned(others, left)) {
      chosen.push_back(index);
    }
  }
  makeAscending(&chosen);
  return chosen;
}

}  // namespace steptape::detail::server

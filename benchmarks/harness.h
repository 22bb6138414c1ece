// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace benchmark {

/// A way of doing something, measured once a round.
struct Variant {
  std::string name;
  /// Does it and returns its cost; smaller is better. The unit is the comparison's.
  std::function<double()> run;
};

/// The costs of one variant, a number a round.
using Costs = std::vector<double>;

/// Runs every variant once a round, in an order that is drawn anew, for `rounds` rounds after one
/// that does not count. Machines drift by tens of percent within seconds: what ran side by side in
/// a round can be compared, and nothing else; and what ran just before is felt, so that it must not
/// be the same in every round.
std::vector<Costs> takeTurns(const std::vector<Variant>& variants, int rounds);

double median(Costs costs);

/// The median of the rounds' ratios, and the bounds between which it lies with 95 % confidence.
struct Ratio {
  double median;
  double low;
  double high;
};
/// @source Bootstrap percentile interval with 2000 resamples of a fixed seed.
Ratio ratio(const Costs& numerator, const Costs& denominator);

/// Prints a table row: what was compared, its ratio with bounds, and whether the bound that counts
/// keeps the target.
void printTitle(const std::string& title);
void printCosts(const std::string& name, const Costs& costs, const std::string& unit);
void printControl(const std::string& name, const Ratio& control, double tolerance);
void printAtMost(const std::string& name, const Ratio& measured, double target);
void printAtLeast(const std::string& name, const Ratio& measured, double target);

/// Keeps the compiler from leaving out what made `value`.
template <typename T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// Nanoseconds of the steady clock.
double nowNanos();
/// User and system CPU seconds of all threads of this process so far.
double cpuSeconds();

}  // namespace benchmark

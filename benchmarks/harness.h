// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace benchmark {

/// One of several compared alternatives, measured once per round.
struct Variant {
  std::string name;
  /// Runs it and returns its cost; smaller is better. The unit is the comparison's.
  std::function<double()> run;
};

/// The costs of one variant, one number per round.
using Costs = std::vector<double>;

/// Runs every variant once per round in random order, for `rounds` rounds after one warm-up round.
///
/// Machines drift by tens of percent within seconds, so only variants of one round are comparable.
/// A variant also affects the next one, so the order changes in every round.
std::vector<Costs> takeTurns(const std::vector<Variant>& variants, int rounds);

double median(Costs costs);

/// The median of the rounds' ratios and its 95 % confidence interval.
struct Ratio {
  double median;
  double low;
  double high;
};
/// @source Bootstrap percentile interval with 2000 resamples of a fixed seed.
Ratio ratio(const Costs& numerator, const Costs& denominator);

/// Print a title or a table row: what was compared, its ratio with bounds, and whether the worse
/// bound meets the target.
void printTitle(const std::string& title);
void printCosts(const std::string& name, const Costs& costs, const std::string& unit);
void printControl(const std::string& name, const Ratio& control, double tolerance);
void printAtMost(const std::string& name, const Ratio& measured, double target);
void printAtLeast(const std::string& name, const Ratio& measured, double target);

/// Keeps the compiler from removing the code that computes `value`.
template <typename T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// Returns the steady clock in nanoseconds.
double nowNanos();
/// Returns the user and system CPU time of all threads of this process so far, in seconds.
double cpuSeconds();

}  // namespace benchmark

# SPDX-License-Identifier: Apache-2.0
"""Measures variants side by side, as harness.h does for programs in C++."""

import random
import statistics


def take_turns(variants, rounds):
    """Calls every variant once per round in random order, after one warm-up call of each.

    variants: functions that return a cost, by name. Returns one cost per round, by name.
    """
    names = list(variants)
    costs = {name: [] for name in names}
    for name in names:
        variants[name]()
    chooser = random.Random(1)
    for number in range(rounds):
        for name in chooser.sample(names, len(names)):
            costs[name].append(variants[name]())
        print(f"round {number + 1} of {rounds}: " +
              ", ".join(f"{costs[name][-1]:.3g}" for name in names), flush=True)
    return costs


def print_medians(title, costs, scale=1):
    print(f"\n{title}, medians")
    for name, each in costs.items():
        print(f"  {name:52} {scale * statistics.median(each):10.2f}")


def report(name, numerator, denominator, at_most=None, at_least=None, control=None):
    """Prints the median of the rounds' ratios, its 95 % bounds, and whether the worse bound meets the target.

    Pass exactly one of at_most, at_least and control. control: the range allowed for the median of an A/A control.
    """
    ratios = [a / b for a, b in zip(numerator, denominator)]
    chooser = random.Random(1)
    medians = sorted(statistics.median(chooser.choices(ratios, k=len(ratios)))
                     for _ in range(2000))
    low, high, middle = medians[50], medians[-51], statistics.median(ratios)
    if control:
        verdict = "control holds" if control[0] <= middle <= control[1] else "INCONCLUSIVE"
    elif at_most:
        verdict = f"{'within' if high <= at_most else 'MISSES'} {at_most}"
    else:
        verdict = f"{'reaches' if low >= at_least else 'MISSES'} {at_least}"
    print(f"  {name:52} {middle:10.3f}  [{low:.3f}, {high:.3f}]  {verdict}")

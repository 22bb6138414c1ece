// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape {

/// What is wrong with a Chrome trace, a line for each finding; empty if nothing is.
///
/// Perfetto and chrome://tracing draw wrong or leave out, without a word, what breaks these rules:
///
/// - it is JSON in UTF-8, no object has a key twice, and every event has a phase and a name;
/// - times and durations are there, are numbers and are not negative;
/// - slices (`X`) of a thread nest: one begins and ends within the one that is open;
/// - asynchronous spans have a begin and an end (`b`, `e`), in this order, of one id;
/// - an arrow has one begin and one end (`s`, `f`) of one id, not against time, both within a
///   slice;
/// - instants (`i`) have a scope, counters (`C`) numbers;
/// - each span has an "External id" of its own.
///
/// Times are compared to the nanosecond.
std::vector<std::string> brokenPerfettoRules(const std::string& json);

}  // namespace steptape

// SPDX-License-Identifier: Apache-2.0
// Fontconfig never frees some patterns: a kilobyte per process, however much is drawn.

extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)

extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig";
}

// SPDX-License-Identifier: Apache-2.0
// Fontconfig keeps some patterns that it never frees: a kilobyte for a process, however much is
// drawn.

extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)

extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig";
}

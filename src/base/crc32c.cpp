// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <atomic>
#include <cstdio>

#include "base/crc32c_impl.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace steptape::detail::base {

Crc32cImplementation hardwareCrc32c() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) {
    return {"SSE 4.2", &extendSse42};
  }
#elif defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long kCrc32Capability = 1 << 7;  // HWCAP_CRC32; old headers lack it
  if ((getauxval(AT_HWCAP) & kCrc32Capability) != 0) {
    return {"AArch64 CRC", &extendArm64};
  }
#elif defined(__aarch64__) && defined(__APPLE__)
  return {"AArch64 CRC", &extendArm64};  // every Apple processor has it
#endif
  return {"none", nullptr};
}

namespace {

Crc32cImplementation fastestCrc32c() {
  const Crc32cImplementation hardware = hardwareCrc32c();
  return hardware.extend != nullptr ? hardware : portableCrc32c();
}

std::uint32_t extendFirstTime(std::uint32_t crc, const char* data, std::size_t size);

// The pointer starts as a function that replaces the pointer. Calls therefore need no guard, and
// constructors of static objects can compute checksums.
std::atomic<ExtendFunction> extendFunction{&extendFirstTime};

std::uint32_t extendFirstTime(std::uint32_t crc, const char* data, std::size_t size) {
  const ExtendFunction chosen = fastestCrc32c().extend;
  extendFunction.store(chosen, std::memory_order_relaxed);
  return chosen(crc, data, size);
}

}  // namespace

std::string Crc32c::toString() const {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value_);
  return text;
}

Crc32c extend(Crc32c crc, std::string_view bytes) {
  const auto function = extendFunction.load(std::memory_order_relaxed);
  return Crc32c(function(crc.value(), bytes.data(), bytes.size()));
}

}  // namespace steptape::detail::base

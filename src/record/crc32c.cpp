// SPDX-License-Identifier: Apache-2.0
#include "steptape/record/crc32c.h"

#include <atomic>
#include <cstdio>

#include "record/crc32c_impl.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace steptape {
namespace detail {

Crc32cImplementation hardwareCrc32c() {
#if defined(__x86_64__)
  return {"SSE 4.2", __builtin_cpu_supports("sse4.2") ? &extendSse42 : nullptr};
#elif defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long kCrc32Capability = 1 << 7;  // HWCAP_CRC32, which old headers lack
  return {"AArch64 CRC", (getauxval(AT_HWCAP) & kCrc32Capability) != 0 ? &extendArm64 : nullptr};
#elif defined(__aarch64__) && defined(__APPLE__)
  return {"AArch64 CRC", &extendArm64};  // part of every Apple processor
#else
  return {"none", nullptr};
#endif
}

}  // namespace detail

namespace {

std::uint32_t extendFirstTime(std::uint32_t crc, const char* data, std::size_t size);

// Starts as the function that replaces it: no guard to check on each call, and right even when a
// static object's constructor computes a checksum.
std::atomic<detail::ExtendFunction> extendFunction{&extendFirstTime};

std::uint32_t extendFirstTime(std::uint32_t crc, const char* data, std::size_t size) {
  const detail::ExtendFunction hardware = detail::hardwareCrc32c().extend;
  const detail::ExtendFunction chosen =
      hardware != nullptr ? hardware : detail::portableCrc32c().extend;
  extendFunction.store(chosen, std::memory_order_relaxed);
  return chosen(crc, data, size);
}

std::string hexString(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

}  // namespace

std::string Crc32c::toString() const {
  return hexString(value_);
}

std::string MaskedCrc32c::toString() const {
  return hexString(value_);
}

Crc32c extend(Crc32c crc, std::string_view bytes) {
  const auto function = extendFunction.load(std::memory_order_relaxed);
  return Crc32c(function(crc.value(), bytes.data(), bytes.size()));
}

}  // namespace steptape

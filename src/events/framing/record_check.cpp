// SPDX-License-Identifier: Apache-2.0
#include "events/framing/record_check.h"

#include <atomic>

#include "base/crc32c_impl.h"

namespace steptape::detail::events {
namespace {

std::uint64_t recordLengthPortable(const char* record, std::size_t size, KnownLength* known) {
  return checkRecord(base::portableCrc32c().extend, record, size, known);
}

RecordLengthFunction fastestRecordLength() {
#if defined(__x86_64__)
  if (base::hardwareCrc32c().extend != nullptr) {
    return &recordLengthSse42;
  }
#elif defined(__aarch64__)
  if (base::hardwareCrc32c().extend != nullptr) {
    return &recordLengthArm64;
  }
#endif
  return &recordLengthPortable;
}

std::uint64_t recordLengthFirstTime(const char* record, std::size_t size, KnownLength* known);

// As in crc32c.cpp, the pointer starts as a function that replaces it, so that calls need no guard.
std::atomic<RecordLengthFunction> recordLengthFunction{&recordLengthFirstTime};

std::uint64_t recordLengthFirstTime(const char* record, std::size_t size, KnownLength* known) {
  const RecordLengthFunction chosen = fastestRecordLength();
  recordLengthFunction.store(chosen, std::memory_order_relaxed);
  return chosen(record, size, known);
}

}  // namespace

std::uint64_t recordLength(const char* record, std::size_t size, KnownLength* known) {
  return recordLengthFunction.load(std::memory_order_relaxed)(record, size, known);
}

}  // namespace steptape::detail::events

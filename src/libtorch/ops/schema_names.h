// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steptape::detail::libtorch {

/// Maps addresses of texts to span names: open addressing, at most half full.
///
/// @threads Thread-compatible: const methods may run concurrently.
class AddressTable {
 public:
  explicit AddressTable(std::size_t addresses);

  void add(const char* address, std::uint16_t id) { slots_[placeOf(address)] = {address, id}; }

  /// @return 0 if the address is unknown.
  std::uint16_t find(const char* address) const noexcept { return slots_[placeOf(address)].id; }

 private:
  struct Slot {
    const char* address = nullptr;
    std::uint16_t id = 0;
  };

  /// Returns the slot of the address, or the slot in which to insert it.
  std::size_t placeOf(const char* address) const noexcept {
    const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(address);
    std::size_t place = bits * 0x9E3779B97F4A7C15U >> shift_;
    while (slots_[place].address != address && slots_[place].address != nullptr) {
      place = (place + 1) & (slots_.size() - 1);
    }
    return place;
  }

  std::vector<Slot> slots_;
  unsigned shift_ = 60;
};

/// The operators that learnSchemaNames() found; null before.
extern std::atomic<const AddressTable*> schemaNames;

/// Returns the span name of an operator by the address of its schema's name.
///
/// LibTorch passes hooks a pointer to the name. It is always the same for a registered operator, so
/// the address alone identifies the operator.
///
/// @return  0 for any other text.
/// @threads Thread-safe, without a lock.
/// @cost    A multiplication and a table look-up, 2 ns.
inline std::uint16_t schemaSpanName(const char* name) noexcept {
  const AddressTable* const known = schemaNames.load(std::memory_order_acquire);
  return known == nullptr ? std::uint16_t{0} : known->find(name);
}

/// Learns the operators that are registered now; later ones are looked up by text.
///
/// @threads Thread-safe.
/// @cost    Some ms for the first call.
void learnSchemaNames();

}  // namespace steptape::detail::libtorch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steptape {

/// Span names by the address of a text: open addressing, at most half full.
///
/// @threads Thread-compatible: const methods may run concurrently.
class AddressTable {
 public:
  explicit AddressTable(std::size_t addresses);

  void add(const char* address, std::uint16_t id) { slots_[placeOf(address)] = {address, id}; }

  /// @return 0 if the address is not there.
  std::uint16_t find(const char* address) const noexcept { return slots_[placeOf(address)].id; }

 private:
  struct Slot {
    const char* address = nullptr;
    std::uint16_t id = 0;
  };

  /// Where the address lies, or would.
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

/// Of the operators that learnSchemaNames() found; null before.
extern std::atomic<const AddressTable*> schemaNames;

/// The span name of an operator by the address of its schema's name.
///
/// LibTorch hands hooks a pointer to the name. For a registered operator it is always the same one,
/// so that the address alone identifies the operator, without a look at the text.
///
/// @return 0 for any other text.
/// @threads Thread-safe, without a lock.
/// @cost    A multiplication and a look into a table, 2 ns.
inline std::uint16_t schemaSpanName(const char* name) noexcept {
  const AddressTable* const known = schemaNames.load(std::memory_order_acquire);
  return known == nullptr ? std::uint16_t{0} : known->find(name);
}

/// Learns the operators that are registered now; those that come later go by their text.
///
/// @threads Thread-safe.
/// @cost    Some ms, the first time.
void learnSchemaNames();

}  // namespace steptape

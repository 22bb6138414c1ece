// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string_view>
#include <unordered_map>

namespace steptape::detail::log {

/// Maps tags to entries.
///
/// Programs log the same tags in the same order at every step. Each entry knows its last successor,
/// and find() looks there before it computes a hash.
///
/// @tparam Entry Has a `std::string tag` and an `Entry* successor`, which this table sets.
///
/// @threads Not thread-safe: one thread at a time.
template <typename Entry>
class TagIndex {
 public:
  TagIndex() { clear(); }
  TagIndex(const TagIndex&) = delete;
  TagIndex& operator=(const TagIndex&) = delete;

  /// Returns the entry of `tag`, which is created if it is new. Its address does not change.
  /// @cost No hashing if tags come in the same order as before.
  Entry* find(std::string_view tag) {
    Entry* const expected = last_->successor;
    if (expected == &none_ || expected->tag != tag) {
      last_->successor = look(tag);
    }
    return last_ = last_->successor;
  }

  /// Returns the last result of find(), or a sentinel before the first entry. Its successor,
  /// `last()->successor`, is never null.
  Entry* last() const { return last_; }
  /// Sets the last entry, if it was found without calling find().
  void setLast(Entry* entry) { last_ = entry; }

  /// Returns the entries in the order of creation.
  const std::deque<Entry>& entries() const { return entries_; }
  std::deque<Entry>& entries() { return entries_; }

  void clear() {
    byTag_.clear();
    entries_.clear();
    none_.successor = &none_;
    last_ = &none_;
  }

 private:
  Entry* look(std::string_view tag) {
    if (const auto known = byTag_.find(tag); known != byTag_.end()) {
      return known->second;
    }
    Entry* const entry = &entries_.emplace_back();
    entry->tag = tag;
    entry->successor = entry;
    byTag_.emplace(entry->tag, entry);
    return entry;
  }

  std::deque<Entry> entries_;  // a deque: addresses do not change
  std::unordered_map<std::string_view, Entry*> byTag_;
  Entry none_;  // the sentinel before the first entry
  Entry* last_;
};

}  // namespace steptape::detail::log

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string_view>
#include <unordered_map>

namespace steptape::detail {

/// The known data of each tag.
///
/// Programs log the same tags in the same order at every step. Each entry knows which one followed
/// it last, and find() looks there before it hashes.
///
/// @tparam Entry Has a `std::string tag` and an `Entry* successor`, which are the table's to set.
///
/// @threads Not thread-safe: one thread at a time.
template <typename Entry>
class TagIndex {
 public:
  TagIndex() { clear(); }
  TagIndex(const TagIndex&) = delete;
  TagIndex& operator=(const TagIndex&) = delete;

  /// The entry of `tag`, which is made if it is new, and stays where it is.
  /// @cost No hashing where tags come in the order in which they came before.
  Entry* find(std::string_view tag) {
    Entry* const expected = last_->successor;
    if (expected == &none_ || expected->tag != tag) {
      last_->successor = look(tag);
    }
    return last_ = last_->successor;
  }

  /// The entry that find() gave last, or one that stands before the first: what follows it is
  /// `last()->successor`, which is never null.
  Entry* last() const { return last_; }
  /// As if find() had given `entry` last, when that was known without asking.
  void setLast(Entry* entry) { last_ = entry; }

  /// In the order in which they were made.
  const std::deque<Entry>& entries() const { return entries_; }

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

  std::deque<Entry> entries_;  // which stay where they are
  std::unordered_map<std::string_view, Entry*> byTag_;
  Entry none_;  // stands before the first
  Entry* last_;
};

}  // namespace steptape::detail

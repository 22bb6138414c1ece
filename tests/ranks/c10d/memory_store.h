// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "ranks/c10d/key_store.h"

namespace steptape::c10d::detail {

/// A store for ranks that are threads, which counts.
class MemoryStore final : public KeyStore {
 public:
  void set(const std::string& key, std::string_view value) override {
    const std::scoped_lock lock(mutex_);
    ++messages_;
    bytes_ += value.size();
    texts_[key] = value;
  }
  bool tryGet(const std::string& key, std::string& value) override {
    const std::scoped_lock lock(mutex_);
    ++asks_;
    const auto found = texts_.find(key);
    if (found == texts_.end()) {
      return false;
    }
    ++messages_;
    bytes_ += found->second.size();
    value = found->second;
    return true;
  }
  void remove(const std::string& key) override {
    const std::scoped_lock lock(mutex_);
    ++messages_;
    texts_.erase(key);
  }
  std::int64_t add(const std::string& key, std::int64_t amount) override {
    const std::scoped_lock lock(mutex_);
    ++asks_;
    messages_ += amount == 0 ? 0 : 1;
    return numbers_[key] += amount;
  }

  /// All that changed the store or found something: a look in vain depends on time.
  std::size_t messages() const { return messages_; }
  std::size_t bytes() const { return bytes_; }
  /// All questions, also those in vain.
  std::size_t asks() const { return asks_; }
  /// Returns how many texts there are now.
  std::size_t size() const { return texts_.size(); }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::int64_t> numbers_;
  std::size_t messages_ = 0;
  std::size_t bytes_ = 0;
  std::size_t asks_ = 0;
};

}  // namespace steptape::c10d::detail

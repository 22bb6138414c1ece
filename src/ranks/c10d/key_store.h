// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace steptape::c10d::detail {

/// Keys and values that all ranks of a job share.
///
/// All functions may throw Error(kDeadlineExceeded) if the store does not answer.
///
/// @threads Thread-safe.
class KeyStore {
 public:
  virtual ~KeyStore();

  virtual void set(const std::string& key, std::string_view value) = 0;
  /// Reads the value of `key` into `value`.
  /// @return whether the key exists.
  virtual bool tryGet(const std::string& key, std::string& value) = 0;
  virtual void remove(const std::string& key) = 0;
  /// Adds to a number, which is 0 at first, and returns it: ranks that add at once get different
  /// ones. A key is for numbers or for texts.
  virtual std::int64_t add(const std::string& key, std::int64_t amount) = 0;
};

/// The keys of another store that begin with a prefix.
class PrefixedStore final : public KeyStore {
 public:
  PrefixedStore(std::shared_ptr<KeyStore> store, std::string prefix)
      : store_(std::move(store)), prefix_(std::move(prefix)) {}

  void set(const std::string& key, std::string_view value) override {
    store_->set(prefix_ + key, value);
  }
  bool tryGet(const std::string& key, std::string& value) override {
    return store_->tryGet(prefix_ + key, value);
  }
  void remove(const std::string& key) override { store_->remove(prefix_ + key); }
  std::int64_t add(const std::string& key, std::int64_t amount) override {
    return store_->add(prefix_ + key, amount);
  }

 private:
  std::shared_ptr<KeyStore> store_;
  std::string prefix_;
};

}  // namespace steptape::c10d::detail

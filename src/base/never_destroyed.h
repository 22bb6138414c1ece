// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>

namespace steptape::detail::base {

/// An object with static storage that objects which end later may still use: its destructor is
/// never called. Allocates nothing itself.
template <typename T>
class NeverDestroyed {
 public:
  NeverDestroyed() : object_(*new (memory_) T) {}
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  T& operator*() const { return object_; }

 private:
  alignas(T) std::byte memory_[sizeof(T)];
  T& object_;
};

}  // namespace steptape::detail::base

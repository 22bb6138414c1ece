// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <sys/mman.h>

#include <gtest/gtest.h>

namespace steptape::test {

/// An object in memory that this process shares with the children that it forks: it holds what they
/// have stored when they are killed.
template <typename Object>
class SharedObject {
 public:
  SharedObject() {
    void* const memory =
        mmap(nullptr, sizeof(Object), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    object_ = new (memory) Object{};
  }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject() { munmap(object_, sizeof(Object)); }

  Object& operator*() const { return *object_; }
  Object* operator->() const { return object_; }

 private:
  Object* object_ = nullptr;
};

}  // namespace steptape::test

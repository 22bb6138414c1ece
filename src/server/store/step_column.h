// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/store/growing_column.h"
#include "server/store/step_search.h"

namespace steptape::detail::server {

/// Ascending steps. Equally spaced ones, which most programs log, take no memory; others 4 bytes
/// each, or 8 if they span more than 2^32.
///
/// @threads Not thread-safe: one thread at a time, or several that only read.
class StepColumn {
 public:
  std::size_t size() const { return size_; }
  /// Returns the memory in use besides this object.
  std::size_t bytes() const { return narrow_.bytes() + wide_.bytes(); }
  std::int64_t operator[](std::size_t i) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) + offset(i));
  }
  /// Calls `use` with each of the first `count` steps. REQUIRES: there are so many.
  template <typename Use>
  void forEach(std::size_t count, const Use& use) const {
    // A loop for each form: the form need not be looked at for each step.
    const auto first = static_cast<std::uint64_t>(first_);
    const auto useAll = [&](const auto& offsetOf) {
      for (std::size_t i = 0; i < count; ++i) {
        use(static_cast<std::int64_t>(first + offsetOf(i)));
      }
    };
    if (form_ == Form::kEven) {
      useAll([this](std::size_t i) { return stride_ * i; });
    } else if (form_ == Form::kNarrow) {
      useAll([this](std::size_t i) { return std::uint64_t{narrow_[i]}; });
    } else {
      useAll([this](std::size_t i) { return wide_[i]; });
    }
  }
  /// REQUIRES: not empty.
  std::int64_t back() const { return (*this)[size_ - 1]; }

  /// REQUIRES: `step` is greater than back(). @throws std::bad_alloc; nothing is then appended.
  void append(std::int64_t step) {
    if (size_ == 0) {
      form_ = Form::kEven;
      first_ = step;
    } else {
      appendOffset(static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(first_));
    }
    ++size_;
  }

  /// Keeps the first `size` steps. REQUIRES: there are so many.
  void truncate(std::size_t size) {
    size_ = size;
    if (size == 0) {
      narrow_.clear();
      wide_.clear();
    } else if (form_ == Form::kNarrow) {
      narrow_.truncate(size);
    } else if (form_ == Form::kWide) {
      wide_.truncate(size);
    }
  }

  void clear() { truncate(0); }

  /// Returns the number of steps less than `step`.
  std::size_t countBefore(std::int64_t step) const {
    return firstNotBefore(0, size_, [&](std::size_t i) { return (*this)[i] < step; });
  }

 private:
  enum class Form : std::uint8_t { kEven, kNarrow, kWide };
  static constexpr std::uint64_t kMostNarrow = ~std::uint32_t{0};

  std::uint64_t offset(std::size_t i) const {
    if (form_ == Form::kEven) {
      return stride_ * i;
    }
    return form_ == Form::kNarrow ? std::uint64_t{narrow_[i]} : wide_[i];
  }

  void appendOffset(std::uint64_t next) {
    if (form_ == Form::kEven) {
      if (size_ == 1) {
        stride_ = next;
        return;
      }
      if (next == stride_ * size_) {
        return;
      }
      spell(next);
    } else if (form_ == Form::kNarrow && next > kMostNarrow) {
      widen();
    }
    if (form_ == Form::kNarrow) {
      narrow_.append(static_cast<std::uint32_t>(next));
    } else {
      wide_.append(next);
    }
  }

  /// Stores the equally spaced steps one by one.
  void spell(std::uint64_t next) {
    if (next > kMostNarrow) {
      wide_.reserve(size_ + 1);
      for (std::size_t i = 0; i < size_; ++i) {
        wide_.append(stride_ * i);
      }
      form_ = Form::kWide;
      return;
    }
    narrow_.reserve(size_ + 1);
    for (std::size_t i = 0; i < size_; ++i) {
      narrow_.append(static_cast<std::uint32_t>(stride_ * i));
    }
    form_ = Form::kNarrow;
  }

  void widen() {
    wide_.reserve(size_ + 1);
    for (std::size_t i = 0; i < size_; ++i) {
      wide_.append(narrow_[i]);
    }
    narrow_.clear();
    form_ = Form::kWide;
  }

  Form form_ = Form::kEven;
  std::int64_t first_ = 0;
  std::uint64_t stride_ = 0;  // of kEven
  std::size_t size_ = 0;
  GrowingColumn<std::uint32_t> narrow_;  // differences from first_
  GrowingColumn<std::uint64_t> wide_;
};

}  // namespace steptape::detail::server

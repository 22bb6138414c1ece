// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "steptape/summary/tensor_view.h"

namespace steptape::detail {

/// What a call has taken of its tensors; may be asked once, on the backend.
template <typename Result>
using Captured = std::function<std::shared_ptr<const Result>()>;

/// Takes what a call needs of its tensors.
///
/// `work(views)` runs here and now where all of them are in memory: reduce or copy, and throw for
/// what is wrong with the elements. Where one is in flight, the others are copied, and `work` runs
/// when the result is asked for, after the elements have come; check shapes and types before.
///
/// @param work  Called with `const std::vector<TensorView>&`, in the order of `views`.
template <typename Work>
auto capture(std::vector<TensorView> views, Work work) {
  using Result = decltype(work(std::as_const(views)));
  const auto inFlight = [](const TensorView& view) { return view.isInFlight(); };
  if (std::none_of(views.begin(), views.end(), inFlight)) {
    auto result = std::make_shared<const Result>(work(std::as_const(views)));
    return Captured<Result>([result = std::move(result)] { return result; });
  }
  for (TensorView& view : views) {
    if (!view.isInFlight()) {
      view = view.copy();
    }
  }
  return Captured<Result>([views = std::move(views), work = std::move(work)] {
    for (const TensorView& view : views) {
      view.waitForElements();
    }
    return std::make_shared<const Result>(work(views));
  });
}

}  // namespace steptape::detail

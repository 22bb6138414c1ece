// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "steptape/values/tensor_view.h"

#include "log/writer/call_site.h"

namespace steptape::detail::log {

/// Returns the data that a call has captured from its tensors; called once, on the backend.
template <typename Result>
using Captured = std::function<std::shared_ptr<const Result>()>;

/// Reduces or copies the tensors of a call with `work(views)`.
///
/// If all tensors are in memory, `work` runs now, and may throw for invalid elements. If one is in
/// flight, the others are copied now, and `work` runs when the result is requested, after all
/// elements have arrived. Check shapes and types before.
///
/// @param site Prefix of an Error that `work` throws, now or later.
/// @param work Called with `const std::vector<TensorView>&`, in the order of `views`.
template <typename Work>
auto capture(std::vector<TensorView> views, const CallSite& site, Work work) {
  using Result = decltype(work(std::as_const(views)));
  const auto inFlight = [](const TensorView& view) { return view.isInFlight(); };
  if (std::none_of(views.begin(), views.end(), inFlight)) {
    auto result =
        std::make_shared<const Result>(site.run([&] { return work(std::as_const(views)); }));
    return Captured<Result>([result = std::move(result)] { return result; });
  }
  for (TensorView& view : views) {
    if (!view.isInFlight()) {
      view = view.copy();
    }
  }
  return Captured<Result>([views = std::move(views), site, work = std::move(work)] {
    for (const TensorView& view : views) {
      view.waitForElements();
    }
    return std::make_shared<const Result>(site.run([&] { return work(views); }));
  });
}

}  // namespace steptape::detail::log

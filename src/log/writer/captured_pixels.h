// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "steptape/values/tensor_view.h"

#include "base/got_expected.h"
#include "log/writer/call_site.h"
#include "log/writer/capture.h"
#include "log/writer/reporter.h"
#include "values/kinds/image/image.h"

namespace steptape::detail::log {

/// Reports, once for each `what`, the elements that it does not show.
/// @param what Such as `image "sample"`.
void reportUnshown(const std::string& what, const values::UnshownElements& unshown,
                   Reporter* reporter);

/// Returns the name of an image in reports.
inline std::string imageText(const std::string& tag) {
  return "image " + base::quoted(tag);
}

/// Captures an image with `take(view)`, and reports what it does not show.
/// @param reporter The run's; must outlive the captured image.
template <typename Take>
auto capturePixels(const TensorView& view, const CallSite& site, const std::string& tag,
                   Reporter* reporter, Take take) {
  return capture({view}, site, [reporter, tag, take = std::move(take)](const auto& views) {
    auto pixels = take(views[0]);
    reportUnshown(imageText(tag), pixels.unshown, reporter);
    return pixels;
  });
}

/// Returns the bytes that a captured image holds until the backend encodes it.
inline std::size_t capturedBytes(const TensorView& pixels) {
  return pixels.isInFlight() ? pixels.nbytes() : static_cast<std::size_t>(pixels.numel());
}

}  // namespace steptape::detail::log

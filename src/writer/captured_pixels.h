// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "steptape/summary/tensor_view.h"

#include "writer/call_site.h"
#include "writer/capture.h"
#include "writer/reporter.h"

namespace steptape::detail {

/// Reports, once for each tag, that an image has NaN elements.
inline void reportNans(const std::string& tag, std::uint64_t nans, Reporter* reporter) {
  if (nans > 0) {
    reporter->reportOnce("NaN pixels " + tag, "image \"" + tag + "\": got " + std::to_string(nans) +
                                                  " NaN elements; they are shown as 0");
  }
}

/// Captures an image with `take(view)`, which counts NaNs.
/// @param reporter The run's; must outlive the captured image.
template <typename Take>
auto capturePixels(const TensorView& view, const CallSite& site, const std::string& tag,
                   Reporter* reporter, Take take) {
  return capture({view}, site, [reporter, tag, take = std::move(take)](const auto& views) {
    auto pixels = take(views[0]);
    reportNans(tag, pixels.nanCount, reporter);
    return pixels;
  });
}

/// Returns the bytes that a captured image holds until the backend encodes it.
inline std::size_t capturedBytes(const TensorView& pixels) {
  return pixels.isInFlight() ? pixels.nbytes() : static_cast<std::size_t>(pixels.numel());
}

}  // namespace steptape::detail

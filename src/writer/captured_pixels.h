// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "steptape/summary/tensor_view.h"

#include "writer/capture.h"
#include "writer/writer_core.h"

namespace steptape {

/// Reports, once for each tag, that a picture had elements which are no colour.
inline void reportNans(const std::string& tag, std::uint64_t nans, WriterCore* core) {
  if (nans > 0) {
    core->reporter().reportOnce("NaN pixels " + tag,
                                "the picture \"" + tag + "\" has " + std::to_string(nans) +
                                    " elements that are NaN; they are shown as 0");
  }
}

/// Takes a tensor's pixels with `take(view)`, which counts NaNs.
template <typename Take>
auto capturePixels(const TensorView& view, const std::string& tag,
                   const std::shared_ptr<WriterCore>& core, Take take) {
  return capture({view}, [core, tag, take = std::move(take)](const auto& views) {
    auto pixels = take(views[0]);
    reportNans(tag, pixels.nanCount, core.get());
    return pixels;
  });
}

/// Memory that a picture's call holds until the backend encodes it.
inline std::size_t capturedBytes(const TensorView& pixels) {
  return pixels.isInFlight() ? pixels.nbytes() : static_cast<std::size_t>(pixels.numel());
}

}  // namespace steptape

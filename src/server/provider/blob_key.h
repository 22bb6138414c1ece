// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace steptape::detail::server {

/// Where a blob is: the address of an image, a clip or a graph.
struct BlobPlace {
  std::string run;
  std::string tag;
  std::int64_t step = 0;
  std::size_t index = 0;  ///< In its sequence.
};

/// Returns the key of a place: characters that a URL may have. TensorBoard's pages hand it back.
std::string blobKeyOf(const BlobPlace& place);

/// @return nothing if `key` is none that blobKeyOf() has made.
std::optional<BlobPlace> blobPlaceOf(std::string_view key);

}  // namespace steptape::detail::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape::detail::events {

// Field numbers of proto/steptape/wire/event.proto, for code that reads or writes wire format.
constexpr std::uint32_t kEventWallTime = 1;
constexpr std::uint32_t kEventStep = 2;
constexpr std::uint32_t kEventSummary = 5;
constexpr std::uint32_t kSummaryValue = 1;
constexpr std::uint32_t kValueTag = 1;
constexpr std::uint32_t kValueSimpleValue = 2;
constexpr std::uint32_t kValueTensor = 8;
constexpr std::uint32_t kValueMetadata = 9;
constexpr std::uint32_t kTensorType = 1;
constexpr std::uint32_t kTensorShape = 2;
constexpr std::uint32_t kTensorContent = 4;
constexpr std::uint32_t kTensorStrings = 8;
constexpr std::uint32_t kShapeDimension = 2;
constexpr std::uint32_t kMetadataPluginData = 1;
constexpr std::uint32_t kMetadataDisplayName = 2;
constexpr std::uint32_t kMetadataDescription = 3;

}  // namespace steptape::detail::events

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "steptape/base/status.h"

#include "storage/s3/credentials.h"

namespace steptape::detail::storage {

/// Who wrote a document of keys, in JSON.
enum class KeyDocument {
  kServer,   ///< The server of a container or an instance.
  kProgram,  ///< A `credential_process`.
};

/// Reads a document of keys.
///
/// @return kIoError with what is wrong, without any part of the document but its error code and the
///         text of its expiry.
Status readKeyDocument(std::string_view json, KeyDocument kind, Credentials* keys);

/// Returns the seconds since 1970 of a time such as "2026-11-29T12:00:00Z", with or without a
/// fraction, or with "+01:00" instead of the "Z"; nothing for other texts.
std::optional<double> secondsOfIsoTime(const std::string& text);

/// Sets the end of keys.
/// @param text As secondsOfIsoTime() reads; empty: they do not end.
Status setExpiry(const std::string& text, Credentials* keys);

}  // namespace steptape::detail::storage

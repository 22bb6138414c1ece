// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// Returns a field of CSV: quoted if it needs to be (RFC 4180).
STEPTAPE_EXPORT std::string csvField(const std::string& field);

/// Writes a number as pandas, polars and DuckDB read it: polars knows no "nan" and no "Infinity".
/// At most 24 characters.
/// @return the end of the text.
STEPTAPE_EXPORT char* writeCsvNumber(char* out, double value);
/// Returns what writeCsvNumber() writes.
STEPTAPE_EXPORT std::string csvNumber(double value);

}  // namespace steptape::detail::base

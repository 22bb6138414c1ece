// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::tools {

/// The text of csv_to_columns.py, put in by the build.
extern const char* const kCsvToColumns;

}  // namespace steptape::tools

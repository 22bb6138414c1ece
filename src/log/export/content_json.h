// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/events/plugin_content.h"

#include "log/export/export_run.h"

namespace steptape::detail::log {

/// Appends `{"experiment":{...}}`, `{"session_start":{...}}` or `{"session_end":{...}}`.
void appendJson(const HparamsContent& content, ExportText* out);

/// Appends `{"categories":[{"title":"...","charts":[...]}]}`.
void appendJson(const CustomScalarsLayout& layout, ExportText* out);

}  // namespace steptape::detail::log

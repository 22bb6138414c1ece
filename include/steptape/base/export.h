// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks a symbol that a shared library exports; all other symbols are hidden.
#define STEPTAPE_EXPORT [[gnu::visibility("default")]]

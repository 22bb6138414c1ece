// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what a shared build of the library exports; everything else is hidden.
#define STEPTAPE_EXPORT [[gnu::visibility("default")]]

// SPDX-License-Identifier: Apache-2.0
#pragma once

#if __cplusplus < 202002L
#error C++20 or later is required
#endif

// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile_figure.h"

#include <gtest/gtest.h>

// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A full turn, 2 pi.
constexpr double kTurn = 6.283185307179586;

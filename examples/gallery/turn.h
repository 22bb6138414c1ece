// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The angle of a full turn, 2 pi.
constexpr double kTurn = 6.283185307179586;

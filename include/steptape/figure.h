// SPDX-License-Identifier: Apache-2.0
#pragma once

// Component `figure`: charts drawn by Cairo, for SummaryWriter::addFigure().
//
//   steptape::Figure figure;
//   figure.line(loss, {.label = "train"}).setTitle("Loss");
//   writer.addFigure("loss", figure, step);
#include "steptape/values/figure.h"  // IWYU pragma: export

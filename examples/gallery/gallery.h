// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <steptape/steptape.h>

// Each function logs one kind of value and works on its own: copy what you need. The functions
// generate their numbers, so that they need no data set and no training.

void logScalars(steptape::SummaryWriter& writer);
void logSharedCharts(steptape::SummaryWriter& writer);
void logCustomCharts(steptape::SummaryWriter& writer);

void logHistograms(steptape::SummaryWriter& writer);
void logCountedHistogram(steptape::SummaryWriter& writer);

void logImages(steptape::SummaryWriter& writer);
void logBoxes(steptape::SummaryWriter& writer);
void logVideos(steptape::SummaryWriter& writer);

void logSounds(steptape::SummaryWriter& writer);
void logTexts(steptape::SummaryWriter& writer);
void logTensor(steptape::SummaryWriter& writer);

void logMesh(steptape::SummaryWriter& writer);
void logPointCloud(steptape::SummaryWriter& writer);

void logPrCurves(steptape::SummaryWriter& writer);
void logCountedPrCurve(steptape::SummaryWriter& writer);

void logEmbedding(steptape::SummaryWriter& writer);
void logGraph(steptape::SummaryWriter& writer);

/// A study of several runs, each in its own directory below `logDir`.
void logHparamStudy(const std::string& logDir);

/// Needs the component `figure`.
void logFigures(steptape::SummaryWriter& writer);

/// Needs LibTorch.
void logModuleGraph(steptape::SummaryWriter& writer);
/// Needs LibTorch. Logs real images; `directory` contains Fashion-MNIST's IDX files.
void logFashion(steptape::SummaryWriter& writer, const std::string& directory);

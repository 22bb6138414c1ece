// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/log/summary_writer.h"

#include "peer_numbers.h"

// The media kinds of peer_writer.cpp, each written to a separate run.

void logImages(steptape::SummaryWriter& writer, const PeerNumbers& numbers);
void logImageBatches(steptape::SummaryWriter& writer, const PeerNumbers& numbers);
void logBoxes(steptape::SummaryWriter& writer, const PeerNumbers& numbers);
void logFigures(steptape::SummaryWriter& writer, const PeerNumbers& numbers);
void logVideos(steptape::SummaryWriter& writer, const PeerNumbers& numbers);
void logSounds(steptape::SummaryWriter& writer, const PeerNumbers& numbers);

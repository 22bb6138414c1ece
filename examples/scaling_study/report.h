// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <steptape/writer/summary_writer.h>

#include "job.h"

/// A measurement against that of the fewest ranks.
struct Scaling {
  Measurement job;
  double speedUp = 1;
  double efficiency = 1;  ///< speedUp / ranks: 1 is ideal.
};

/// @param jobs In ascending order of ranks, none empty. Where the first is not on one rank, it
///             counts as ideal.
std::vector<Scaling> compare(const std::vector<Measurement>& jobs);

/// For a terminal; columns are aligned.
std::string consoleTable(const std::vector<Scaling>& study, const std::string& rateTag);

/// The same as one line of JSON.
std::string jsonLine(const std::vector<Scaling>& study);

/// Writes scalars under `scaling/` with the number of ranks as their step, the table as text and,
/// with component `figure`, speed-up against ideal and where the time went.
///
/// @param title   For the figure: short.
/// @param setting What was measured, under the title.
void logStudy(steptape::SummaryWriter& writer, const std::vector<Scaling>& study,
              const std::string& rateTag, const std::string& title, const std::string& setting);

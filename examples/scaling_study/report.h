// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <steptape/log/summary_writer.h>

#include "job.h"

/// A measurement compared with the one on the fewest ranks.
struct Scaling {
  Measurement job;
  double speedUp = 1;
  double efficiency = 1;  ///< speedUp / ranks: 1 is ideal.
};

/// Compares each measurement with the first one.
///
/// @param jobs Not empty, in increasing order of ranks. If the first has several ranks, its
///             speed-up counts as ideal.
std::vector<Scaling> compare(const std::vector<Measurement>& jobs);

/// Returns a table with aligned columns, for a terminal.
std::string consoleTable(const std::vector<Scaling>& study, const std::string& rateTag);

/// Returns the same numbers as one line of JSON.
std::string jsonLine(const std::vector<Scaling>& study);

/// Logs the study: scalars under `scaling/` with the number of ranks as their step, and the table
/// as a text. With the component `figure` it adds charts of the speed-up and of where the time
/// goes.
///
/// @param title   Short title of the figure.
/// @param setting What was measured, shown after the title.
void logStudy(steptape::SummaryWriter& writer, const std::vector<Scaling>& study,
              const std::string& rateTag, const std::string& title, const std::string& setting);

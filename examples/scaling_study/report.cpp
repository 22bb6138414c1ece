// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <steptape/base/json.h>

#ifdef SCALING_STUDY_WITH_FIGURES
#include <steptape/figure.h>
#endif

namespace {

using Row = std::vector<std::string>;

std::string number(double value, int digits) {
  if (std::isnan(value)) {
    return "-";
  }
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return buffer.data();
}

std::string percent(double share) {
  return std::isnan(share) ? "-" : number(100 * share, 1) + " %";
}

bool timesEpochs(const std::vector<Scaling>& study) {
  return study.front().job.epochs > 0;
}

/// The rows of all tables; the first one is the heading.
std::vector<Row> tableRows(const std::vector<Scaling>& study, const std::string& rateTag) {
  const bool epochs = timesEpochs(study);
  std::vector<Row> rows = {{"ranks"}};
  Row& heading = rows.front();
  const Row measured = epochs ? Row{"epochs", "seconds"} : Row{rateTag};
  heading.insert(heading.end(), measured.begin(), measured.end());
  heading.insert(heading.end(), {"speed-up", "efficiency", "wait", "input", "compute"});
  heading.insert(heading.end(), epochs ? "job seconds" : "seconds");
  for (const Scaling& entry : study) {
    Row row = {std::to_string(entry.job.ranks)};
    if (epochs) {
      row.push_back(std::to_string(entry.job.epochs));
      row.push_back(number(entry.job.secondsOfEpochs, 2));
    } else {
      row.push_back(number(entry.job.rate, 1));
    }
    row.insert(row.end(), {number(entry.speedUp, 2), percent(entry.efficiency),
                           percent(entry.job.waitShare), percent(entry.job.inputShare),
                           percent(entry.job.computeShare), number(entry.job.seconds, 1)});
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string markdownTable(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    text += "|";
    for (const std::string& cell : row) {
      text += " " + cell + " |";
    }
    text += "\n";
    if (&row == &rows.front()) {
      text += "|";
      for (std::size_t i = 0; i < row.size(); ++i) {
        text += "--:|";
      }
      text += "\n";
    }
  }
  return text;
}

#ifdef SCALING_STUDY_WITH_FIGURES
/// A chart with one position for each number of ranks, in the size that TensorBoard shows.
steptape::Figure chart(const std::string& title, const std::string& yLabel) {
  steptape::CanvasOptions canvas;
  canvas.width = 480;
  canvas.height = 360;
  steptape::Figure figure(canvas);
  figure.setTitle(title).setXLabel("ranks").setYLabel(yLabel);
  return figure;
}

void logSpeedUp(steptape::SummaryWriter& writer, const std::vector<Scaling>& study,
                const std::string& title) {
  std::vector<double> places;
  std::vector<double> ideal;
  std::vector<double> measured;
  steptape::BarOptions bars;
  for (const Scaling& entry : study) {
    places.push_back(static_cast<double>(places.size()));
    ideal.push_back(entry.job.ranks);
    measured.push_back(entry.speedUp);
    bars.labels.push_back(std::to_string(entry.job.ranks));
  }
  bars.label = "measured";
  bars.width = 0.5;
  steptape::LineOptions line;
  line.label = "ideal";
  line.style = "--";
  line.marker = "o";
  line.color = "gray";
  steptape::Figure figure = chart(title, "speed-up");
  figure.bar(measured, bars).line(places, ideal, line);
  figure.setLegend(steptape::LegendPlace::kUpperLeft);
  writer.addFigure("scaling/speed_up_against_ideal", figure, study.back().job.ranks);
}

/// Does nothing if the program does not log where its time goes.
void logShares(steptape::SummaryWriter& writer, const std::vector<Scaling>& study) {
  if (std::all_of(study.begin(), study.end(),
                  [](const Scaling& entry) { return std::isnan(entry.job.waitShare); })) {
    return;
  }
  steptape::Figure figure = chart("Where the time of a step goes", "% of the time");
  const auto addBars = [&](const char* label, double Measurement::*share) {
    steptape::BarOptions bars;
    bars.label = label;
    bars.width = 0.6;
    std::vector<double> percents;
    for (const Scaling& entry : study) {
      percents.push_back(100 * entry.job.*share);
      bars.labels.push_back(std::to_string(entry.job.ranks));
    }
    figure.bar(percents, bars);
  };
  addBars("computing", &Measurement::computeShare);
  addBars("input", &Measurement::inputShare);
  addBars("waiting for other ranks", &Measurement::waitShare);
  figure.setYLimits(0, 145);  // Leaves room for the legend above 100 %.
  figure.setLegend(steptape::LegendPlace::kUpperRight);
  writer.addFigure("scaling/where_the_time_goes", figure, study.back().job.ranks);
}
#endif

void appendField(std::string& json, const char* name, double value) {
  json += std::string(",\"") + name + "\":";
  steptape::appendJsonNumber(&json, value);
}

}  // namespace

std::vector<Scaling> compare(const std::vector<Measurement>& jobs) {
  const Measurement& base = jobs.front();
  std::vector<Scaling> study;
  for (const Measurement& job : jobs) {
    const double speedUp = job.rate / base.rate * base.ranks;
    study.push_back({job, speedUp, speedUp / job.ranks});
  }
  return study;
}

std::string consoleTable(const std::vector<Scaling>& study, const std::string& rateTag) {
  const std::vector<Row> rows = tableRows(study, rateTag);
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t width = 0;
      for (const Row& other : rows) {
        width = std::max(width, other[column].size());
      }
      text += std::string(width - row[column].size() + (column == 0 ? 0 : 3), ' ') + row[column];
    }
    text += "\n";
  }
  return text;
}

std::string jsonLine(const std::vector<Scaling>& study) {
  std::string json = "[";
  for (const Scaling& entry : study) {
    json += (json.size() > 1 ? ",{" : "{") + std::string("\"ranks\":") +
            std::to_string(entry.job.ranks);
    appendField(json, "rate", entry.job.rate);
    appendField(json, "speed_up", entry.speedUp);
    appendField(json, "efficiency", entry.efficiency);
    appendField(json, "wait_share", entry.job.waitShare);
    appendField(json, "input_share", entry.job.inputShare);
    appendField(json, "compute_share", entry.job.computeShare);
    appendField(json, "seconds", entry.job.seconds);
    if (timesEpochs(study)) {
      appendField(json, "epochs", static_cast<double>(entry.job.epochs));
      appendField(json, "seconds_of_epochs", entry.job.secondsOfEpochs);
    }
    json += "}";
  }
  return json + "]";
}

void logStudy(steptape::SummaryWriter& writer, const std::vector<Scaling>& study,
              const std::string& rateTag, const std::string& title, const std::string& setting) {
  for (const Scaling& entry : study) {
    auto scalars = writer.atStep(entry.job.ranks);
    if (timesEpochs(study)) {
      scalars.add("scaling/seconds_of_epochs", entry.job.secondsOfEpochs);
    } else {
      scalars.add("scaling/" + rateTag, entry.job.rate);
    }
    scalars.add("scaling/speed_up", entry.speedUp);
    scalars.add("scaling/efficiency", entry.efficiency);
    scalars.add("scaling/seconds", entry.job.seconds);
    if (!std::isnan(entry.job.waitShare)) {
      scalars.add("scaling/wait_share", entry.job.waitShare);
      scalars.add("scaling/input_share", entry.job.inputShare);
      scalars.add("scaling/compute_share", entry.job.computeShare);
    }
  }
  writer.addText("scaling/table",
                 title + ", " + setting + "\n\n" + markdownTable(tableRows(study, rateTag)),
                 study.back().job.ranks);
#ifdef SCALING_STUDY_WITH_FIGURES
  logSpeedUp(writer, study, title);
  logShares(writer, study);
#endif
}

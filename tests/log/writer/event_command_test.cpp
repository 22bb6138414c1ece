// SPDX-License-Identifier: Apache-2.0
// What a writer tells the command of its user.
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "log/writer/writer_fixture.h"
#include "support/content_of.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WriterEvents : public WriterFixture {
 protected:
  WriterOptions telling() {
    WriterOptions options;
    options.eventCommand = "cat >> '" + file_ + "'";
    return options;
  }
  std::vector<nlohmann::json> documents() const {
    std::vector<nlohmann::json> documents;
    if (!std::filesystem::exists(file_)) {
      return documents;
    }
    std::istringstream lines(test::contentOf(file_));
    for (std::string line; std::getline(lines, line);) {
      documents.push_back(nlohmann::json::parse(line));
    }
    return documents;
  }
  std::vector<std::string> events() const {
    std::vector<std::string> events;
    for (const nlohmann::json& document : documents()) {
      events.push_back(document.at("event"));
    }
    return events;
  }

  const testing::TempDir other_;
  const std::string file_ = other_.string() + "/documents";
};

TEST_F(WriterEvents, TellTheBeginningAFindingAndTheEnd) {
  {
    SummaryWriter writer = open(telling());
    writer.addScalar("loss", std::numeric_limits<double>::quiet_NaN(), 3);
    expectOk(writer.close());
  }
  EXPECT_THAT(events(), ElementsAre("started", "finding", "ended"));
  const nlohmann::json finding = documents().at(1);
  EXPECT_EQ(finding.at("rule"), "not-finite");
  EXPECT_EQ(finding.at("tag"), "loss");
  EXPECT_EQ(finding.at("step"), 3);
  EXPECT_EQ(finding.at("run"), dir_.string());
}

TEST_F(WriterEvents, TellThatARunGoesOn) {
  { const SummaryWriter writer = open(); }
  { const SummaryWriter writer = open(telling()); }
  EXPECT_THAT(events(), ElementsAre("resumed", "ended"));
}

TEST_F(WriterEvents, TellThatAnExceptionEndedTheRun) {
  try {
    SummaryWriter writer = open(telling());
    throw std::runtime_error("");
  } catch (const std::runtime_error&) {
  }
  EXPECT_THAT(events(), ElementsAre("started", "failed"));
}

TEST_F(WriterEvents, TellWhatTheProgramSays) {
  {
    SummaryWriter writer = open(telling());
    writer.notify("best", "accuracy 0.9");
  }
  EXPECT_THAT(events(), ElementsAre("started", "best", "ended"));
  EXPECT_EQ(documents().at(1).at("message"), "accuracy 0.9");
}

TEST_F(WriterEvents, AreReportedIfTheCommandFails) {
  {
    WriterOptions options;
    options.eventCommand = "exit 3";
    SummaryWriter writer = open(std::move(options));
  }
  EXPECT_THAT(reports(), ElementsAre("event command \"exit 3\": got exit code 3; expected exit "
                                     "code 0"));
}

TEST_F(WriterEvents, AreNotThoseOfADisabledWriter) {
  {
    WriterOptions options = telling();
    options.enabled = false;
    SummaryWriter writer = open(std::move(options));
    writer.notify("best", "");
  }
  EXPECT_THAT(documents(), IsEmpty());
}

}  // namespace
}  // namespace steptape

// SPDX-License-Identifier: Apache-2.0
// Proves from the sources that the layers of docs/architecture.md hold.
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "lint/source_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::lint {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

const SourceTree& library() {
  static const SourceTree kTree(STEPTAPE_SOURCE_DIR, {"include", "src", "tools"}, {".h", ".cpp"});
  return kTree;
}

const SourceTree& everything() {
  static const SourceTree kTree(
      STEPTAPE_SOURCE_DIR,
      {"include", "src", "proto", "tools", "tests", "examples", "benchmarks", "cmake"},
      {".h", ".cpp", ".proto", ".cmake", "CMakeLists.txt", ".in", ".sh", ".py"});
  return kTree;
}

/// Each layer and the layers it links to, as drawn in docs/architecture.md.
const std::map<std::string, std::set<std::string>>& directDependencies() {
  static const std::map<std::string, std::set<std::string>> kLayers{
      {"base", {}},
      {"recorder", {"base"}},
      {"record", {"base"}},
      {"event", {"base"}},
      {"summary", {"event"}},
      {"figure", {"summary"}},
      {"writer", {"record", "summary"}},
      {"reader", {"record", "event"}},
      {"exporter", {"reader"}},
      {"checker", {"reader"}},
      {"trace", {"recorder", "event"}},
      {"distributed", {"writer", "recorder"}},
      {"profile", {"trace", "distributed"}},
      {"profile_figure", {"figure", "profile"}},
      {"mpi", {"distributed"}},
      {"torch", {"writer", "profile"}},
      {"parallel", {"distributed"}},
      {"data", {"distributed"}},
      {"recipe", {"distributed"}},
      {"checkpoint", {"parallel", "recipe"}},
      {"trainer", {"checkpoint", "data", "torch"}},
      {"testing", {"writer", "distributed"}},
      {"tools", {"exporter", "checker", "profile"}},
  };
  return kLayers;
}

const std::set<std::string>& torchLayers() {
  static const std::set<std::string> kLayers{"torch",  "parallel",   "data",
                                             "recipe", "checkpoint", "trainer"};
  return kLayers;
}

/// `layer` and every layer below it.
std::set<std::string> reachableFrom(const std::string& layer) {
  std::set<std::string> reachable{layer};
  for (const std::string& below : directDependencies().at(layer)) {
    reachable.merge(reachableFrom(below));
  }
  return reachable;
}

/// The layer named by the start of a path such as "include/steptape/writer/x.h"; empty if none.
std::string layerIn(const std::string& path) {
  static const std::regex kLayer(R"(^(?:include/steptape/|steptape/|src/|)(\w+)/)");
  std::smatch match;
  if (!std::regex_search(path, match, kLayer)) {
    return "";
  }
  const std::string name = match[1];
  return directDependencies().count(name) != 0 ? name : "";
}

/// "mpi" for include/steptape/mpi.h, the header users include for that component; empty for a
/// header inside a layer.
std::string umbrellaName(const std::string& path) {
  static const std::regex kUmbrella(R"(^include/steptape/(\w+)\.h$)");
  std::smatch match;
  return std::regex_search(path, match, kUmbrella) ? std::string(match[1]) : "";
}

/// Which of the dependencies with rules of their own a header belongs to; empty for others.
std::string restrictedDependency(const std::string& header) {
  static const std::regex kCairo(R"(^cairo)");
  static const std::regex kProtobuf(R"(^google/protobuf/|\.pb\.h$)");
  static const std::regex kMpi(R"(^mpi\.h$)");
  static const std::regex kTorch(R"(^(torch|ATen|c10)/)");
  if (std::regex_search(header, kProtobuf)) {
    return "protobuf";
  }
  if (std::regex_search(header, kMpi)) {
    return "MPI";
  }
  if (std::regex_search(header, kCairo)) {
    return "Cairo";
  }
  return std::regex_search(header, kTorch) ? "LibTorch" : "";
}

bool startsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string describe(const Line& line) {
  return line.file + ":" + std::to_string(line.number) + ": " + line.text;
}

TEST(Layers, NoIncludePointsUp) {
  std::vector<std::string> upward;
  int checked = 0;
  for (const std::string& file : library().files()) {
    const std::string layer = layerIn(file);
    if (layer.empty()) {
      continue;  // See UmbrellaHeadersStayInTheirComponent.
    }
    const std::set<std::string> allowed = reachableFrom(layer);
    for (const Include& include : library().includes(file)) {
      const std::string target = layerIn(include.target);
      // "torch/…" is LibTorch's own folder unless the path says steptape/torch.
      if (target.empty() || !restrictedDependency(include.target).empty()) {
        continue;
      }
      ++checked;
      if (allowed.count(target) == 0) {
        upward.push_back(describe(include.line));
      }
    }
  }
  EXPECT_THAT(upward, IsEmpty());
  EXPECT_GT(checked, 50) << "the includes were not found";
}

TEST(Layers, UmbrellaHeadersStayInTheirComponent) {
  const std::set<std::string> core{"base",     "recorder", "record",      "event",
                                   "summary",  "trace",    "writer",      "reader",
                                   "exporter", "checker",  "distributed", "profile"};
  std::vector<std::string> foreign;
  std::set<std::string> umbrellas;
  for (const std::string& file : library().files()) {
    const std::string name = umbrellaName(file);
    if (name.empty()) {
      continue;
    }
    umbrellas.insert(name);
    std::set<std::string> allowed = core;
    if (directDependencies().count(name) != 0) {
      allowed.merge(reachableFrom(name));
    }
    for (const Include& include : library().transitiveIncludes(file)) {
      const std::string layer = layerIn(include.target);
      if (!layer.empty() && restrictedDependency(include.target).empty() &&
          allowed.count(layer) == 0) {
        foreign.push_back(file + " reaches " + describe(include.line));
      }
    }
  }
  EXPECT_THAT(foreign, IsEmpty());
  EXPECT_THAT(umbrellas, ::testing::ElementsAre("figure", "mpi", "profile", "profile_figure",
                                                "steptape", "torch", "trainer"));
}

TEST(Layers, CairoProtobufMpiAndTorchStayInTheirFolders) {
  std::vector<std::string> torchFolders;
  for (const std::string& layer : torchLayers()) {
    torchFolders.push_back("src/" + layer + "/");
    torchFolders.push_back("include/steptape/" + layer + "/");
  }
  const std::map<std::string, std::vector<std::string>> foldersByDependency{
      {"Cairo", {"src/figure/"}},
      {"protobuf", {"src/event/"}},
      {"MPI", {"src/mpi/", "include/steptape/mpi/"}},
      {"LibTorch", torchFolders},
  };
  std::vector<std::string> strays;
  std::set<std::string> seen;
  for (const std::string& file : library().files()) {
    for (const Include& include : library().includes(file)) {
      const std::string dependency = restrictedDependency(include.target);
      if (dependency.empty()) {
        continue;
      }
      seen.insert(dependency);
      bool inItsFolder = false;
      for (const std::string& folder : foldersByDependency.at(dependency)) {
        inItsFolder = inItsFolder || startsWith(file, folder);
      }
      if (!inItsFolder) {
        strays.push_back(describe(include.line));
      }
    }
  }
  EXPECT_THAT(strays, IsEmpty());
  EXPECT_THAT(seen, ::testing::ElementsAre("Cairo", "LibTorch", "MPI", "protobuf"));
}

TEST(Layers, NoTranslationUnitSeesTwoOfCairoProtobufMpiAndTorch) {
  std::vector<std::string> mixed;
  for (const std::string& file : library().files()) {
    std::set<std::string> seen;
    for (const Include& include : library().transitiveIncludes(file)) {
      seen.insert(restrictedDependency(include.target));
    }
    seen.erase("");
    if (seen.size() > 1) {
      mixed.push_back(file + " sees " + ::testing::PrintToString(seen));
    }
  }
  EXPECT_THAT(mixed, IsEmpty());
}

TEST(Layers, CoreHeadersIncludeNoneOfTheDependencies) {
  std::set<std::string> otherComponents = torchLayers();
  otherComponents.insert("mpi");
  std::vector<std::string> heavy;
  for (const std::string& file : library().files()) {
    if (!startsWith(file, "include/") || otherComponents.count(layerIn(file)) != 0 ||
        otherComponents.count(umbrellaName(file)) != 0) {
      continue;
    }
    for (const Include& include : library().transitiveIncludes(file)) {
      if (!restrictedDependency(include.target).empty() || include.target == "zlib.h") {
        heavy.push_back(file + " reaches " + describe(include.line));
      }
    }
  }
  EXPECT_THAT(heavy, IsEmpty());
}

TEST(Sources, ReadTheWallClockInOnePlace) {
  std::vector<std::string> readers;
  bool found = false;
  for (const std::string& file : library().files()) {
    for (const Line& line : library().lines(file)) {
      if (line.text.find("system_clock::now") == std::string::npos) {
        continue;
      }
      if (file == "src/base/clock.cpp") {
        found = true;
      } else {
        readers.push_back(describe(line));
      }
    }
  }
  EXPECT_THAT(readers, IsEmpty());
  EXPECT_TRUE(found) << "src/base/clock.cpp no longer reads it";
}

TEST(Sources, NeverOpenANamespace) {
  std::vector<std::string> opened;
  for (const std::string& file : everything().files()) {
    for (const Line& line : everything().lines(file)) {
      static const std::regex kUsing(R"(^\s*using namespace (?!.*literals;))");
      if (std::regex_search(line.text, kUsing)) {
        opened.push_back(describe(line));
      }
    }
  }
  EXPECT_THAT(opened, IsEmpty());
}

TEST(Sources, NameTheirLicenseFirst) {
  std::vector<std::string> unlicensed;
  ASSERT_THAT(everything().files(), Not(IsEmpty()));
  for (const std::string& file : everything().files()) {
    const std::vector<Line>& lines = everything().lines(file);
    const std::size_t first = !lines.empty() && startsWith(lines[0].text, "#!") ? 1 : 0;
    if (lines.size() <= first ||
        lines[first].text.find("SPDX-License-Identifier: Apache-2.0") == std::string::npos) {
      unlicensed.push_back(file);
    }
  }
  EXPECT_THAT(unlicensed, IsEmpty());
}

TEST(Sources, HeadersAreIncludedOnce) {
  std::vector<std::string> unguarded;
  for (const std::string& file : everything().files()) {
    if (file.size() < 2 || file.compare(file.size() - 2, 2, ".h") != 0) {
      continue;
    }
    bool guarded = false;
    for (const Line& line : everything().lines(file)) {
      guarded = guarded || line.text == "#pragma once";
    }
    if (!guarded) {
      unguarded.push_back(file);
    }
  }
  EXPECT_THAT(unguarded, IsEmpty());
}

}  // namespace
}  // namespace steptape::lint

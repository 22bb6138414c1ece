// SPDX-License-Identifier: Apache-2.0
// Checks the sources and the documents against the rooms that the CMakeLists.txt files declare.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "lint/room_graph.h"
#include "lint/source_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::lint {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

const SourceTree& everything() {
  static const SourceTree kTree(
      STEPTAPE_SOURCE_DIR,
      {"include", "src", "proto", "tools", "python", "tests", "examples", "benchmarks", "cmake"},
      {".h", ".cpp", ".proto", ".cmake", "CMakeLists.txt", ".in", ".sh", ".py"});
  return kTree;
}

const RoomGraph& graph() {
  static const RoomGraph kGraph(
      SourceTree(STEPTAPE_SOURCE_DIR, {"src", "tools/steptape", "python"}, {"CMakeLists.txt"}));
  return kGraph;
}

/// Returns whether the room sees LibTorch's headers.
bool usesTorch(const std::string& room) {
  return graph().reachableFrom(room).count("libtorch") != 0;
}

/// Returns "mpi" for include/steptape/mpi.h, the header that users include for that component;
/// empty for a header inside a district.
std::string umbrellaName(const std::string& path) {
  static const std::regex kUmbrella(R"(^include/steptape/(\w+)\.h$)");
  std::smatch match;
  return std::regex_search(path, match, kUmbrella) ? std::string(match[1]) : "";
}

/// Returns whether no library of ours includes the file: the programs of users compile it, with
/// the dependency that it needs.
bool isForUsersAlone(const std::string& file) {
  return file == "include/steptape/c/mpi.h" || startsWith(file, "tools/projects/");
}

/// Returns the restricted dependency to which a header belongs; empty for others.
std::string restrictedDependency(const std::string& header) {
  static const std::regex kCairo(R"(^cairo)");
  static const std::regex kImageLibraries(R"(^(jpeglib|jerror|png)\.h$)");
  static const std::regex kProtobuf(R"(^google/protobuf/|\.pb\.h$)");
  static const std::regex kMpi(R"(^mpi\.h$)");
  static const std::regex kTorch(R"(^(torch|ATen|c10)/)");
  static const std::regex kNghttp2(R"(^nghttp2/)");
  static const std::regex kNanobind(R"(^nanobind/|^Python\.h$)");
  if (std::regex_search(header, kProtobuf)) {
    return "protobuf";
  }
  if (std::regex_search(header, kMpi)) {
    return "MPI";
  }
  if (std::regex_search(header, kImageLibraries)) {
    return "image libraries";
  }
  if (std::regex_search(header, kCairo)) {
    return "Cairo";
  }
  if (std::regex_search(header, kNghttp2)) {
    return "nghttp2";
  }
  if (std::regex_search(header, kNanobind)) {
    return "nanobind";
  }
  return std::regex_search(header, kTorch) ? "LibTorch" : "";
}

TEST(Rooms, NoIncludePointsUp) {
  std::vector<std::string> upward;
  int checked = 0;
  for (const std::string& file : library().files()) {
    const Room* const room = graph().roomOf(file);
    if (room == nullptr) {
      continue;  // See UmbrellaHeadersStayInTheirComponent.
    }
    const std::set<std::string> allowed = graph().reachableFrom(room->name);
    for (const Include& include : library().includes(file)) {
      const Room* const target = graph().roomOf(include.target);
      if (target == nullptr || !restrictedDependency(include.target).empty()) {
        continue;
      }
      ++checked;
      if (allowed.count(target->name) == 0) {
        upward.push_back(describe(include.line));
      }
    }
  }
  EXPECT_THAT(upward, IsEmpty());
  EXPECT_GT(checked, 1000) << "the includes were not found";
}

TEST(Rooms, LinkOnlyToDistrictsBelow) {
  std::map<std::string, std::set<std::string>> below = graph().districts();
  // Remove districts that stand on no remaining one; a cycle stays.
  for (bool found = true; found;) {
    found = false;
    for (auto district = below.begin(); district != below.end();) {
      const bool stands =
          std::any_of(district->second.begin(), district->second.end(),
                      [&below](const std::string& name) { return below.count(name) != 0; });
      found = found || !stands;
      district = stands ? std::next(district) : below.erase(district);
    }
  }
  EXPECT_THAT(below, IsEmpty());
}

TEST(Rooms, HaveEachPublicHeaderOnce) {
  std::map<std::string, int> rooms;
  for (const std::string& file : library().files()) {
    if (startsWith(file, "include/") && umbrellaName(file).empty() && !isForUsersAlone(file)) {
      rooms[file] = 0;
    }
  }
  for (const auto& [name, room] : graph().rooms()) {
    for (const std::string& header : room.headers) {
      // The header of the version is generated.
      if (header != "steptape/base/version.h") {
        ++rooms["include/" + header];
        EXPECT_TRUE(startsWith(header, "steptape/" + room.district + "/")) << header;
      }
    }
  }
  for (const auto& [header, count] : rooms) {
    EXPECT_EQ(count, 1) << header << " belongs to one room of its district";
  }
}

/// Returns the rows of a document's tables whose first cell is a name in backquotes, by that name.
std::map<std::string, std::string> rowsByName(const std::string& folder,
                                              const std::string& document) {
  const SourceTree documents(STEPTAPE_SOURCE_DIR, {folder}, {document});
  std::map<std::string, std::string> rows;
  for (const Line& line : documents.lines(folder + "/" + document)) {
    static const std::regex kRow(R"(^\| `(\w+)` \|(.+)\|$)");
    std::smatch match;
    if (std::regex_match(line.text, match, kRow)) {
      rows[match[1]] = match[2];
    }
  }
  return rows;
}

TEST(Rooms, EachDistrictIsDrawnWithWhatItStandsOn) {
  std::map<std::string, std::set<std::string>> drawn;
  for (const auto& [name, row] : rowsByName("docs", "architecture.md")) {
    if (graph().districts().count(name) != 0) {
      const std::string below = row.substr(row.rfind('|') + 1);
      static const std::regex kName(R"(\w+)");
      for (std::sregex_iterator match(below.begin(), below.end(), kName), end; match != end;
           ++match) {
        drawn[name].insert(match->str());
      }
      drawn[name].erase("nothing");
    }
  }
  EXPECT_EQ(drawn, graph().districts());
}

TEST(Rooms, EachIsDescribedByItsDistrict) {
  std::map<std::string, std::set<std::string>> rooms;
  for (const auto& [name, room] : graph().rooms()) {
    const std::string district = "src/" + room.district;
    if (startsWith(room.folder, district + "/")) {
      rooms[district].insert(room.folder.substr(district.size() + 1));
    }
  }
  EXPECT_GT(rooms.size(), 5U) << "the districts were not found";
  for (const auto& [district, names] : rooms) {
    const std::map<std::string, std::string> described = rowsByName(district, "README.md");
    for (const std::string& name : names) {
      EXPECT_EQ(described.count(name), 1U) << name << " in " << district << "/README.md";
    }
  }
}

/// Returns "backend" for src/log/writer/backend.cpp, its header, and "log/writer/backend.h"; empty
/// for a path outside of the room.
std::string pieceIn(const std::string& room, const std::string& path) {
  const Room* const owner = graph().roomOf(path);
  return owner != nullptr && owner->name == room ? std::filesystem::path(path).stem().string() : "";
}

TEST(Rooms, WriterPiecesIncludeOnlyPiecesBelow) {
  std::map<std::string, std::set<std::string>> below;
  for (const std::string& file : library().files()) {
    const std::string piece = pieceIn("log_writer", file);
    for (const Include& include : library().includes(file)) {
      const std::string target = pieceIn("log_writer", include.target);
      if (!piece.empty() && !target.empty() && target != piece) {
        below[piece].insert(target);
      }
    }
  }
  EXPECT_GT(below.size(), 20U) << "the includes were not found";
  // Remove files that include no remaining file; a cycle and the files that include it stay.
  for (bool found = true; found;) {
    found = false;
    for (auto piece = below.begin(); piece != below.end();) {
      const bool stands =
          std::any_of(piece->second.begin(), piece->second.end(),
                      [&below](const std::string& target) { return below.count(target) != 0; });
      found = found || !stands;
      piece = stands ? std::next(piece) : below.erase(piece);
    }
  }
  EXPECT_THAT(below, IsEmpty());
}

TEST(Rooms, UmbrellaHeadersStayInTheirComponent) {
  std::vector<std::string> foreign;
  std::set<std::string> umbrellas;
  for (const std::string& file : library().files()) {
    const std::string name = umbrellaName(file);
    if (name.empty()) {
      continue;
    }
    umbrellas.insert(name);
    std::set<std::string> allowed = graph().core();
    allowed.merge(graph().reachableFrom(name));
    if (name == "environment") {
      // Includes the headers of these two if the program links them.
      allowed.insert({"mpi", "c10d"});
    }
    for (const Include& include : library().transitiveIncludes(file)) {
      const Room* const room = graph().roomOf(include.target);
      if (room != nullptr && restrictedDependency(include.target).empty() &&
          allowed.count(room->name) == 0) {
        foreign.push_back(file + " reaches " + describe(include.line));
      }
    }
  }
  EXPECT_THAT(foreign, IsEmpty());
  EXPECT_THAT(umbrellas,
              ::testing::ElementsAre("c10d", "environment", "figure", "images", "mpi", "profile",
                                     "profile_figure", "steptape", "torch", "trainer"));
}

/// Returns the public headers that a document names, such as <steptape/mpi.h>, in the form of
/// files().
std::set<std::string> headersNamedIn(const std::vector<Line>& document) {
  static const std::regex kHeader(R"(<(steptape/[\w/]+\.h)>)");
  std::set<std::string> headers;
  for (const Line& line : document) {
    for (std::sregex_iterator match(line.text.begin(), line.text.end(), kHeader), end; match != end;
         ++match) {
      headers.insert("include/" + (*match)[1].str());
    }
  }
  return headers;
}

TEST(Rooms, EachPublicHeaderIsInAnUmbrellaOrADocument) {
  std::set<std::string> shown;
  std::vector<std::string> headers;
  for (const std::string& file : library().files()) {
    if (!startsWith(file, "include/")) {
      continue;
    }
    if (umbrellaName(file).empty()) {
      headers.push_back(file);
      continue;
    }
    for (const Include& include : library().transitiveIncludes(file)) {
      shown.insert("include/" + include.target);
    }
  }
  const SourceTree documents(STEPTAPE_SOURCE_DIR, {"docs"}, {".md"});
  for (const std::string& document : documents.files()) {
    shown.merge(headersNamedIn(documents.lines(document)));
  }
  std::vector<std::string> unseen;
  for (const std::string& header : headers) {
    if (shown.count(header) == 0) {
      unseen.push_back(header);
    }
  }
  EXPECT_THAT(unseen, IsEmpty()) << "a header that no user includes belongs in src";
  EXPECT_GT(headers.size(), 50U) << "the headers were not found";
}

TEST(Rooms, RestrictedDependenciesStayInTheirRooms) {
  std::set<std::string> torchRooms;
  for (const auto& [name, room] : graph().rooms()) {
    if (usesTorch(name)) {
      torchRooms.insert(name);
    }
  }
  const std::map<std::string, std::set<std::string>> roomsByDependency{
      {"Cairo", {"figure"}},
      {"image libraries", {"images"}},
      {"protobuf", {"events_messages", "server_provider"}},
      {"MPI", {"mpi"}},
      {"LibTorch", torchRooms},
      {"nanobind", {"python"}},
      {"nghttp2", {"server_http2"}},
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
      // The tool has messages of its own, between hosts.
      const bool isOfHosts = dependency == "protobuf" && startsWith(file, "tools/steptape/hosts/");
      const Room* const room = graph().roomOf(file);
      if (!isOfHosts && !isForUsersAlone(file) &&
          (room == nullptr || roomsByDependency.at(dependency).count(room->name) == 0)) {
        strays.push_back(describe(include.line));
      }
    }
  }
  EXPECT_THAT(strays, IsEmpty());
  EXPECT_THAT(seen, ::testing::ElementsAre("Cairo", "LibTorch", "MPI", "image libraries",
                                           "nanobind", "nghttp2", "protobuf"));
}

TEST(Rooms, NoTranslationUnitSeesTwoRestrictedDependencies) {
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

/// Returns whether users of this header have MPI or LibTorch.
bool mayBeHeavy(const std::string& header) {
  const Room* const room = graph().roomOf(header);
  const std::string name = room != nullptr ? room->name : umbrellaName(header);
  // What "environment" includes depends on what a program links.
  return usesTorch(name) || name == "mpi" || name == "environment";
}

TEST(Rooms, OtherHeadersIncludeNoneOfTheDependencies) {
  std::vector<std::string> heavy;
  int checked = 0;
  for (const std::string& file : library().files()) {
    if (!startsWith(file, "include/") || mayBeHeavy(file) || isForUsersAlone(file)) {
      continue;
    }
    ++checked;
    for (const Include& include : library().transitiveIncludes(file)) {
      if (!restrictedDependency(include.target).empty() || include.target == "zlib.h") {
        heavy.push_back(file + " reaches " + describe(include.line));
      }
    }
  }
  EXPECT_THAT(heavy, IsEmpty());
  EXPECT_GT(checked, 40) << "the headers were not found";
}

/// Returns the names of the logging calls, such as "addScalar", that a header declares.
std::set<std::string> loggingCallsIn(const std::string& header) {
  std::set<std::string> calls;
  for (const Line& line : library().lines(header)) {
    if (line.text == " private:") {
      break;
    }
    static const std::regex kCall(R"(^  (?:void|ScalarTag|StepBatch) (\w+)\()");
    std::smatch match;
    if (std::regex_search(line.text, match, kCall)) {
      calls.insert(match[1]);
    }
  }
  return calls;
}

TEST(Sources, GiveADistributedWriterEveryCallOfASummaryWriter) {
  const std::set<std::string> calls = loggingCallsIn("include/steptape/log/summary_writer.h");
  EXPECT_GT(calls.size(), 25U) << "the calls were not found";
  std::vector<std::string> missing;
  const std::set<std::string> distributed =
      loggingCallsIn("include/steptape/metrics/distributed_writer.h");
  for (const std::string& call : calls) {
    if (distributed.count(call) == 0) {
      missing.push_back(call);
    }
  }
  EXPECT_THAT(missing, IsEmpty());
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

/// Returns the types that a file defines outside of anonymous namespaces, with their namespaces.
std::vector<std::string> typesDefinedIn(const std::vector<Line>& lines) {
  static const std::regex kNamespace(R"(^namespace ?([\w:]*) \{)");
  static const std::regex kType(
      R"(^(?:struct|class|union|enum|enum class) (?:\S+\(\S*\) |STEPTAPE_EXPORT )*(\w+)(?: final)?(?: :.*)? \{)");
  std::vector<std::string> namespaces;
  std::vector<std::string> types;
  for (const Line& line : lines) {
    std::smatch match;
    if (std::regex_search(line.text, match, kNamespace)) {
      namespaces.push_back(match[1]);
    } else if (startsWith(line.text, "}  // namespace") && !namespaces.empty()) {
      namespaces.pop_back();
    } else if (std::regex_search(line.text, match, kType)) {
      std::string name;
      for (const std::string& outer : namespaces) {
        name += outer + "::";
      }
      if (std::count(namespaces.begin(), namespaces.end(), "") == 0) {
        types.push_back(name + match[1].str());
      }
    }
  }
  return types;
}

TEST(Sources, DefineATypeOnceInItsNamespace) {
  std::map<std::string, std::vector<std::string>> filesByType;
  for (const std::string& file : library().files()) {
    for (const std::string& type : typesDefinedIn(library().lines(file))) {
      filesByType[type].push_back(file);
    }
  }
  EXPECT_GT(filesByType.size(), 500U) << "the types were not found";
  std::vector<std::string> repeated;
  for (const auto& [type, files] : filesByType) {
    if (files.size() > 1) {
      repeated.push_back(type + " in " + ::testing::PrintToString(files));
    }
  }
  EXPECT_THAT(repeated, IsEmpty()) << "the linker takes one of them for all";
}

TEST(Sources, NeverOpenANamespace) {
  std::vector<std::string> opened;
  for (const std::string& file : everything().files()) {
    if (file.rfind("tests/install/", 0) == 0) {
      continue;  // Programs as users write them.
    }
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

// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include "steptape/base/version.h"

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// tests/install and tests/python/wheel_cpp_test.py build and run the projects.
class New : public ToolFixture {
 protected:
  void expectRefusedName(const std::string& folder, const std::string& name) const {
    EXPECT_THAT(steptape("new '" + folder + "'"),
                Exits(2, StartsWith("FOLDER: got the name '" + name + "'; expected ")));
    EXPECT_FALSE(std::filesystem::exists(path(folder)));
  }
};

TEST_F(New, WritesAProjectOfEachKindWithTheNameOfItsFolder) {
  const std::pair<std::string, std::string> kinds[] = {{"", "main.cpp"},
                                                       {"--torch", "main.cpp"},
                                                       {"--mpi", "main.cpp"},
                                                       {"--fortran", "main.f90"},
                                                       {"--c", "main.c"}};
  for (const auto& [option, source] : kinds) {
    SCOPED_TRACE(option);
    const std::string folder = "work/my-heat" + option;
    EXPECT_THAT(steptape("new " + folder + " " + option),
                Prints(HasSubstr("\n  cmake -B build && cmake --build build\n")));
    const std::string project = contentOf(folder + "/CMakeLists.txt");
    EXPECT_THAT(project, HasSubstr("\nproject(my-heat" + option + " LANGUAGES"));
    for (const std::string& name :
         {source, std::string("CMakeLists.txt"), std::string("README.md")}) {
      EXPECT_THAT(contentOf(folder + "/" + name),
                  AllOf(Not(HasSubstr("@")), Not(HasSubstr("SPDX")), Not(StartsWith("\n"))))
          << name;
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path(folder)), {}), 3);
  }
}

TEST_F(New, SaysHowToStartTheProgram) {
  EXPECT_THAT(steptape("new demo"), Prints("demo: CMakeLists.txt, README.md, main.cpp\n"
                                           "\n"
                                           "  cd demo\n"
                                           "  cmake -B build && cmake --build build\n"
                                           "  build/demo\n"
                                           "  steptape plot runs\n"));
  EXPECT_THAT(steptape("new 'a job/heat' --mpi"),
              Prints(AllOf(HasSubstr("\n  cd 'a job/heat'\n"),
                           HasSubstr("\n  mpiexec -n 2 build/heat\n"))));
}

TEST_F(New, TakesAnEmptyFolderAndTheOneItIsIn) {
  std::filesystem::create_directories(path("empty"));
  EXPECT_EQ(steptape("new empty/").exitCode, 0);
  std::filesystem::create_directories(path("here"));
  EXPECT_EQ(run("sh -c 'cd here && steptape new .'").exitCode, 0);
  EXPECT_THAT(contentOf("here/CMakeLists.txt"), HasSubstr("project(here "));
}

TEST_F(New, LeavesAFolderThatHoldsSomethingAlone) {
  writeBytes("work/notes", "mine");
  EXPECT_THAT(steptape("new work"),
              Exits(1,
                    "steptape: new work: got a folder that holds notes; expected a new folder, "
                    "or an empty one\n"));
  EXPECT_EQ(contentOf("work/notes"), "mine");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("work")), {}), 1);
  EXPECT_THAT(steptape("new work/notes"),
              Exits(1,
                    "steptape: new work/notes: got a regular file; expected a new folder, or an "
                    "empty one\n"));
  EXPECT_THAT(steptape("new work/notes/demo"), Exits(1, HasSubstr("work/notes")));
}

TEST_F(New, RefusesNamesThatNoProgramOfCMakeHas) {
  expectRefusedName("2nd", "2nd");
  expectRefusedName("a b", "a b");
  expectRefusedName("work/h\u00e9", "h\u00e9");
  expectRefusedName("a;b", "a;b");
  expectRefusedName("${HOME}", "${HOME}");
  expectRefusedName(std::string(65, 'a'), std::string(65, 'a'));
  expectRefusedName("work/test", "test");
  expectRefusedName("steptape", "steptape");
  EXPECT_THAT(steptape("new ''"), Exits(2, StartsWith("FOLDER: got the name ''; expected ")));
}

TEST_F(New, WritesOneKindOnly) {
  EXPECT_EQ(steptape("new demo --c --mpi").exitCode, 2);
  EXPECT_FALSE(std::filesystem::exists(path("demo")));
}

class CmakeDirectory : public ToolFixture {
 protected:
  /// Makes the version file of a package for CMake below prefix/, and returns its directory.
  std::string addPackage(const std::string& folder,
                         const std::string& version = STEPTAPE_VERSION) const {
    const std::string directory = "prefix/" + folder + "/cmake/steptape";
    writeBytes(directory + "/steptapeConfigVersion.cmake",
               "set(PACKAGE_VERSION \"" + version + "\")\n");
    return path(directory);
  }

  Outcome cmakeDirectory() const {
    std::filesystem::create_directories(path("prefix/bin"));
    std::error_code error;
    std::filesystem::copy_file(STEPTAPE_TOOL, path("prefix/bin/steptape"), error);
    return run("prefix/bin/steptape --cmakedir");
  }
};

TEST_F(CmakeDirectory, IsThatOfTheInstallation) {
  const std::string directory = addPackage("lib/x86_64-linux-gnu");
  EXPECT_THAT(cmakeDirectory(), Prints(directory + "\n"));
}

TEST_F(CmakeDirectory, IsThatOfTheWheel) {
  addPackage("lib/python3.11/site-packages/steptape/cpp/lib", "9.9.9");
  const std::string directory = addPackage("lib/python3.12/site-packages/steptape/cpp/lib");
  EXPECT_THAT(cmakeDirectory(), Prints(directory + "\n"));
}

TEST_F(CmakeDirectory, IsNamedAsMissing) {
  addPackage("lib", "9.9.9");
  EXPECT_THAT(cmakeDirectory(),
              Exits(1, AllOf(HasSubstr("--cmakedir: got no package of Steptape " STEPTAPE_VERSION),
                             HasSubstr(path("prefix") + ";"))));
}

}  // namespace
}  // namespace steptape

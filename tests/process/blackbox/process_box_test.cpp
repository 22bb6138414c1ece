// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/process_box.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <linux/magic.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "support/content_of.h"
#include "support/own_black_boxes.h"

#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

constexpr std::size_t kPage = 4096;

class ProcessBoxTest : public ::testing::Test {
 protected:
  std::shared_ptr<ProcessBox> acquire() {
    Status why;
    std::shared_ptr<ProcessBox> box = ProcessBox::acquire(&why);
    EXPECT_TRUE(why.ok()) << why.message();
    return box;
  }

  /// Makes a box in a child that `body` ends; returns its name once the child has ended.
  template <typename Body>
  BoxName boxOfChild(const Body& body) {
    const pid_t child = fork();
    if (child == 0) {
      Status why;
      const std::shared_ptr<ProcessBox> box = ProcessBox::acquire(&why);
      body(*box);
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const std::vector<BoxName> boxes = listBoxes(boxes_.folder());
    EXPECT_EQ(boxes.size(), 1U);
    return boxes.empty() ? BoxName() : boxes.front();
  }

  test::OwnBlackBoxes boxes_;
};

TEST_F(ProcessBoxTest, LeavesNothingBehindWhenTheLastReferenceGoes) {
  std::shared_ptr<ProcessBox> first = acquire();
  std::shared_ptr<ProcessBox> second = acquire();
  EXPECT_EQ(first, second);
  first.reset();
  EXPECT_EQ(listBoxes(boxes_.folder()).size(), 1U);
  second.reset();
  EXPECT_TRUE(std::filesystem::is_empty(boxes_.folder()));
}

TEST_F(ProcessBoxTest, IsNotDeadWhileItsProcessLives) {
  const std::shared_ptr<ProcessBox> box = acquire();
  EXPECT_EQ(DeadBox().claim(box->name()), DeadBox::State::kLives);
  const pid_t child = fork();
  if (child == 0) {
    _exit(DeadBox().claim(box->name()) == DeadBox::State::kLives ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(ProcessBoxTest, IsDeadAfterAKillAlsoIfAChildOfTheDeadProcessLives) {
  int alive[2];
  ASSERT_EQ(pipe(alive), 0);
  const BoxName name = boxOfChild([&](const ProcessBox&) {
    if (fork() == 0) {
      char byte;
      close(alive[1]);
      static_cast<void>(!read(alive[0], &byte, 1));  // until the test closes its end
      _exit(0);
    }
  });
  DeadBox box;
  EXPECT_EQ(box.claim(name), DeadBox::State::kDead);
  EXPECT_EQ(BoxHeader::textOf(box.header().program),
            std::filesystem::read_symlink("/proc/self/exe").string());
  close(alive[1]);
  close(alive[0]);
}

TEST_F(ProcessBoxTest, CanBeClaimedByOneOnly) {
  const BoxName name = boxOfChild([](const ProcessBox&) {});
  DeadBox first;
  ASSERT_EQ(first.claim(name), DeadBox::State::kDead);
  EXPECT_EQ(DeadBox().claim(name), DeadBox::State::kLives);
  const pid_t child = fork();
  if (child == 0) {
    _exit(DeadBox().claim(name) == DeadBox::State::kLives ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  first.remove({});
  EXPECT_EQ(DeadBox().claim(name), DeadBox::State::kNothing);
}

TEST_F(ProcessBoxTest, OfAProcessThatDiedBeforeItWroteItsHeaderIsRemoved) {
  const BoxName name{boxes_.folder(), getuid(), 7};
  std::ofstream(name.pathOf("id")) << "stepbox";
  EXPECT_EQ(DeadBox().claim(name), DeadBox::State::kNothing);
  EXPECT_TRUE(std::filesystem::is_empty(boxes_.folder()));
}

TEST_F(ProcessBoxTest, IsNotMadeOnNetworkFileSystems) {
  EXPECT_STREQ(networkFileSystem(0x6969), "NFS");
  EXPECT_STREQ(networkFileSystem(0x0BD00BD0), "Lustre");
  EXPECT_STREQ(networkFileSystem(static_cast<std::uint64_t>(std::int32_t{-11317950})), "CIFS")
      << "where f_type has 32 bits and a sign";
  EXPECT_EQ(networkFileSystem(TMPFS_MAGIC), nullptr);
  EXPECT_EQ(networkFileSystem(OVERLAYFS_SUPER_MAGIC), nullptr) << "containers";
  EXPECT_NE(acquire(), nullptr);
}

TEST_F(ProcessBoxTest, OfAChildIsAnotherOne) {
  const std::shared_ptr<ProcessBox> box = acquire();
  const pid_t child = fork();
  if (child == 0) {
    Status why;
    const std::shared_ptr<ProcessBox> own = ProcessBox::acquire(&why);
    _exit(own != nullptr && own->name().number != box->name().number ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const std::vector<BoxName> boxes = listBoxes(boxes_.folder());
  ASSERT_EQ(boxes.size(), 2U) << "the child has removed its parent's box, or _exit() its own";
}

TEST_F(ProcessBoxTest, KeepsWhatAKilledProcessStored) {
  const BoxName name = boxOfChild([](const ProcessBox& box) {
    Status why;
    int error = 0;
    const auto file = box.addFile("words", &why);
    auto* const words = static_cast<char*>(file->map(kPage, kPage, &error));
    std::memcpy(words, "kept", 4);
    raise(SIGKILL);
  });
  std::string bytes;
  ASSERT_TRUE(readBoxFile(name, "words", 1 << 20, &bytes).ok());
  BoxHeader header;
  EXPECT_TRUE(decodeBoxHeader(bytes, "words", &header).ok());
  EXPECT_EQ(bytes.substr(kPage, 4), "kept");
}

TEST_F(ProcessBoxTest, DoesNotDieOfAFullFileSystemButSaysSo) {
  // Reserving more than any file system holds fails at once, where a sparse file would succeed.
  const std::shared_ptr<ProcessBox> box = acquire();
  Status why;
  const auto file = box->addFile("words", &why);
  ASSERT_NE(file, nullptr);
  int error = 0;
  EXPECT_EQ(file->map(kPage, std::size_t{1} << 46, &error), nullptr);
  EXPECT_NE(error, 0);
  file->remove();
}

TEST_F(ProcessBoxTest, MappingIsNotInherited) {
  const std::shared_ptr<ProcessBox> box = acquire();
  Status why;
  int error = 0;
  const auto file = box->addFile("words", &why);
  auto* const words = static_cast<char*>(file->map(kPage, kPage, &error));
  ASSERT_NE(words, nullptr);
  const pid_t child = fork();
  if (child == 0) {
    unsigned char resident = 0;
    _exit(mincore(words, kPage, &resident) == -1 && errno == ENOMEM ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  file->remove();
}

TEST_F(ProcessBoxTest, FileIsReadableByItsUserOnlyAndNeverReplaced) {
  const std::shared_ptr<ProcessBox> box = acquire();
  Status why;
  const auto file = box->addFile("words", &why);
  struct stat status {};
  ASSERT_EQ(stat(file->path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(box->addFile("words", &why), nullptr);
  EXPECT_EQ(why.message(), "black box: cannot create " + file->path() + ": File exists");
  file->remove();
}

TEST_F(ProcessBoxTest, FolderMayBeMissingOrOff) {
  Status why;
  setenv("STEPTAPE_BLACK_BOX", (boxes_.folder() + "/none").c_str(), 1);
  EXPECT_EQ(ProcessBox::acquire(&why), nullptr);
  EXPECT_FALSE(why.ok());
  EXPECT_TRUE(listBoxes(boxFolder()).empty());
  setenv("STEPTAPE_BLACK_BOX", "off", 1);
  EXPECT_EQ(ProcessBox::acquire(&why), nullptr);
  EXPECT_TRUE(listBoxes(boxFolder()).empty());
}

TEST_F(ProcessBoxTest, OtherFilesOfTheFolderAreNoBoxes) {
  const std::string prefix = boxes_.folder() + "/steptape-" + std::to_string(getuid()) + "-";
  for (const char* name : {"0123456789ABCDEF.id", "0123456789abcdef.log", "12.id", ".id",
                           "0123456789abcdeg.id", "-123456789abcdef.id"}) {
    std::ofstream(prefix + name) << "x";
  }
  std::ofstream(boxes_.folder() + "/steptape-99999-0123456789abcdef.id") << "x";
  EXPECT_TRUE(listBoxes(boxes_.folder()).empty());
  std::ofstream(prefix + "0123456789abcdef.id") << "x";
  ASSERT_EQ(listBoxes(boxes_.folder()).size(), 1U);
  EXPECT_EQ(DeadBox().claim(listBoxes(boxes_.folder()).front()), DeadBox::State::kNothing);
}

TEST(BoxHeaderTest, OfThisProcessIsKnownToLiveAndADeadOneIsNot) {
  BoxHeader header = headerOfThisProcess();
  EXPECT_TRUE(isOfThisBoot(header));
  EXPECT_TRUE(isKnownToLive(header));
  --header.processStart;  // an earlier process of the same number
  EXPECT_FALSE(isKnownToLive(header));
  ++header.processStart;
  header.boot[0] = header.boot[0] == 'a' ? 'b' : 'a';
  EXPECT_FALSE(isOfThisBoot(header));
  EXPECT_FALSE(isKnownToLive(header));
}

TEST(BoxHeaderTest, AnyDamagedByteIsFound) {
  const std::string bytes = encodeBoxHeader(headerOfThisProcess(), "id");
  BoxHeader header;
  ASSERT_TRUE(decodeBoxHeader(bytes, "id", &header).ok());
  for (std::size_t i = 0; i < offsetof(BoxHeader, reserved); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(decodeBoxHeader(damaged, "id", &header).ok()) << "byte " << i;
  }
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    EXPECT_FALSE(decodeBoxHeader(bytes.substr(0, size), "id", &header).ok()) << size;
  }
  EXPECT_EQ(decodeBoxHeader(bytes, "log", &header).message(),
            "black box: got the part \"id\"; expected \"log\"");
}

}  // namespace
}  // namespace steptape::detail::process

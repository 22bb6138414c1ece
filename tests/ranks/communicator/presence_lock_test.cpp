// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/presence_lock.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

// tests/ranks/mpi kills ranks that wait for each other.
namespace steptape::detail::ranks {
namespace {

class Presence : public ::testing::Test {
 protected:
  Presence() {
    const int file = shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    EXPECT_GE(file, 0);
    EXPECT_EQ(ftruncate(file, 4096), 0);
    close(file);
  }
  ~Presence() override { shm_unlink(name_.c_str()); }

  const std::string name_ = "/steptape-presence-test-" + std::to_string(getpid());
};

TEST_F(Presence, OfRanksThatAreThreadsOfOneProcessIsToldApart) {
  PresenceLock first;
  ASSERT_EQ(first.take(name_, 0), 0);
  EXPECT_FALSE(first.isHeldBy(1));
  {
    PresenceLock second;
    ASSERT_EQ(second.take(name_, 1), 0);
    EXPECT_TRUE(first.isHeldBy(1));
    EXPECT_TRUE(second.isHeldBy(0));
  }
  EXPECT_FALSE(first.isHeldBy(1));
}

TEST_F(Presence, OfAKilledRankEndsAlthoughItsForkedChildLives) {
  PresenceLock own;
  ASSERT_EQ(own.take(name_, 0), 0);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t rank = fork();
  if (rank == 0) {
    PresenceLock lock;
    lock.take(name_, 1);
    const int file = shm_open(name_.c_str(), O_RDWR, 0);
    if (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED) {
      _exit(1);
    }
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);  // if the test ends early
      while (true) {
        pause();
      }
    }
    static_cast<void>(!write(pipe[1], &child, sizeof child));
    pause();
  }
  pid_t child = -1;
  ASSERT_EQ(read(pipe[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_TRUE(own.isHeldBy(1));
  kill(rank, SIGKILL);
  waitpid(rank, nullptr, 0);
  // The child may have to run first, to leave the lock.
  for (int i = 0; i < 60000 && own.isHeldBy(1); ++i) {
    usleep(1000);
  }
  EXPECT_FALSE(own.isHeldBy(1));
  EXPECT_EQ(kill(child, 0), 0);
  kill(child, SIGKILL);
  close(pipe[0]);
  close(pipe[1]);
}

TEST_F(Presence, OfEveryRankIsAssumedInAForkedChild) {
  PresenceLock lock;
  ASSERT_EQ(lock.take(name_, 0), 0);
  const pid_t child = fork();
  if (child == 0) {
    _exit(lock.isHeldBy(1) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(lock.isHeldBy(1));
}

TEST(PresenceLock, SaysWhyItCannotBeTaken) {
  PresenceLock lock;
  EXPECT_EQ(lock.take("/steptape-no-such-object", 0), ENOENT);
  EXPECT_TRUE(lock.isHeldBy(0));
}

}  // namespace
}  // namespace steptape::detail::ranks

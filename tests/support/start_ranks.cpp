// SPDX-License-Identifier: Apache-2.0
// Starts N ranks of a program on this machine, as torchrun does:
//
//   start_ranks [--ranks-per-node K] N PROGRAM [ARGUMENT]…
//
// Each K ranks in turn share memory with each other only, as on a node of their own. Ends with 0 if
// all ranks do, and else with the exit code of the first that failed: 77 if this process may not
// mount a /dev/shm for each node. Unlike torchrun, it leaves the other ranks to themselves.

#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "support/own_mounts.h"

namespace {

int freePort() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    std::perror("start_ranks: no free port");
    std::exit(1);
  }
  close(listener);
  return ntohs(address.sin_port);
}

void setIfUnset(const char* name, const std::string& value) {
  setenv(name, value.c_str(), /*overwrite=*/0);
}

/// Forks; the child does not outlive this process.
pid_t forkChild() {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  return child;
}

/// Waits for all children.
/// @return the exit code of the first that failed, or 0.
int waitForAll() {
  int result = 0;
  int status = 0;
  while (wait(&status) > 0) {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result = result == 0 ? code : result;
  }
  return result;
}

void startRanks(int first, int end, char** program) {
  for (int rank = first; rank < end; ++rank) {
    if (forkChild() == 0) {
      setenv("RANK", std::to_string(rank).c_str(), 1);
      setenv("LOCAL_RANK", std::to_string(rank - first).c_str(), 1);
      execv(program[0], program);
      std::perror(program[0]);
      _exit(127);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int ranksPerNode = 0;
  if (argc > 2 && std::string(argv[1]) == "--ranks-per-node") {
    ranksPerNode = std::atoi(argv[2]);
    argc -= 2;
    argv += 2;
  }
  const int ranks = argc > 2 ? std::atoi(argv[1]) : 0;
  if (ranks < 1 || ranksPerNode < 0) {
    std::fprintf(stderr, "usage: start_ranks [--ranks-per-node K] N PROGRAM [ARGUMENT]...\n");
    return 2;
  }
  setIfUnset("MASTER_ADDR", "localhost");
  setIfUnset("MASTER_PORT", std::to_string(freePort()));
  setIfUnset("WORLD_SIZE", std::to_string(ranks));
  if (ranksPerNode == 0) {
    startRanks(0, ranks, argv + 2);
    return waitForAll();
  }
  for (int first = 0; first < ranks; first += ranksPerNode) {
    if (forkChild() == 0) {
      if (!steptape::test::takeOwnMounts() || !steptape::test::mountTmpfs("/dev/shm", "")) {
        std::fprintf(stderr, "start_ranks: not allowed to mount a /dev/shm for each node\n");
        _exit(77);
      }
      startRanks(first, std::min(first + ranksPerNode, ranks), argv + 2);
      _exit(waitForAll());
    }
  }
  return waitForAll();
}

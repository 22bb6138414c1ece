// SPDX-License-Identifier: Apache-2.0
// Starts N ranks of a program on this machine, as torchrun does: start_ranks N PROGRAM [ARGUMENT]…
// Ends with 0 if all ranks do, and else with the exit code of the first that failed. Unlike
// torchrun, it leaves the other ranks to themselves.

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

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc > 2 ? std::atoi(argv[1]) : 0;
  if (ranks < 1) {
    std::fprintf(stderr, "usage: start_ranks N PROGRAM [ARGUMENT]...\n");
    return 2;
  }
  setIfUnset("MASTER_ADDR", "localhost");
  setIfUnset("MASTER_PORT", std::to_string(freePort()));
  setenv("WORLD_SIZE", std::to_string(ranks).c_str(), 1);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      setenv("RANK", std::to_string(rank).c_str(), 1);
      setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
      execv(argv[2], argv + 2);
      std::perror(argv[2]);
      _exit(127);
    }
    children.push_back(child);
  }
  int result = 0;
  for (std::size_t left = children.size(); left > 0; --left) {
    int status = 0;
    if (wait(&status) < 0) {
      break;
    }
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result = result == 0 ? code : result;
  }
  return result;
}

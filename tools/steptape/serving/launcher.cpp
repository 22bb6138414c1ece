// SPDX-License-Identifier: Apache-2.0
// The program steptape-data-server: TensorBoard takes a program without arguments as its data
// server, and a wheel holds no links. Becomes the `steptape` beside it, which sees the name.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <sys/auxv.h>
#include <unistd.h>

int main(int argc, char** argv) {
  constexpr char kProgram[] = "/steptape";
  constexpr std::size_t kMost = 4096;
  char path[kMost + sizeof kProgram];
  ssize_t size = readlink("/proc/self/exe", path, kMost);
  if (size < 0) {
    // A system without /proc. The kernel also says by which path it has started this program.
    const char* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    size = static_cast<ssize_t>(started == nullptr ? 0 : strnlen(started, kMost));
    std::memcpy(path, started, static_cast<std::size_t>(size));
  }
  path[size] = '\0';
  char* const end = std::strrchr(path, '/');
  if (argc > 0 && end != nullptr) {
    std::memcpy(end, kProgram, sizeof kProgram);
    char name[] = "steptape-data-server";
    argv[0] = name;
    execv(path, argv);
  }
  std::perror("steptape-data-server: cannot start the program steptape beside it");
  return 1;
}

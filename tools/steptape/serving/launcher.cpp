// SPDX-License-Identifier: Apache-2.0
// The program steptape-data-server: TensorBoard takes a program without arguments as its data
// server, and a wheel holds no links. Becomes the `steptape` beside it, which sees the name.
#include <cstdio>
#include <cstring>
#include <unistd.h>

int main(int argc, char** argv) {
  constexpr char kProgram[] = "/steptape";
  char path[4096 + sizeof kProgram];
  const ssize_t size = readlink("/proc/self/exe", path, 4096);
  path[size < 0 ? 0 : size] = '\0';
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

// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on every file of the given folders, its corpus, in the ordinary tests.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      paths.push_back(entry.path());
    }
  }
  if (paths.empty()) {
    std::fprintf(stderr, "usage: %s FOLDER...; found no file to replay\n", argv[0]);
    return 2;
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    std::printf("%s: %zu bytes\n", path.filename().c_str(), bytes.size());
    std::fflush(stdout);  // the last line names a case that ends the process
    // A copy of exactly this size: the address sanitizer detects every read after its end.
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  }
  std::printf("%zu cases\n", paths.size());
  return 0;
}

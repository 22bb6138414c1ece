// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors file, and any text as the header of one.
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "steptape/base/status.h"
#include "steptape/train/safetensors.h"

#include "base/little_endian.h"
#include "base/utf8.h"
#include "fuzz/fuzz_input.h"

namespace steptape {
namespace {

/// A file in memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : descriptor_(::memfd_create("fuzz", 0)) {
    require(::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "memory holds a file");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

std::string takeFile(FuzzInput* input) {
  if (input->below(2) == 0) {
    return input->rest();
  }
  const std::string data(input->byte(), 'x');
  const std::string header = input->rest();
  std::string length(8, '\0');
  detail::base::storeLittleEndian64(length.data(), header.size());
  return length + header + data;
}

void checkEntries(const SafetensorsFile& file, const std::string& bytes) {
  std::set<std::string> names;
  std::uint64_t end = 8 + detail::base::loadLittleEndian64(bytes.data());
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    require(detail::base::isValidUtf8(entry.name), "names are UTF-8");
    require(names.insert(entry.name).second, "no name occurs twice");
    require(entry.offset == end, "a tensor begins where the previous one ends");
    end += entry.bytes;
    require(end <= bytes.size(), "a tensor lies in the file");
    std::uint64_t elements = 1;
    for (const std::int64_t dimension : entry.shape) {
      require(dimension >= 0, "no dimension is negative");
      elements *= static_cast<std::uint64_t>(dimension);
    }
    require(elements <= 2 * entry.bytes, "the elements lie in the bytes");
    std::string data(entry.bytes, '\0');
    file.read(entry, data.data());
    require(bytes.compare(entry.offset, entry.bytes, data) == 0, "the elements are those on disk");
  }
  require(end == bytes.size(), "the tensors cover the file");
}

void readFile(FuzzInput* input) {
  const std::string bytes = takeFile(input);
  const MemoryFile memory(bytes);
  try {
    const SafetensorsFile file(memory.path());
    checkEntries(file, bytes);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kDataLoss, "damage is called damage");
  }
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  steptape::readFile(&input);
  return 0;
}

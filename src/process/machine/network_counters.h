// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptape::detail::process {

/// The bytes that the node received and sent over its network interfaces.
class NetworkCounters {
 public:
  struct Bytes {
    std::optional<std::uint64_t> received;
    std::optional<std::uint64_t> sent;
  };

  NetworkCounters(const std::string& procDirectory, const std::string& sysDirectory)
      : file_(procDirectory + "/self/net/dev"), interfaces_(sysDirectory + "/class/net/") {}

  Bytes read();

 private:
  struct Interface {
    std::string name;
    std::uint64_t received;
    std::uint64_t sent;
  };

  static std::optional<Interface> parse(std::string_view line);
  bool isPhysical(const std::string& name);

  std::string file_;
  std::string interfaces_;
  std::map<std::string, bool> isPhysical_;  // by name
};

}  // namespace steptape::detail::process

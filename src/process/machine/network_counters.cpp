// SPDX-License-Identifier: Apache-2.0
#include "process/machine/network_counters.h"

#include <algorithm>
#include <unistd.h>

#include "base/number_text.h"
#include "process/machine/system_file.h"

namespace steptape::detail::process {

NetworkCounters::Bytes NetworkCounters::read() {
  const std::string text = systemFile(file_);
  std::vector<Interface> interfaces;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (std::optional<Interface> interface = parse(rest.substr(0, end));
        interface && interface->name != "lo") {
      interfaces.push_back(*std::move(interface));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const bool hasPhysical =
      std::any_of(interfaces.begin(), interfaces.end(),
                  [this](const Interface& interface) { return isPhysical(interface.name); });
  Bytes sum;
  for (const Interface& interface : interfaces) {
    if (!hasPhysical || isPhysical(interface.name)) {
      sum.received = sum.received.value_or(0) + interface.received;
      sum.sent = sum.sent.value_or(0) + interface.sent;
    }
  }
  return sum;
}

std::optional<NetworkCounters::Interface> NetworkCounters::parse(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;  // a heading
  }
  const std::string_view name = line.substr(0, colon);
  line.remove_prefix(colon + 1);
  // Eight columns of received data, then those of sent data; the first of each is bytes.
  constexpr int kColumnsReceived = 8;
  const std::optional<std::uint64_t> received = base::takeNumber(&line);
  std::optional<std::uint64_t> sent = received;
  for (int column = 0; column < kColumnsReceived && sent; ++column) {
    sent = base::takeNumber(&line);
  }
  if (!sent) {
    return std::nullopt;
  }
  return Interface{std::string(name.substr(std::min(name.find_first_not_of(' '), name.size()))),
                   *received, *sent};
}

bool NetworkCounters::isPhysical(const std::string& name) {
  const auto known = isPhysical_.find(name);
  if (known != isPhysical_.end()) {
    return known->second;
  }
  const bool has = ::access((interfaces_ + name + "/device").c_str(), F_OK) == 0;
  return isPhysical_.emplace(name, has).first->second;
}

}  // namespace steptape::detail::process

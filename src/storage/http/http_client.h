// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::detail::storage {

struct HttpRequest {
  std::string method = "GET";
  std::string url;                   ///< http or https; its path is sent as it is.
  std::vector<std::string> headers;  ///< "Name: value".
  std::string_view body;             ///< Sent with PUT and POST.
  /// Sent instead of `body` if not empty: reads up to `most` bytes at `offset` into `out`; 0 ends
  /// the transfer early, as a failure. `sourceBytes` in all; again from the start where a
  /// connection that was kept open turns out to be closed.
  std::function<std::size_t(std::uint64_t offset, char* out, std::size_t most)> source;
  std::uint64_t sourceBytes = 0;
  /// Gets the body of an answer with a status below 300, in pieces; false ends the transfer. Empty:
  /// the body is collected in HttpResponse::body, as those of other answers are.
  std::function<bool(std::string_view piece)> sink;
  bool usesProxy = true;  ///< False for servers of the machine itself.
  std::chrono::milliseconds connectTimeout{10'000};
  /// A transfer that moves less than 1 KiB in so long is given up, up to a second later.
  std::chrono::milliseconds stallTimeout{30'000};
};

struct STEPTAPE_EXPORT HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< By names in lower case.
  std::string body;                            ///< At most 16 MiB.

  /// Returns a header; empty if there is none.
  std::string header(const std::string& lowerCaseName) const;
};

/// Requests of HTTP by libcurl, which is loaded at run time: programs start without it, and nothing
/// is linked. A client keeps its connections open between requests.
///
/// @threads Not thread-safe: one thread at a time.
/// @source  curl's ABI: a function and an option keep their meaning as long as the library is
///          libcurl.so.4.
class STEPTAPE_EXPORT HttpClient {
 public:
  struct Options {
    std::string certificates;  ///< A file of trusted certificates; empty: those of the system.
    /// Is asked about once a second. If it returns true, a transfer ends. May be empty.
    std::function<bool()> stop;
  };

  /// Loads libcurl.
  ///
  /// @return kFailedPrecondition with what to install. The variable STEPTAPE_LIBCURL names another
  ///         file than the system's, such as that of a conda environment.
  static Status load();

  explicit HttpClient(Options options);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  /// Sends a request and waits for the answer, whatever its status.
  ///
  /// @return kIoError if there is no whole answer: no connection, a transfer that stalled or was
  ///         stopped. kFailedPrecondition as load(), and for a URL that is none or a certificate
  ///         that is not trusted.
  Status send(const HttpRequest& request, HttpResponse* response);

 private:
  struct Transfer;
  struct Library;
  static const Library& library();

  const Options options_;
  void* handle_ = nullptr;  // of libcurl
};

}  // namespace steptape::detail::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/http/http_client.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <utility>

#include "base/got_expected.h"
#include "base/sigpipe_blocked.h"
#include "base/text.h"

namespace steptape::detail::storage {
namespace {

// Numbers of curl's ABI.
enum CurlOption : int {
  kWriteData = 10001,
  kUrl = 10002,
  kReadData = 10009,
  kErrorBuffer = 10010,
  kHttpHeader = 10023,
  kHeaderData = 10029,
  kCustomRequest = 10036,
  kProgressData = 10057,
  kCaInfo = 10065,
  kSeekData = 10168,
  kNoProxy = 10177,
  kWriteFunction = 20011,
  kReadFunction = 20012,
  kHeaderFunction = 20079,
  kSeekFunction = 20167,
  kProgressFunction = 20219,
  kUploadBytes = 30115,
  kNoProgress = 43,
  kNoBody = 44,
  kUpload = 46,
  kHttpVersion = 84,
  kNoSignal = 99,
  kConnectTimeoutMs = 156,
  kProtocols = 181,
  kPathAsIs = 234,
};
constexpr int kResponseCode = 0x200002;
constexpr long kGlobalDefault = 3;
constexpr long kHttpAndHttps = 3;
constexpr long kHttp11 = 2;
constexpr int kCurlOk = 0;
// A protocol or URL that is none, and certificates: their file, or that of the server.
constexpr std::array<int, 6> kHopelessErrors{1, 3, 51, 58, 60, 77};
constexpr int kSeekOk = 0;
constexpr int kSeekFailed = 1;
constexpr std::size_t kAbortRead = 0x10000000;
constexpr std::size_t kErrorBytes = 256;
constexpr std::int64_t kLeastMove = 1024;
constexpr std::size_t kMostBodyBytes = std::size_t{16} << 20;

}  // namespace

std::string HttpResponse::header(const std::string& lowerCaseName) const {
  const auto found = headers.find(lowerCaseName);
  return found == headers.end() ? std::string() : found->second;
}

/// libcurl's functions.
struct HttpClient::Library {
  Status status;
  int (*globalInit)(long) = nullptr;
  void* (*init)() = nullptr;
  void (*cleanup)(void*) = nullptr;
  void (*reset)(void*) = nullptr;
  int (*setOption)(void*, int, ...) = nullptr;
  int (*getInfo)(void*, int, ...) = nullptr;
  int (*perform)(void*) = nullptr;
  const char* (*errorText)(int) = nullptr;
  void* (*append)(void*, const char*) = nullptr;
  void (*freeList)(void*) = nullptr;

  Library() {
    const char* const given = std::getenv("STEPTAPE_LIBCURL");
    const std::vector<std::string> names =
        given != nullptr && *given != '\0'
            ? std::vector<std::string>{given}
            : std::vector<std::string>{"libcurl.so.4", "libcurl-gnutls.so.4"};
    void* handle = nullptr;
    for (const std::string& name : names) {
      // Its own symbols first: a program may contain another one.
      handle = handle != nullptr ? handle : dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (handle == nullptr) {
      const char* const reason = dlerror();
      status = {ErrorCode::kFailedPrecondition,
                "cannot load libcurl: " + std::string(reason != nullptr ? reason : names.front()) +
                    "; install it (Debian and Ubuntu: apt install libcurl4), or name its file in "
                    "STEPTAPE_LIBCURL"};
    } else if (!loadFrom(handle) || globalInit(kGlobalDefault) != kCurlOk) {
      status = {ErrorCode::kFailedPrecondition,
                base::gotExpected("a libcurl without all functions", "7.32 or later")};
    }
  }

 private:
  bool loadFrom(void* handle) {
    return get(handle, "curl_global_init", &globalInit) && get(handle, "curl_easy_init", &init) &&
           get(handle, "curl_easy_cleanup", &cleanup) && get(handle, "curl_easy_reset", &reset) &&
           get(handle, "curl_easy_setopt", &setOption) &&
           get(handle, "curl_easy_getinfo", &getInfo) &&
           get(handle, "curl_easy_perform", &perform) &&
           get(handle, "curl_easy_strerror", &errorText) &&
           get(handle, "curl_slist_append", &append) &&
           get(handle, "curl_slist_free_all", &freeList);
  }

  template <typename Function>
  static bool get(void* handle, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(handle, name));
    return *function != nullptr;
  }
};

const HttpClient::Library& HttpClient::library() {
  static const Library kLoaded;
  return kLoaded;
}

Status HttpClient::load() {
  return library().status;
}

/// One request while libcurl works on it. No exception may pass libcurl: out of memory ends the
/// transfer.
struct HttpClient::Transfer {
  const Library& curl;
  void* handle;
  const HttpRequest& request;
  HttpResponse* response;
  const std::function<bool()>& stop;
  std::uint64_t sent = 0;
  std::int64_t moved = 0;  // bytes in both directions at `lastMove`
  std::chrono::steady_clock::time_point lastMove = std::chrono::steady_clock::now();
  const char* endedBy = "";
  void* headers = nullptr;
  std::array<char, kErrorBytes> error{};

  ~Transfer() { curl.freeList(headers); }

  std::uint64_t bytesToSend() const {
    return request.source ? request.sourceBytes : request.body.size();
  }

  static std::size_t read(char* out, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto most = static_cast<std::size_t>(
        std::min<std::uint64_t>(size * count, transfer.bytesToSend() - transfer.sent));
    std::size_t bytes = most;
    if (most > 0 && transfer.request.source) {
      try {
        bytes = transfer.request.source(transfer.sent, out, most);
      } catch (const std::bad_alloc&) {
        bytes = 0;
      }
    } else if (most > 0) {
      std::memcpy(out, transfer.request.body.data() + transfer.sent, most);
    }
    transfer.sent += bytes;
    return bytes > 0 || most == 0 ? bytes : kAbortRead;
  }

  static int seek(void* self, std::int64_t offset, int origin) {
    auto& transfer = *static_cast<Transfer*>(self);
    if (origin != SEEK_SET || offset < 0 ||
        static_cast<std::uint64_t>(offset) > transfer.bytesToSend()) {
      return kSeekFailed;
    }
    transfer.sent = static_cast<std::uint64_t>(offset);
    return kSeekOk;
  }

  static std::size_t write(const char* in, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view piece(in, size * count);
    bool isTaken = false;
    try {
      if (transfer.request.sink && transfer.status() < 300) {
        isTaken = transfer.request.sink(piece);
      } else if (transfer.response->body.size() + piece.size() <= kMostBodyBytes) {
        transfer.response->body += piece;
        isTaken = true;
      }
    } catch (const std::bad_alloc&) {
      // It cannot be kept.
    }
    transfer.endedBy = isTaken ? "" : "the answer was given up: ";
    return isTaken ? piece.size() : 0;
  }

  static std::size_t noteHeader(const char* in, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view line(in, size * count);
    try {
      if (base::startsWith(line, "HTTP/")) {
        transfer.response->headers.clear();  // of an interim answer, or of a proxy
      }
      const std::size_t colon = line.find(':');
      if (colon != std::string_view::npos) {
        std::string name(line.substr(0, colon));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        transfer.response->headers[name] = base::trimmed(line.substr(colon + 1));
      }
    } catch (const std::bad_alloc&) {
      return 0;
    }
    return line.size();
  }

  /// @return whether the transfer ends.
  static int progress(void* self, std::int64_t, std::int64_t received, std::int64_t,
                      std::int64_t sent) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (received + sent - transfer.moved >= kLeastMove) {
      transfer.moved = received + sent;
      transfer.lastMove = now;
    }
    if (transfer.stop && transfer.stop()) {
      transfer.endedBy = "the transfer was stopped: ";
      return 1;
    }
    if (now - transfer.lastMove >= transfer.request.stallTimeout) {
      transfer.endedBy = "the connection hangs: ";
      return 1;
    }
    return 0;
  }

  int status() const {
    long code = 0;
    curl.getInfo(handle, kResponseCode, &code);
    return static_cast<int>(code);
  }

  void prepare(const std::string& certificates) {
    curl.setOption(handle, kUrl, request.url.c_str());
    curl.setOption(handle, kCustomRequest, request.method.c_str());
    curl.setOption(handle, kErrorBuffer, error.data());
    curl.setOption(handle, kNoSignal, 1L);
    curl.setOption(handle, kPathAsIs, 1L);
    curl.setOption(handle, kProtocols, kHttpAndHttps);
    curl.setOption(handle, kHttpVersion, kHttp11);
    curl.setOption(handle, kConnectTimeoutMs, static_cast<long>(request.connectTimeout.count()));
    curl.setOption(handle, kNoProgress, 0L);
    curl.setOption(handle, kProgressFunction, &progress);
    curl.setOption(handle, kProgressData, this);
    curl.setOption(handle, kWriteFunction, &write);
    curl.setOption(handle, kWriteData, this);
    curl.setOption(handle, kHeaderFunction, &noteHeader);
    curl.setOption(handle, kHeaderData, this);
    if (!request.usesProxy) {
      curl.setOption(handle, kNoProxy, "*");
    }
    if (!certificates.empty()) {
      curl.setOption(handle, kCaInfo, certificates.c_str());
    }
    if (request.method == "HEAD") {
      curl.setOption(handle, kNoBody, 1L);
    } else if (request.method != "GET" && request.method != "DELETE") {
      curl.setOption(handle, kUpload, 1L);
      curl.setOption(handle, kUploadBytes, static_cast<std::int64_t>(bytesToSend()));
      curl.setOption(handle, kReadFunction, &read);
      curl.setOption(handle, kReadData, this);
      curl.setOption(handle, kSeekFunction, &seek);
      curl.setOption(handle, kSeekData, this);
      addHeader("Expect:");  // its answer would be waited for
    }
    for (const std::string& header : request.headers) {
      addHeader(header.c_str());
    }
    curl.setOption(handle, kHttpHeader, headers);
  }

 private:
  void addHeader(const char* header) {
    void* const longer = curl.append(headers, header);
    if (longer == nullptr) {
      throw std::bad_alloc();
    }
    headers = longer;
  }
};

HttpClient::HttpClient(Options options) : options_(std::move(options)) {}

HttpClient::~HttpClient() {
  if (handle_ != nullptr) {
    library().cleanup(handle_);
  }
}

Status HttpClient::send(const HttpRequest& request, HttpResponse* response) {
  const Library& curl = library();
  if (!curl.status.ok()) {
    return curl.status;
  }
  if (handle_ == nullptr) {
    handle_ = curl.init();
    if (handle_ == nullptr) {
      throw std::bad_alloc();
    }
  }
  curl.reset(handle_);  // keeps the connections
  *response = HttpResponse();
  Transfer transfer{curl, handle_, request, response, options_.stop};
  transfer.prepare(options_.certificates);
  const base::SigpipeBlocked blocked;  // the server may close the connection
  const int result = curl.perform(handle_);
  response->status = transfer.status();
  if (result == kCurlOk) {
    return {};
  }
  const char* const reason =
      transfer.error[0] != '\0' ? transfer.error.data() : curl.errorText(result);
  const bool isHopeless =
      std::find(kHopelessErrors.begin(), kHopelessErrors.end(), result) != kHopelessErrors.end();
  return {isHopeless ? ErrorCode::kFailedPrecondition : ErrorCode::kIoError,
          std::string(transfer.endedBy) + reason};
}

}  // namespace steptape::detail::storage

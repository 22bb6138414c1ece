// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "base/mutex.h"

namespace steptape::test {

struct LoopbackRequest {
  std::string method;
  std::string target;                          ///< Path and query, as the client sent them.
  std::map<std::string, std::string> headers;  ///< By names in lower case.
  std::string body;                            ///< Empty before it is read.

  /// Returns a header; empty if there is none.
  std::string header(const std::string& lowerCaseName) const;
  /// Returns the target without its query.
  std::string path() const { return target.substr(0, target.find('?')); }
};

/// What a connection does after an answer, or instead of reading a body.
enum class LoopbackEnding {
  kGoOn,   ///< Reads the body, or the next request.
  kHang,   ///< Neither reads nor writes until the client closes the connection, or the server ends.
  kClose,  ///< Closes the connection.
};

struct LoopbackAnswer {
  int status = 200;
  std::string body;
  std::vector<std::string> headers;  ///< "Name: value". Content-Length is that of `body`.

  /// Sends so many bytes of the answer's body, and then `ending` happens. 0: the head alone.
  std::size_t sentBytes = std::numeric_limits<std::size_t>::max();
  bool sendsHead = true;  ///< If false, `ending` happens without any answer.
  LoopbackEnding ending = LoopbackEnding::kGoOn;
  /// If not 0, the body is sent byte by byte, with such a pause before each.
  std::chrono::milliseconds pause{0};

  /// Returns an answer that never comes.
  static LoopbackAnswer hang();
  /// Returns the end of the connection without an answer.
  static LoopbackAnswer close();
};

/// An HTTP/1.1 server at 127.0.0.1 that answers as a test says, also badly.
///
/// @threads Thread-safe. Each connection has its own thread; the functions of the test are called
///          on it, one at a time.
class LoopbackServer {
 public:
  using Handler = std::function<LoopbackAnswer(const LoopbackRequest&)>;
  /// Is asked before a request's body is read.
  using BodyRule = std::function<LoopbackEnding(const LoopbackRequest&)>;

  explicit LoopbackServer(Handler handler, BodyRule bodyRule = {});
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  /// Closes all connections, also those that hang.
  ~LoopbackServer();

  int port() const { return port_; }
  /// Returns "http://127.0.0.1:<port>".
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  /// Runs a function while none of the test's runs, which may use the same variables.
  void change(const std::function<void()>& function);

  /// Returns the requests so far, in the order in which their bodies were read or given up.
  std::vector<LoopbackRequest> requests() const;
  /// Waits until `count` requests have come; fails the test after a minute.
  void waitForRequests(std::size_t count) const;
  /// Returns how many connections clients have opened.
  std::size_t connections() const;

 private:
  struct Connection {
    detail::base::FileDescriptor socket;
    std::thread thread;
  };

  void acceptAll();
  void serve(int socket);
  bool serveNext(int socket, std::string* received);
  void note(const LoopbackRequest& request);

  const Handler handler_;
  const BodyRule bodyRule_;
  int port_ = 0;
  detail::base::FileDescriptor listener_;
  mutable detail::base::Mutex handling_;  // held while the test's functions run
  mutable detail::base::Mutex mutex_;
  mutable detail::base::CondVar changed_;
  std::vector<LoopbackRequest> requests_ STEPTAPE_GUARDED_BY(mutex_);
  std::list<Connection> connections_ STEPTAPE_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace steptape::test

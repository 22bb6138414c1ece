// SPDX-License-Identifier: Apache-2.0
#include "server/http2/http2_session.h"

#include <algorithm>
#include <new>
#include <nghttp2/nghttp2.h>
#include <unordered_map>
#include <utility>

#include "server/http2/frame_budget.h"

namespace steptape::detail::server {
namespace {

/// Of a body in one frame, if the client takes such frames: fewer calls for a large answer.
constexpr std::size_t kMaxFrameBytes = 64 << 10;
/// What a client may send ahead, of one request and of all.
constexpr std::int32_t kReceiveWindow = 4 << 20;
/// Bytes in a row of which nghttp2 reports no frame: those of unknown types, and header blocks that
/// go on after they were found too large.
constexpr std::size_t kMaxIgnoredBytes = 256 << 10;

/// The calls to which it is applied fail only if memory runs out.
void checkMemory(int result) {
  if (result != 0) {
    throw std::bad_alloc();
  }
}

/// Calls `function` for nghttp2, whose C code no exception may pass.
template <typename Function>
auto withoutException(Function function) noexcept -> decltype(function()) {
  try {
    return function();
  } catch (...) {
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
}

/// Fields as nghttp2 takes them; refers to `fields`.
std::vector<nghttp2_nv> nghttp2Fields(const Http2Fields& fields) {
  std::vector<nghttp2_nv> converted;
  converted.reserve(fields.size());
  for (const Http2Field& field : fields) {
    // It only reads them.
    const auto bytes = [](const std::string& text) {
      return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    converted.push_back({bytes(field.name), bytes(field.value), field.name.size(),
                         field.value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  return converted;
}

bool costsBudget(const nghttp2_frame_hd& frame) {
  switch (frame.type) {
    case NGHTTP2_DATA:
      return frame.length == 0 && (frame.flags & NGHTTP2_FLAG_END_STREAM) == 0;
    case NGHTTP2_HEADERS:
    case NGHTTP2_WINDOW_UPDATE:
      // A client that reads sends many of the latter, and each one is forgotten at once.
      return false;
    default:
      return true;
  }
}

}  // namespace

struct Http2Session::State {
  State(std::uint64_t connectionNumber, Http2Handler* requestHandler, Http2BodyMemory* bodyMemory)
      : connection(connectionNumber), handler(requestHandler), memory(bodyMemory) {}

  /// One request and its answer.
  struct Stream {
    Http2Request request;
    std::size_t headerBytes = 0;
    std::size_t bodyBytes = 0;                ///< Counted in Http2BodyMemory.
    std::unique_ptr<Http2Exchange> exchange;  ///< Null until the request is complete.
    bool hasHead = false;                     ///< Given to nghttp2.
  };
  struct DeleteSession {
    void operator()(nghttp2_session* ended) const { nghttp2_session_del(ended); }
  };

  static State& of(void* user) { return *static_cast<State*>(user); }
  Stream* find(std::int32_t id) {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : &found->second;
  }

  int begin(const nghttp2_frame& frame);
  int beginFrame(const nghttp2_frame_hd& frame);
  int field(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  int body(std::int32_t id, std::string_view bytes);
  int endFrame(const nghttp2_frame& frame);
  int close(std::int32_t id);
  int sent(const nghttp2_frame& frame);
  void startAnswer(std::int32_t id, Stream* stream);
  void tryHead(std::int32_t id, Stream* stream);
  ssize_t read(std::int32_t id, char* out, std::size_t size, std::uint32_t* flags);

  const std::uint64_t connection;
  Http2Handler* const handler;
  Http2BodyMemory* const memory;
  std::unordered_map<std::int32_t, Stream> streams;
  std::size_t answers = 0;
  std::size_t ignoredBytes = 0;
  bool sawFrame = false;  ///< Since the last bytes came.
  FrameBudget budget;
  bool isEstablished = false;
  /// Last: its destructor uses nothing of the above.
  std::unique_ptr<nghttp2_session, DeleteSession> session;
};

int Http2Session::State::beginFrame(const nghttp2_frame_hd& frame) {
  sawFrame = true;
  return costsBudget(frame) && !budget.take() ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

int Http2Session::State::begin(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
    streams[frame.hd.stream_id];
  }
  return 0;
}

int Http2Session::State::field(const nghttp2_frame& frame, std::string_view name,
                               std::string_view value) {
  Stream* const stream = find(frame.hd.stream_id);
  if (stream == nullptr) {
    return 0;
  }
  constexpr std::size_t kOverhead = 32;  // RFC 9113, 6.5.2
  stream->headerBytes += name.size() + value.size() + kOverhead;
  if (stream->headerBytes > kMaxHeaderBytes) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  if (name == ":method") {
    stream->request.method = value;
  } else if (name == ":path") {
    stream->request.path = value;
  } else if (name == "content-type") {
    stream->request.contentType = value;
  }
  return 0;
}

int Http2Session::State::body(std::int32_t id, std::string_view bytes) {
  Stream* const stream = find(id);
  if (stream == nullptr || stream->exchange != nullptr) {
    return 0;
  }
  std::string& body = stream->request.body;
  const bool fits = body.size() + bytes.size() <= kMaxRequestBytes &&
                    memory->used + bytes.size() <= Http2BodyMemory::kLimit;
  if (fits) {
    body.append(bytes);
    stream->bodyBytes += bytes.size();
    memory->used += bytes.size();
    return 0;
  }
  body = std::string();
  memory->used -= std::exchange(stream->bodyBytes, 0);
  stream->request.isTooLarge = true;
  startAnswer(id, stream);
  return 0;
}

int Http2Session::State::endFrame(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_SETTINGS) {
    isEstablished = true;
  }
  const bool endsRequest = (frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA) &&
                           (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (endsRequest) {
    Stream* const stream = find(frame.hd.stream_id);
    if (stream != nullptr && stream->exchange == nullptr) {
      startAnswer(frame.hd.stream_id, stream);
    }
  }
  return 0;
}

int Http2Session::State::close(std::int32_t id) {
  const auto found = streams.find(id);
  if (found != streams.end()) {
    memory->used -= found->second.bodyBytes;
    answers -= found->second.exchange != nullptr ? 1 : 0;
    streams.erase(found);
  }
  return 0;
}

void Http2Session::State::startAnswer(std::int32_t id, Stream* stream) {
  stream->exchange = handler->start({connection, id}, std::move(stream->request));
  ++answers;
  tryHead(id, stream);
}

void Http2Session::State::tryHead(std::int32_t id, Stream* stream) {
  Http2Head head;
  if (stream->hasHead || !stream->exchange->head(&head)) {
    return;
  }
  stream->hasHead = true;
  const std::vector<nghttp2_nv> fields = nghttp2Fields(head.fields);
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, std::int32_t streamId, std::uint8_t* out,
                              std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                              void* user) {
    return withoutException([&]() -> ssize_t {
      return State::of(user).read(streamId, reinterpret_cast<char*>(out), size, flags);
    });
  };
  checkMemory(nghttp2_submit_response(session.get(), id, fields.data(), fields.size(),
                                      head.isWhole ? nullptr : &provider));
}

int Http2Session::State::sent(const nghttp2_frame& frame) {
  const std::int32_t id = frame.hd.stream_id;
  if (frame.hd.type == NGHTTP2_RST_STREAM && frame.rst_stream.error_code != NGHTTP2_NO_ERROR) {
    // For a request that is wrong, or one too many.
    return budget.take() ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  if (frame.hd.type == NGHTTP2_HEADERS && (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 &&
      nghttp2_session_get_stream_remote_close(session.get(), id) == 0) {
    // Tells a client that still sends its body that the rest is not needed. Not before the answer,
    // which nghttp2 would discard.
    checkMemory(nghttp2_submit_rst_stream(session.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR));
  }
  return 0;
}

ssize_t Http2Session::State::read(std::int32_t id, char* out, std::size_t size,
                                  std::uint32_t* flags) {
  Stream* const stream = find(id);
  if (stream == nullptr) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  try {
    const Http2Read read = stream->exchange->read(out, size);
    if (read.isEnd) {
      *flags = NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const Http2Fields trailers = stream->exchange->trailers();
      const std::vector<nghttp2_nv> fields = nghttp2Fields(trailers);
      checkMemory(nghttp2_submit_trailer(session.get(), id, fields.data(), fields.size()));
    } else if (read.size == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(read.size);
  } catch (const std::bad_alloc&) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // ends the stream
  }
}

namespace {

struct DeleteTable {
  void operator()(nghttp2_session_callbacks* table) const { nghttp2_session_callbacks_del(table); }
};
struct DeleteOptions {
  void operator()(nghttp2_option* options) const { nghttp2_option_del(options); }
};

std::unique_ptr<nghttp2_option, DeleteOptions> sessionOptions() {
  nghttp2_option* options = nullptr;
  checkMemory(nghttp2_option_new(&options));
  // Otherwise it keeps streams that are closed, for priorities, which nothing here uses.
  nghttp2_option_set_no_closed_streams(options, 1);
  nghttp2_option_set_max_settings(options, 32);
  nghttp2_option_set_max_outbound_ack(options, 1'000);
  return std::unique_ptr<nghttp2_option, DeleteOptions>(options);
}

}  // namespace

Http2Session::Http2Session(std::uint64_t connection, Http2Handler* handler, Http2BodyMemory* memory)
    : state_(std::make_unique<State>(connection, handler, memory)) {
  nghttp2_session_callbacks* table = nullptr;
  checkMemory(nghttp2_session_callbacks_new(&table));
  const std::unique_ptr<nghttp2_session_callbacks, DeleteTable> tableOwner(table);
  nghttp2_session_callbacks_set_on_begin_frame_callback(
      table, [](nghttp2_session*, const nghttp2_frame_hd* frame, void* user) {
        return withoutException([&] { return State::of(user).beginFrame(*frame); });
      });
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      table, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return withoutException([&] { return State::of(user).begin(*frame); });
      });
  nghttp2_session_callbacks_set_on_header_callback(
      table, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                std::size_t nameSize, const std::uint8_t* value, std::size_t valueSize,
                std::uint8_t, void* user) {
        return withoutException([&] {
          return State::of(user).field(*frame, {reinterpret_cast<const char*>(name), nameSize},
                                       {reinterpret_cast<const char*>(value), valueSize});
        });
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      table, [](nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                std::size_t size, void* user) {
        return withoutException([&] {
          return State::of(user).body(stream, {reinterpret_cast<const char*>(bytes), size});
        });
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      table, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return withoutException([&] { return State::of(user).endFrame(*frame); });
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      table, [](nghttp2_session*, std::int32_t stream, std::uint32_t, void* user) {
        return withoutException([&] { return State::of(user).close(stream); });
      });
  nghttp2_session_callbacks_set_on_frame_send_callback(
      table, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return withoutException([&] { return State::of(user).sent(*frame); });
      });
  nghttp2_session_callbacks_set_data_source_read_length_callback(
      table,
      [](nghttp2_session*, std::uint8_t, std::int32_t, std::int32_t connectionWindow,
         std::int32_t streamWindow, std::uint32_t maxFrame, void*) -> ssize_t {
        return std::min<ssize_t>(
            {connectionWindow, streamWindow, static_cast<ssize_t>(maxFrame), kMaxFrameBytes});
      });
  const auto options = sessionOptions();
  nghttp2_session* session = nullptr;
  checkMemory(nghttp2_session_server_new2(&session, table, state_.get(), options.get()));
  state_->session.reset(session);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderBytes},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kReceiveWindow},
  };
  checkMemory(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings)));
  checkMemory(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kReceiveWindow));
}

Http2Session::~Http2Session() {
  for (const auto& [id, stream] : state_->streams) {
    state_->memory->used -= stream.bodyBytes;
  }
}

bool Http2Session::receive(std::string_view bytes, Time now) {
  state_->budget.refill(now);
  state_->sawFrame = false;
  const ssize_t taken = nghttp2_session_mem_recv(
      state_->session.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  state_->ignoredBytes = state_->sawFrame ? 0 : state_->ignoredBytes + bytes.size();
  return taken == static_cast<ssize_t>(bytes.size()) && state_->ignoredBytes <= kMaxIgnoredBytes;
}

void Http2Session::wake(std::int32_t id) {
  State::Stream* const stream = state_->find(id);
  if (stream == nullptr || stream->exchange == nullptr) {
    return;
  }
  if (!stream->hasHead) {
    state_->tryHead(id, stream);
  } else {
    // Fails if the stream does not wait, which is fine.
    static_cast<void>(nghttp2_session_resume_data(state_->session.get(), id));
  }
}

void Http2Session::wakeAll() {
  for (const auto& [id, stream] : state_->streams) {
    wake(id);
  }
}

bool Http2Session::fill(std::string* out, std::size_t size) {
  while (out->size() < size) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(state_->session.get(), &bytes);
    if (count < 0) {
      return false;
    }
    if (count == 0) {
      break;
    }
    out->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  }
  return true;
}

void Http2Session::sendGoaway() {
  nghttp2_session* const session = state_->session.get();
  // If memory runs out, the client learns it from the end of the connection.
  static_cast<void>(nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
                                          nghttp2_session_get_last_proc_stream_id(session),
                                          NGHTTP2_NO_ERROR, nullptr, 0));
}

bool Http2Session::hasEnded() const {
  nghttp2_session* const session = state_->session.get();
  return nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0;
}

bool Http2Session::isEstablished() const {
  return state_->isEstablished;
}

std::size_t Http2Session::openAnswers() const {
  return state_->answers;
}

std::size_t Http2Session::queuedFrames() const {
  return nghttp2_session_get_outbound_queue_size(state_->session.get());
}

}  // namespace steptape::detail::server

// SPDX-License-Identifier: Apache-2.0
#include "server/http2/http2_client.h"

#include <nghttp2/nghttp2.h>

namespace steptape::detail::server {

struct Http2Client::Callbacks {
  static Http2Client& of(void* user) { return *static_cast<Http2Client*>(user); }

  static int field(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                   std::size_t nameSize, const std::uint8_t* value, std::size_t valueSize,
                   std::uint8_t, void* user) {
    of(user).answers_[frame->hd.stream_id].fields.push_back(
        std::string(reinterpret_cast<const char*>(name), nameSize) + ": " +
        std::string(reinterpret_cast<const char*>(value), valueSize));
    return 0;
  }
  static int data(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                  std::size_t size, void* user) {
    of(user).answers_[stream].body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }
  static int close(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* user) {
    of(user).answers_[stream].isClosed = true;
    of(user).answers_[stream].errorCode = code;
    return 0;
  }
  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    of(user).hasGoaway_ = of(user).hasGoaway_ || frame->hd.type == NGHTTP2_GOAWAY;
    return 0;
  }
  static ssize_t read(nghttp2_session*, std::int32_t stream, std::uint8_t* out, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source*, void* user) {
    std::string& unsent = of(user).unsent_[stream];
    const std::size_t count = unsent.copy(reinterpret_cast<char*>(out), size);
    unsent.erase(0, count);
    if (unsent.empty()) {
      *flags = NGHTTP2_DATA_FLAG_EOF;
    }
    return static_cast<ssize_t>(count);
  }
};

Http2Client::Http2Client(std::int32_t window) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::field);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::close);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::frame);
  nghttp2_option* options = nullptr;
  nghttp2_option_new(&options);
  nghttp2_option_set_no_auto_window_update(options, 1);
  nghttp2_session_client_new2(&session_, callbacks, this, options);
  nghttp2_option_del(options);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry setting{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                       static_cast<std::uint32_t>(window)};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &setting, 1);
  // Of all streams together: never what a test waits for.
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 1 << 30);
}

Http2Client::~Http2Client() {
  nghttp2_session_del(session_);
}

std::int32_t Http2Client::post(const std::string& path, const std::string& body,
                               const Http2Fields& further) {
  Http2Fields fields{{":method", "POST"},
                     {":scheme", "http"},
                     {":path", path},
                     {":authority", "localhost"},
                     {"content-type", "application/grpc"}};
  fields.insert(fields.end(), further.begin(), further.end());
  std::vector<nghttp2_nv> converted;
  for (Http2Field& field : fields) {
    converted.push_back({reinterpret_cast<std::uint8_t*>(field.name.data()),
                         reinterpret_cast<std::uint8_t*>(field.value.data()), field.name.size(),
                         field.value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::read;
  const std::int32_t stream = nghttp2_submit_request(session_, nullptr, converted.data(),
                                                     converted.size(), &provider, nullptr);
  unsent_[stream] = body;
  return stream;
}

void Http2Client::cancel(std::int32_t stream) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

void Http2Client::consume(std::int32_t stream, std::size_t size) {
  nghttp2_session_consume_stream(session_, stream, size);
}

void Http2Client::ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
}

std::string Http2Client::take() {
  std::string bytes;
  const std::uint8_t* data = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &data)) > 0;) {
    bytes.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  return bytes;
}

bool Http2Client::receive(std::string_view bytes) {
  return nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                  bytes.size()) == static_cast<ssize_t>(bytes.size());
}

}  // namespace steptape::detail::server

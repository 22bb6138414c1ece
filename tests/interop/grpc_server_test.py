#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grpcio, which TensorBoard uses, is served by the server of src/server/grpc."""

import os
import select
import socket
import subprocess
import threading
import time
import unittest

import grpc

from owned_process import OwnedProcess
from patience import PATIENCE_SECONDS

# TensorBoard's client takes messages up to this size.
MAX_MESSAGE = 256 << 20
LARGE = 258_000_000
ENDLESS = b"1000000000000"
CLIENTS = 100


# What a client sends first: the connection's preface, and SETTINGS without any.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))


def unchanged(message):
    return message


def request_frame(stream):
    """A call without a message: HEADERS with END_STREAM and END_HEADERS."""
    fields = b"\x83\x86\x44\x0f/test.Echo/Echo\x0f\x10\x10application/grpc"
    fields += b"\x41\x09localhost"
    return len(fields).to_bytes(3, "big") + b"\x01\x05" + stream.to_bytes(4, "big") + fields


class EchoServer(OwnedProcess):
    """The program tests/server/grpc/echo_server.cpp."""

    def __init__(self, *arguments, descriptors=1024, stdin=subprocess.PIPE):
        self._process = subprocess.Popen(
            ["sh", "-c", f'ulimit -n {descriptors}; exec "$0" "$@"',
             os.environ["STEPTAPE_ECHO_SERVER"], *arguments],
            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        self._channels = []

    def _begin(self):
        self.port = int(self._process.stdout.readline())

    def _release(self):
        for channel in self._channels:
            channel.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def channel(self):
        """A connection of its own."""
        channel = grpc.insecure_channel(
            f"localhost:{self.port}",
            options=[("grpc.max_receive_message_length", MAX_MESSAGE),
                     ("grpc.use_local_subchannel_pool", 1)])
        self._channels.append(channel)
        return channel

    def call(self, method, request=b"", channel=None, **options):
        options.setdefault("timeout", PATIENCE_SECONDS)
        return (channel or self.channel()).unary_unary(
            f"/test.Echo/{method}", unchanged, unchanged)(request, **options)

    def stream(self, method, request=b"", channel=None, **options):
        options.setdefault("timeout", PATIENCE_SECONDS)
        return (channel or self.channel()).unary_stream(
            f"/test.Echo/{method}", unchanged, unchanged)(request, **options)

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)

    def highest_memory(self):
        """In bytes."""
        with open(f"/proc/{self._process.pid}/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))

    def end_stdin(self):
        """Gives the exit code."""
        self._process.stdin.close()
        return self._process.wait(PATIENCE_SECONDS)

    def failure(self):
        """Gives the exit code and the message of a server that does not start."""
        code = self._process.wait(PATIENCE_SECONDS)
        return code, self._process.stderr.read()


class GrpcServerTest(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(EchoServer())

    def assert_fails(self, code, call, *arguments, **options):
        """Gives the message of the failure."""
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.code(), code, caught.exception.details())
        return caught.exception.details()

    def wait_until_no_answers(self):
        end = time.monotonic() + PATIENCE_SECONDS
        while self.server.call("Alive") != b"0":
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_answers_calls(self):
        channel = self.server.channel()
        for request in (b"", b"hello", bytes(range(256)) * 400, b"x" * 4_000_000):
            self.assertEqual(self.server.call("Echo", request, channel), request)

    def test_streams_messages(self):
        self.assertEqual(list(self.server.stream("Blob", b"0")), [])
        sizes = [len(message) for message in self.server.stream("Blob", b"20000000")]
        self.assertEqual(sizes, [8 << 20, 8 << 20, 20_000_000 - (16 << 20)])

    def test_sends_258_megabytes(self):
        stream = self.server.stream("Blob", b"%d" % LARGE)
        self.assertEqual(sum(len(message) for message in stream), LARGE)
        # Two messages of 8 MiB, and what the server itself takes.
        self.assertLess(self.server.highest_memory(), 64 << 20)
        self.assertEqual(len(self.server.call("Bytes", b"%d" % LARGE)), LARGE)

    def test_sends_the_largest_message_and_none_beyond(self):
        self.assertEqual(len(self.server.call("Bytes", b"%d" % MAX_MESSAGE)), MAX_MESSAGE)
        message = self.assert_fails(grpc.StatusCode.RESOURCE_EXHAUSTED, self.server.call,
                                    "Bytes", b"%d" % (MAX_MESSAGE + 1))
        self.assertEqual(
            message,
            "answer to /test.Echo/Bytes: got 268435457 bytes; expected at most 268435456, which "
            "TensorBoard accepts; ask for fewer runs, tags or points at a time")

    def test_gives_the_status_of_the_service(self):
        for text in ("no run", "100 % größer\n", "日本語 \U0001f600", "x" * 1_900):
            self.assertEqual(
                self.assert_fails(grpc.StatusCode.NOT_FOUND, self.server.call, "Fail",
                                  text.encode()), text)
        self.assertEqual(
            self.assert_fails(grpc.StatusCode.INTERNAL, self.server.call, "Throw", b"broken"),
            "broken")
        self.assert_fails(grpc.StatusCode.RESOURCE_EXHAUSTED, self.server.call, "NoMemory")
        self.assertEqual(
            self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, self.server.call, "Absent"),
            "unknown method /test.Echo/Absent")

    def test_gives_the_status_after_messages(self):
        stream = self.server.stream("BrokenBlob", b"10000000")
        self.assertEqual(sum(len(next(stream)) for _ in range(2)), 10_000_000)
        self.assertEqual(self.assert_fails(grpc.StatusCode.INTERNAL, next, stream),
                         "broken on the way")

    def test_rejects_a_large_request(self):
        message = self.assert_fails(grpc.StatusCode.RESOURCE_EXHAUSTED, self.server.call, "Echo",
                                    b"x" * 5_000_000)
        self.assertIn("got more than 4194304 bytes", message)
        self.assertEqual(self.server.call("Echo", b"small"), b"small")

    def test_rejects_a_compressed_request(self):
        message = self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, self.server.call, "Echo",
                                    b"x" * 10_000, compression=grpc.Compression.Gzip)
        self.assertIn("got a compressed message", message)

    def test_serves_many_clients_at_once(self):
        answers = []

        def call(client):
            channel = self.server.channel()
            answers.extend(self.server.call("Echo", b"%d" % client, channel) for _ in range(10))

        threads = [threading.Thread(target=call, args=(client,)) for client in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answers), sorted(b"%d" % client for client in range(CLIENTS)
                                                 for _ in range(10)))

    def test_serves_others_while_clients_do_not_read(self):
        streams = [self.server.stream("Blob", b"100000000") for _ in range(5)]
        sizes = [len(next(stream)) for stream in streams]
        for _ in range(100):
            self.assertEqual(self.server.call("Echo", b"other"), b"other")
        # Each of them costs two messages of 8 MiB at most.
        self.assertLess(self.server.highest_memory(), 5 * (16 << 20) + (32 << 20))
        for stream, size in zip(streams, sizes):
            self.assertEqual(size + sum(len(message) for message in stream), 100_000_000)

    def test_forgets_a_canceled_call(self):
        stream = self.server.stream("Blob", ENDLESS)
        next(stream)
        self.assertEqual(self.server.call("Alive"), b"1")
        stream.cancel()
        self.wait_until_no_answers()

    def test_forgets_the_calls_of_a_lost_client(self):
        channel = self.server.channel()
        stream = self.server.stream("Blob", ENDLESS, channel)
        next(stream)
        channel.close()
        self.wait_until_no_answers()

    def test_forgets_a_call_after_its_deadline(self):
        self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED,
                          lambda: list(self.server.stream("Blob", ENDLESS, timeout=0.3)))
        self.wait_until_no_answers()

    def test_survives_what_is_not_http2(self):
        beginnings = (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", os.urandom(4_096),
                      b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 100)
        for beginning in beginnings:
            with self.server.socket() as client:
                client.sendall(beginning)
                try:
                    while client.recv(4_096):
                        pass
                except ConnectionResetError:
                    pass
        with self.server.socket() as slow:
            slow.sendall(b"PRI * HT")
            self.assertEqual(self.server.call("Echo", b"other"), b"other")
            slow.sendall(b"TP/2.0\r\n\r\nSM\r\n\r\n")
            self.assertEqual(self.server.call("Echo", b"other"), b"other")

    def test_bounds_what_it_keeps_for_a_client_that_does_not_read(self):
        with self.server.socket() as client:
            client.setblocking(False)
            client.send(PREFACE)
            unsent = b"".join(request_frame(2 * call + 1) for call in range(300_000))
            # Either the buffers are full at some point, or the server has had enough.
            try:
                while select.select([], [client], [], 2)[1]:
                    unsent = unsent[client.send(unsent):]
                    self.assertTrue(unsent)
            except ConnectionError:
                pass
            self.assertLess(self.server.highest_memory(), 48 << 20)
            self.assertEqual(self.server.call("Echo", b"other"), b"other")

    def test_ends_with_its_stdin(self):
        stream = self.server.stream("Blob", ENDLESS)
        next(stream)
        self.assertEqual(self.server.end_stdin(), 0)
        with self.assertRaises(grpc.RpcError) as caught:
            list(stream)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)


class FewDescriptorsTest(unittest.TestCase):
    """More clients than the server has descriptors."""

    def test_serves_a_client_while_others_say_nothing(self):
        with EchoServer(descriptors=64) as server:
            silent = [server.socket() for _ in range(CLIENTS)]
            self.assertEqual(server.call("Echo", b"hello"), b"hello")
            for client in silent:
                client.close()
            self.assertEqual(server.call("Echo", b"again"), b"again")

    def test_serves_all_of_them_one_after_the_other(self):
        with EchoServer(descriptors=64) as server:
            answers = []
            channels = [server.channel() for _ in range(CLIENTS)]

            def call(channel):
                answers.append(server.call("Echo", b"hello", channel, wait_for_ready=True))

            threads = [threading.Thread(target=call, args=(channel,)) for channel in channels]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(answers, [b"hello"] * CLIENTS)


class StartTest(unittest.TestCase):
    def test_names_a_port_that_is_in_use(self):
        with EchoServer() as server:
            other = EchoServer("localhost", str(server.port))
            try:
                self.assertEqual(other.failure(), (
                    1, f'listen at host "localhost", port {server.port}: got Address already in '
                    'use; expected a port that no other program uses\n'))
            finally:
                other.close()

    def test_ends_at_once_without_stdin(self):
        with EchoServer(stdin=subprocess.DEVNULL) as server:
            self.assertEqual(server.failure(), (0, ""))


if __name__ == "__main__":
    unittest.main()

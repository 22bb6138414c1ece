#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TensorBoard: --grpc_data_provider takes the address of a server, but reaches only one that is reached by the loopback.
#
# Believed: as the option takes HOST:PORT, a data server may run where the files are, on another host. Seen: the default of
# --grpc_creds_type is "local", and gRPC's local credentials refuse every TCP peer that is not a loopback address, be it the
# host's own. Each call ends as UNAVAILABLE, "Endpoint is neither UDS or TCP loopback address.". So it takes a tunnel to a port
# of localhost, or --grpc_creds_type=ssl_dev or ssl and a server with a certificate.
#
# Versions: tensorboard 2.21.0, grpcio 1.85.3 from PyPI. Needs python3 with venv, network access, and an address of this
# host besides the loopback. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorboard==2.21.0 grpcio==1.85.3 'setuptools<81'

cat >"$folder/connect.py" <<'PYTHON'
import sys
from concurrent import futures

import grpc
from tensorboard import context
from tensorboard.data import server_ingester
from tensorboard.data.proto import data_provider_pb2, data_provider_pb2_grpc
from tensorboard.util import grpc_util


class OneRun(data_provider_pb2_grpc.TensorBoardDataProviderServicer):
    def ListRuns(self, request, context):
        return data_provider_pb2.ListRunsResponse(runs=[data_provider_pb2.Run(name="run")])


server = grpc.server(futures.ThreadPoolExecutor())
data_provider_pb2_grpc.add_TensorBoardDataProviderServicer_to_server(OneRun(), server)
port = server.add_insecure_port("0.0.0.0:0")
server.start()


def runs(host):
    """Returns the runs that TensorBoard lists with --grpc_data_provider=HOST:PORT."""
    ingester = server_ingester.ExistingServerDataIngester(
        f"{host}:{port}", channel_creds_type=grpc_util.ChannelCredsType.LOCAL)
    ingester.start()
    found = ingester.data_provider.list_runs(context.RequestContext(), experiment_id="")
    return [run.run_name for run in found]


print("localhost:", runs("localhost"))
assert runs("localhost") == ["run"]
try:
    print("this host's address:", runs(sys.argv[1]))
except Exception as error:
    print("this host's address:", type(error).__name__, error)
    assert "Endpoint is neither UDS or TCP loopback address" in str(error)
else:
    raise AssertionError("got an answer; expected that local credentials refuse it")
PYTHON
"$folder/venv/bin/python" "$folder/connect.py" "$(hostname -I | cut -d ' ' -f 1)"

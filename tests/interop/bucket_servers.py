# SPDX-License-Identifier: Apache-2.0
"""Servers that speak S3's protocol, with one bucket named "bucket".

Rclone checks signatures, and replaces objects whatever a request's conditions say. Moto knows conditions, and checks no
signature. Both are of PyPI.

    with bucket_servers.Rclone() as server:
        subprocess.run([program], env=os.environ | server.environment)
"""

import contextlib
import datetime
import ipaddress
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import boto3
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from owned_process import OwnedProcess
from patience import PATIENCE_SECONDS

BUCKET = "bucket"
KEY, SECRET = "AKIDOFTHETESTS", "not-much-of-a-secret"


def own_programs():
    """The folder with the programs of this Python's packages."""
    return os.path.dirname(sys.executable)


class BucketServer(OwnedProcess):
    """A running server; a context manager that always ends it."""

    def __init__(self, command):
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._log,
                                         stderr=subprocess.STDOUT, start_new_session=True)
        self.url = ""

    def _begin(self):
        """Waits until the server says where it listens: it chooses a free port itself."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := re.search(rb"https?://127\.0\.0\.1:[1-9][0-9]*", self._printed())):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self._process.args[0]} did not start: {self._printed().decode()}")
            time.sleep(0.01)
        self.url = found.group().decode()

    def _printed(self):
        return os.pread(self._log.fileno(), 1 << 16, 0)

    def _release(self):
        self._log.close()

    @contextlib.contextmanager
    def client(self):
        """boto3's client of the server."""
        client = boto3.client("s3", endpoint_url=self.url, aws_access_key_id=KEY, aws_secret_access_key=SECRET,
                              region_name="us-east-1")
        try:
            yield client
        finally:
            client.close()

    @property
    def environment(self):
        """What programs need to find the server, and nothing else that is the user's."""
        return {"AWS_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
                "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


class Rclone(BucketServer):
    """`rclone serve s3`, which keeps an object as a file of the folder `directory`."""

    def __init__(self, *options):
        self._root = tempfile.TemporaryDirectory()
        self.directory = os.path.join(self._root.name, BUCKET)
        os.mkdir(self.directory)
        super().__init__([os.path.join(own_programs(), "rclone"), "serve", "s3", "--config", os.devnull, "--addr",
                          "127.0.0.1:0", "--auth-key", f"{KEY},{SECRET}", *options, self._root.name])

    def _release(self):
        super()._release()
        self._root.cleanup()


class SecureRclone(Rclone):
    """The same by HTTPS, with a certificate of its own: the file `certificate`."""

    def __init__(self):
        self._identity = tempfile.TemporaryDirectory()
        self.certificate, key = write_identity(self._identity.name)
        super().__init__("--cert", self.certificate, "--key", key)

    def _release(self):
        super()._release()
        self._identity.cleanup()


def write_identity(directory):
    """Writes a certificate of 127.0.0.1 and its key, and returns their paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.timezone.utc)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
                   .serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
                   .not_valid_after(now + datetime.timedelta(days=1)).add_extension(address, critical=False)
                   .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
                   .sign(key, hashes.SHA256()))
    paths = [os.path.join(directory, name) for name in ("certificate.pem", "key.pem")]
    form = serialization.Encoding.PEM
    texts = [certificate.public_bytes(form),
             key.private_bytes(form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())]
    for path, text in zip(paths, texts):
        with open(path, "wb") as file:
            file.write(text)
    return paths


class Moto(BucketServer):
    """Moto's server, which keeps objects in memory."""

    def __init__(self):
        super().__init__([os.path.join(own_programs(), "moto_server"), "-H", "127.0.0.1", "-p", "0"])

    def _begin(self):
        super()._begin()
        # It says where before it listens.
        request = urllib.request.Request(f"{self.url}/{BUCKET}", method="PUT")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                urllib.request.urlopen(request, timeout=PATIENCE_SECONDS).close()
                return
            except urllib.error.HTTPError:
                raise
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bill of materials of files that tools/package.sh made, as CycloneDX 1.5.

    tools/bill_of_materials.py VERSION OUTPUT FILE...
    tools/bill_of_materials.py --licenses OUTPUT

The bill lists each file with its SHA-256, and each library whose code is in them, with the version of the Debian
package that it came from on this machine. The second form writes the license texts of these libraries.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

# Debian package, name and license of what is compiled in. The static tool has all of them in it.
LIBRARIES = (
    ("libprotobuf-dev", "protobuf", "BSD-3-Clause"),
    ("zlib1g-dev", "zlib", "Zlib"),
    ("libnghttp2-dev", "nghttp2", "MIT"),
    ("libfmt-dev", "fmt", "MIT"),
    ("libcli11-dev", "CLI11", "BSD-3-Clause"),
    ("nlohmann-json3-dev", "nlohmann-json", "MIT"),
    ("libc6-dev", "glibc", "LGPL-2.1-or-later"),
    ("libstdc++6", "libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1"),
)


def installed_version(package):
    output = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}\n", package], check=True, capture_output=True, text=True
    ).stdout
    return output.splitlines()[0]


def library(package, name, license_id):
    return {
        "type": "library",
        "bom-ref": name,
        "name": name,
        "version": installed_version(package),
        "licenses": [{"expression": license_id}],
    }


def product(path, version):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {
        "type": "file",
        "bom-ref": path.name,
        "name": path.name,
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }


def bill_of_materials(version, files):
    libraries = [library(*entry) for entry in LIBRARIES]
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment),
            "component": {
                "type": "application",
                "bom-ref": "steptape",
                "name": "steptape",
                "version": version,
                "licenses": [{"expression": "Apache-2.0"}],
            },
        },
        "components": [product(path, version) for path in files] + libraries,
        "dependencies": [{"ref": "steptape", "dependsOn": [entry["bom-ref"] for entry in libraries]}],
    }


def license_texts():
    """The texts that Debian ships with the libraries, one after the other."""
    texts = []
    for package, name, _ in LIBRARIES:
        path = pathlib.Path("/usr/share/doc", package, "copyright")
        texts.append(f"{name} {installed_version(package)}\n\n{path.read_text(encoding='utf-8')}")
    return ("\n" + "-" * 80 + "\n\n").join(texts)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--licenses":
        pathlib.Path(sys.argv[2]).write_text(license_texts(), encoding="utf-8")
        return
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    version, output, *files = sys.argv[1:]
    bill = bill_of_materials(version, [pathlib.Path(name) for name in sorted(files)])
    pathlib.Path(output).write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches Fashion-MNIST (60,000 + 10,000 images, Debian's dataset-fashion-mnist) and prints the
# folder that holds its four IDX files.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly first_file=$fashion_mnist_dir/train-images-idx3-ubyte.gz
if [[ ! -f $first_file ]]; then
  install_packages dataset-fashion-mnist ||
    die "no Fashion-MNIST in $fashion_mnist_dir; install the package dataset-fashion-mnist, or pass --data a folder with the four IDX files"
fi
[[ -f $first_file ]] || die "the package dataset-fashion-mnist has no $first_file"
echo "$fashion_mnist_dir"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches a data set for the examples and prints its folder:
#
#   tools/get_data.sh [fashion-mnist|mnist|cifar10] [FOLDER]
#
#   fashion-mnist   60,000 + 10,000 images, Debian's package dataset-fashion-mnist (the default)
#   mnist           60,000 + 10,000 digits, 12 MB, into FOLDER or data/mnist
#   cifar10         50,000 + 10,000 images, 162 MB, into FOLDER or data/cifar-10-batches-bin
#
# Run it before the job, on a machine with internet access, such as a cluster's login node. Inside a job of Slurm,
# PBS or Cobalt it only checks that the files exist. It is safe to run again.
#
# STEPTAPE_OFFLINE=1          never uses the network; 0: uses it inside a job too
# STEPTAPE_MNIST_URL=...      a mirror of the folder of MNIST's four files
# STEPTAPE_CIFAR10_URL=...    a mirror of the folder of cifar-10-binary.tar.gz
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly mnist_url=${STEPTAPE_MNIST_URL:-https://ossci-datasets.s3.amazonaws.com/mnist}
readonly cifar10_url=${STEPTAPE_CIFAR10_URL:-https://www.cs.toronto.edu/~kriz}

# File and MD5 sum, from the data sets' own pages.
readonly mnist_files=(
  'train-images-idx3-ubyte.gz f68b3c2dcbeaaa9fbdd348bbdeb94873'
  'train-labels-idx1-ubyte.gz d53e105ee54ea40749a09fcbcd1e9432'
  't10k-images-idx3-ubyte.gz 9fb629c4189551a2d022fa330f9573f3'
  't10k-labels-idx1-ubyte.gz ec29112dd5afa0611ce80d1b7f02629c'
)
readonly cifar10_file='cifar-10-binary.tar.gz c32a1d4ab5d03f1284b67883e8d87530'

is_offline() {
  case ${STEPTAPE_OFFLINE:-} in
    1) return 0 ;;
    0) return 1 ;;
    *) [[ -n ${SLURM_JOB_ID:-}${PBS_JOBID:-}${COBALT_JOBID:-} ]] ;;
  esac
}

# download <url> <file> <MD5 sum>: leaves the complete, correct file or none
download() {
  local url=$1 file=$2 sum=$3 part=$2.part got
  if command -v curl >/dev/null; then
    with_progress "fetching $url" curl -fsSL --retry 3 -o "$part" "$url"
  elif command -v wget >/dev/null; then
    with_progress "fetching $url" wget -q -O "$part" "$url"
  else
    die "fetching $url: got neither curl nor wget; install one: apt-get install curl"
  fi || die "could not fetch $url"
  got=$(md5sum "$part" | cut -d ' ' -f 1)
  if [[ $got != "$sum" ]]; then
    rm -f "$part"
    die "$url: got MD5 sum $got; expected $sum"
  fi
  mv "$part" "$file"
}

# require_network <what> <folder> <command>
require_network() {
  if is_offline; then
    die "$1: no files in $2, and jobs and STEPTAPE_OFFLINE=1 fetch nothing; on a machine with internet access run: $3"
  fi
  mkdir -p "$2"
}

get_fashion_mnist() {
  local first_file=$fashion_mnist_dir/train-images-idx3-ubyte.gz
  if [[ ! -f $first_file ]]; then
    install_packages dataset-fashion-mnist ||
      die "Fashion-MNIST: no files in $fashion_mnist_dir; install the package dataset-fashion-mnist, or pass a folder with the four IDX files as --data"
  fi
  [[ -f $first_file ]] || die "package dataset-fashion-mnist: expected $first_file, which does not exist"
  echo "$fashion_mnist_dir"
}

get_mnist() {
  local folder=${1:-$root/data/mnist} entry name sum
  for entry in "${mnist_files[@]}"; do
    read -r name sum <<<"$entry"
    if [[ ! -f $folder/$name && ! -f $folder/${name%.gz} ]]; then
      require_network MNIST "$folder" "tools/get_data.sh mnist${1:+ $1}"
      download "$mnist_url/$name" "$folder/$name" "$sum"
    fi
  done
  echo "$folder"
}

get_cifar10() {
  local folder=${1:-$root/data/cifar-10-batches-bin} name sum archive
  if [[ ! -f $folder/test_batch.bin || ! -f $folder/data_batch_5.bin ]]; then
    require_network CIFAR-10 "$folder" "tools/get_data.sh cifar10${1:+ $1}"
    read -r name sum <<<"$cifar10_file"
    archive=$folder/$name
    download "$cifar10_url/$name" "$archive" "$sum"
    # Moved once all files exist: an interrupted tar leaves no incomplete file that looks complete.
    mkdir -p "$folder/part"
    tar -xzf "$archive" -C "$folder/part" --strip-components=1
    mv "$folder"/part/* "$folder"
    rm -r "$folder/part" "$archive"
  fi
  echo "$folder"
}

case ${1:-fashion-mnist} in
  fashion-mnist) get_fashion_mnist ;;
  mnist) get_mnist "${2:-}" ;;
  cifar10) get_cifar10 "${2:-}" ;;
  *) die "data set: got '$1'; expected fashion-mnist, mnist or cifar10; usage: tools/get_data.sh [fashion-mnist|mnist|cifar10] [FOLDER]" ;;
esac

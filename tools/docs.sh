#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation site in build/docs from the Markdown pages and the public headers. A warning of
# Doxygen and a broken link are errors.
#
#   tools/docs.sh
#
# STEPTAPE_SOURCE_URL=https://example.org/steptape/blob/main   where links to sources lead; default: this checkout
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

if (($#)); then die "argument: got '$1'; expected none; usage: tools/docs.sh"; fi
settings=$(STEPTAPE_TORCH=none tools/setup.sh --docs)
eval "$settings"
export STEPTAPE_VERSION STEPTAPE_SOURCE_URL=${STEPTAPE_SOURCE_URL:-file://$root}
STEPTAPE_VERSION=$(project_version)

rm -rf build/docs
mkdir -p build/docs
doxygen=$(dirname "$STEPTAPE_PYTHON")/doxygen
# A layout is whole or not at all: Doxygen's own, with another navigation.
"$doxygen" -l build/docs/layout.xml
sed -i -e '/<navindex>/r docs/site/navigation.xml' -e '/<navindex>/,/<\/navindex>/d' build/docs/layout.xml
"$doxygen" docs/Doxyfile >&2 ||
  die "Doxygen reported the warnings above; fix the file and line that each one names"
rm build/docs/layout.xml
python3 tests/docs/check_links.py --site build/docs >&2
say "the site is build/docs/index.html"

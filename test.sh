#!/usr/bin/env bash
# Builds Remat and runs every test: unit (GoogleTest), lit, the example compiler, layering, and end to end through XLA.
# usage: ./test.sh [preset]
set -euo pipefail
cd "$(dirname "$0")"
preset=${1:-release}
./build.sh "$preset"
directory=build$([ "$preset" = release ] || echo "-$preset")

python=$directory/python/bin/python
if ! "$python" -c 'import jax, pytest, xdist' 2>/dev/null; then
  python3 -m venv "$directory/python"
  "$directory/python/bin/pip" install -q -r test/e2e/requirements.txt
fi

ctest --test-dir "$directory" --output-on-failure --no-tests=error -j "$(nproc)"
REMAT_BIN=$PWD/$directory/bin "$python" -m pytest test/e2e -q -p no:cacheprovider -n "$(nproc)"

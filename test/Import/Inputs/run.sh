#!/bin/sh
# usage: run.sh FILE
# Imports FILE, compiles it by upstream's passes alone and runs its function `main`.
set -e
pipeline=$(tr -d '\n' < "$(dirname "$0")/upstream.pipeline" | sed 's/BARE/false/')
libraries=$(dirname "$(readlink -f "$(command -v mlir-runner)")")/../lib
remat-opt "$1" --pass-pipeline="builtin.module($pipeline)" |
  mlir-runner -e main -entry-point-result=void -O1 \
    -shared-libs="$libraries/libmlir_runner_utils.so,$libraries/libmlir_c_runner_utils.so"

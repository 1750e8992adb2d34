#!/usr/bin/env bash
# Installs what is missing (Debian 12 packages) and builds Remat's tools into build/bin.
# usage: ./build.sh [preset]      presets: release (default), dev, asan
set -euo pipefail
cd "$(dirname "$0")"
preset=${1:-release}

packages=(cmake ninja-build ccache clang-22 lld-22 libmlir-22-dev mlir-22-tools llvm-22-dev nlohmann-json3-dev
          libgtest-dev libbenchmark-dev zlib1g-dev libre2-dev
          python3 python3-venv)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if ((${#missing[@]})); then
  echo "installing: ${missing[*]}"
  sudo=$([ "$(id -u)" = 0 ] || echo sudo)
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

directory=build$([ "$preset" = release ] || echo "-$preset")
cmake --preset "$preset" >/dev/null
cmake --build "$directory" -j "$(nproc)"

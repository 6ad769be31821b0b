#!/usr/bin/env bash
# Installs what the build needs: distribution packages, and the pinned wheels unpacked into .deps/.
# Works on Debian 12 and Ubuntu 24.04; does nothing, quickly, when everything is there.
# FROSTLINE_SKIP_SETUP=1 makes it a no-op, for machines that are prepared in another way.
# All output goes to standard error.
set -euo pipefail
exec 1>&2

[[ "${FROSTLINE_SKIP_SETUP:-0}" == 1 ]] && exit 0

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/frostline/wheels"

packages=(
  build-essential ccache cmake git ninja-build pkg-config python3 python3-pip
  libcli11-dev libfmt-dev libprotozero-dev libspdlog-dev libtomlplusplus-dev nlohmann-json3-dev
  libbenchmark-dev libgmock-dev libgtest-dev
  libavcodec-dev libavformat-dev libavutil-dev libswscale-dev
  libhdf5-dev zlib1g-dev
  libegl-dev libegl1 libegl-mesa0 libgl-dev libgl1-mesa-dri
)

install_packages() {
  local missing=() package installed
  installed="$(dpkg-query -W -f='${binary:Package} ${db:Status-Status}\n' "${packages[@]}" \
    2>/dev/null | awk '$2 == "installed" { sub(/:.*/, "", $1); print $1 }' || true)"
  for package in "${packages[@]}"; do
    grep -qxF "$package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "setup: these packages are missing and need root: ${missing[*]}"
      return 1
    }
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
}

# The wheels are only libraries and headers to us, so they are fetched for one Python tag, whatever
# Python this machine has. 2.34 is the newest platform tag that both distributions' glibc can run.
download_wheels() {
  local requirements="$1" platforms=() version
  for version in _2_34 _2_31 _2_28 _2_27 _2_26 _2_25 _2_24 _2_17 2014 2010 1; do
    platforms+=(--platform "manylinux${version}_x86_64")
  done
  # The distribution's own pip: a Python put first in PATH may have none.
  /usr/bin/python3 -m pip download --quiet --disable-pip-version-check --progress-bar off \
    --retries 5 --timeout 60 --no-deps --only-binary=:all: --require-hashes \
    --python-version 3.12 --implementation cp "${platforms[@]}" \
    --dest "$cache" --requirement "$requirements"
}

wheels() {
  python3 "$root/scripts/unpack_wheels.py" --requirements "$root/deps/wheels.txt" \
    --cache "$cache" --into "$root/.deps" "$@"
}

install_wheels() {
  wheels --check && return 0
  mkdir -p "$cache" "$root/.deps"
  local missing
  exec 9>"$cache/.lock"
  flock 9
  missing="$(mktemp)"
  wheels --missing >"$missing"
  if [[ -s "$missing" ]]; then
    echo "setup: downloading $(awk '{ printf "%s ", $1 }' "$missing")"
    download_wheels "$missing"
  fi
  rm -f "$missing"
  wheels
  exec 9>&-
}

install_packages
[[ "$(uname -m)" == x86_64 ]] || {
  echo "setup: the pinned wheels are for x86_64, this machine is $(uname -m); configure with" \
    "-DFROSTLINE_WITH_TORCH=OFF and so on, or give -DFROSTLINE_TORCH_ROOT"
  exit 1
}
install_wheels

#!/usr/bin/env bash
# Configures and builds a preset in build/<preset>/; all output goes to standard error.
# Usage: scripts/build.sh PRESET [TARGET...]
# FROSTLINE_CMAKE_ARGS adds arguments to the configuration, FROSTLINE_JOBS sets the parallelism.
set -euo pipefail
exec 1>&2

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
preset="${1:?usage: scripts/build.sh PRESET [TARGET...]}"
shift

# A translation unit that sees libtorch takes up to 2 GB.
memory_jobs="$(awk '/MemAvailable/ { jobs = int($2 / 2097152); print jobs < 1 ? 1 : jobs }' /proc/meminfo)"
cores="$(nproc)"
jobs="${FROSTLINE_JOBS:-$((memory_jobs < cores ? memory_jobs : cores))}"

read -r -a arguments <<<"${FROSTLINE_CMAKE_ARGS:-}"
cmake --preset "$preset" "${arguments[@]}" --log-level=WARNING
targets=()
(($#)) && targets=(--target "$@")
cmake --build "build/$preset" --parallel "$jobs" "${targets[@]}"

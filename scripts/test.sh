#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests, the lint and the quick demo.
# Usage: scripts/test.sh [--slow] [CTEST ARGUMENT...]
#   --slow  also: the whole tidy, the minimal, asan and tsan builds with their tests, slow tests
# Further arguments go to ctest of the dev build, for example: scripts/test.sh -R core
set -uo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
slow=0
if [[ "${1:-}" == --slow ]]; then
  slow=1
  shift
fi

scripts/setup.sh || exit
scripts/build.sh dev || exit

run_ctest() {
  local preset="$1"
  shift
  echo "== ctest: $preset"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
}

failures=()
if ((slow)); then
  for preset in minimal asan tsan; do
    { scripts/build.sh "$preset" && run_ctest "$preset" -L 'unit|conformance'; } ||
      failures+=("$preset")
  done
  scripts/lint.sh --all || failures+=("lint --all")
  run_ctest dev -L 'unit|conformance|fault|lint|demo|slow' "$@" || failures+=("dev")
else
  run_ctest dev -L 'unit|conformance|lint|demo' "$@" || failures+=("dev")
fi

if ((${#failures[@]})); then
  echo "failed: ${failures[*]}" >&2
  exit 1
fi

#!/usr/bin/env bash
# Installs what is missing, builds the release preset and runs the demo.
# Usage: scripts/demo.sh [ARGUMENT OF frostline demo...]    (with --json, stdout is one document)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
"$root/scripts/setup.sh"
"$root/scripts/build.sh" release frostline
exec "$root/build/release/frostline" demo "$@"

#!/usr/bin/env bash
# Checks formatting, layers, forbidden words and clang-tidy on tracked C++ files.
# Usage: scripts/lint.sh [--all] [--fix] [--no-tidy | --only-tidy] [--build-dir DIR]
#   --all        tidy every file of the build, not only the changed ones
#   --fix        format in place instead of checking
#   --build-dir  a configured build folder for tidy (default build/dev)
# Changed means: against the point where the branch left the main branch, on the main branch itself
# against the last commit that was pushed, else against the previous commit; FROSTLINE_BASE
# overrides it.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
clang_format=.deps/clang-format/clang_format/data/bin/clang-format
clang_tidy=.deps/clang-tidy/clang_tidy/data/bin/clang-tidy
jobs=2
all=0 fix=0 sources=1 tidy=1 build_dir=build/dev
failed=0

while (($#)); do
  case "$1" in
    --all) all=1 ;;
    --fix) fix=1 ;;
    --no-tidy) tidy=0 ;;
    --only-tidy) sources=0 ;;
    --build-dir) build_dir="$2" && shift ;;
    *) sed -n '2,9s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
  esac
  shift
done

cpp_files() { git ls-files -- '*.h' '*.cc' '*.cu' | while read -r f; do
  if [[ -f "$f" ]]; then echo "$f"; fi; done; }

check_format() {
  if ((fix)); then
    cpp_files | xargs -r -P "$jobs" -n 16 "$clang_format" -i
    return
  fi
  local bad
  # shellcheck disable=SC2016  # the inner shell expands its own arguments
  bad="$(cpp_files | xargs -r -P "$jobs" -n 8 bash -c 'for file in "${@:1}"; do
    "$0" --dry-run --Werror "$file" >/dev/null 2>&1 || echo "$file: not formatted"
  done' "$clang_format" | sort)"
  if [[ -n "$bad" ]]; then
    echo "$bad"
    echo "format: run scripts/lint.sh --fix --no-tidy"
    return 1
  fi
  echo "format: $(cpp_files | wc -l) files, 0 problems"
}

check_words() {
  # Split so that this line does not find itself.
  if git grep -nIE '\b(TO''DO|FIX''ME)\b' -- ':!LICENSE'; then
    echo "words: finish it, or state the limit in the docs"
    return 1
  fi
}

base_revision() {
  local candidate main_branch
  if [[ -n "${FROSTLINE_BASE:-}" ]]; then
    git rev-parse --verify --quiet "$FROSTLINE_BASE^{commit}" && return
  fi
  for main_branch in main origin/main; do
    candidate="$(git merge-base HEAD "$main_branch" 2>/dev/null)" || continue
    if [[ "$candidate" != "$(git rev-parse HEAD)" ]]; then
      echo "$candidate"
      return
    fi
  done
  git rev-parse --verify --quiet 'HEAD~1^{commit}' || git hash-object -t tree /dev/null
}

# A changed header is checked through the source file of the same name.
changed_files() {
  { git diff --name-only "$(base_revision)" -- '*.h' '*.cc'; } | while read -r file; do
    for candidate in "$file" "${file%.h}.cc"; do
      if [[ "$candidate" == *.cc && -f "$candidate" ]]; then echo "$candidate"; fi
    done
  done | sort -u
}

check_tidy() {
  local database="$build_dir/compile_commands.json" known files
  if [[ ! -f "$database" ]]; then
    echo "tidy: $database is missing; configure first: cmake --preset dev"
    return 1
  fi
  known="$(python3 -c 'import json, os, sys
root = os.getcwd() + os.sep
for entry in json.load(open(sys.argv[1])):
    path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
    if path.startswith(root):
        print(path[len(root):])' "$database" | sort -u)"
  if ((all)); then
    files="$(comm -12 <(echo "$known") <(cpp_files | sort))"
  else
    files="$(comm -12 <(echo "$known") <(changed_files))"
  fi
  local status=0
  if [[ -n "$files" ]]; then
    xargs -P "$jobs" -n 1 "$clang_tidy" -p "$build_dir" --quiet \
      --extra-arg=-Wno-unknown-warning-option <<<"$files" 2> >(grep -vE \
      '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter' >&2 || true) || status=1
  fi
  echo "tidy: $(grep -c . <<<"$files" || true) files, $( ((status)) && echo "problems above" || echo "0 problems")"
  return "$status"
}

if ((sources)); then
  check_format || failed=1
  python3 scripts/check_layers.py || failed=1
  check_words || failed=1
fi
if ((tidy)); then
  check_tidy || failed=1
fi
exit "$failed"

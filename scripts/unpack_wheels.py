#!/usr/bin/env python3
"""Unpacks the pinned wheels of a requirements file into a folder, once per pin.

Usage: unpack_wheels.py --requirements FILE --cache DIR --into DIR [--check | --missing]

Each wheel is found in the cache by its SHA-256, never by its name alone. `--check` changes nothing
and exits 1 when a wheel is missing from the target folder or was unpacked from another pin.
`--missing` changes nothing and prints, as requirements, the pins that are neither unpacked nor in
the cache.
"""

import argparse
import fnmatch
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

# Folder under the target, then the members to keep (shell patterns; `*` crosses `/`), then those
# to leave out all the same. The CUDA run time lies beside torch because libtorch_cpu's run path
# looks for it at $ORIGIN/../../nvidia/cu13/lib.
SELECTIONS = {
    "torch": (
        "torch",
        ["torch/lib/*.so*", "torch/include/*", "torch/version.py", "*.dist-info/*"],
        ["torch/lib/libtorch_cuda*", "torch/lib/libtorch_nvshmem*", "torch/lib/libtorch_python*",
         "torch/lib/libcaffe2_nvrtc*", "torch/lib/libc10_cuda*", "torch/lib/libshm*",
         "torch/lib/libtorch.so", "torch/lib/libtorch_global_deps*", "*.dist-info/RECORD"],
    ),
    "nvidia-cuda-runtime": ("torch", ["nvidia/cu13/lib/libcudart.so*", "nvidia/cu13/include/*",
                                      "*.dist-info/*"], ["*.dist-info/RECORD"]),
    "nvidia-cuda-cupti": ("torch", ["nvidia/cu13/lib/libcupti.so*", "*.dist-info/*"],
                          ["*.dist-info/RECORD"]),
    "openvino": (
        "openvino",
        ["openvino/libs/*", "openvino/include/*", "openvino/cmake/*", "*.dist-info/*"],
        ["*.dist-info/RECORD"],
    ),
    "mujoco": ("mujoco", ["mujoco/libmujoco.so*", "mujoco/include/*", "*.dist-info/*"],
               ["*.dist-info/RECORD"]),
    "pyarrow": (
        "pyarrow",
        ["pyarrow/libarrow.so*", "pyarrow/libarrow_compute.so*", "pyarrow/libparquet.so*",
         "pyarrow/include/*", "*.dist-info/*"],
        ["*.dist-info/RECORD"],
    ),
    "gym-aloha": ("gym-aloha", ["gym_aloha/assets/*", "*.dist-info/*"], ["*.dist-info/RECORD"]),
    "clang-format": ("clang-format", ["clang_format/data/*", "*.dist-info/*"],
                     ["*.dist-info/RECORD"]),
    "clang-tidy": ("clang-tidy", ["clang_tidy/data/*", "*.dist-info/*"], ["*.dist-info/RECORD"]),
}


def read_pins(requirements):
    """Returns [(name, version, sha256)] in the file's order."""
    text = requirements.read_text(encoding="utf-8").replace("\\\n", " ")
    pins = []
    for line in text.splitlines():
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)==(\S+)\s+--hash=sha256:([0-9a-f]{64})", line)
        if match is None:
            sys.exit(f"{requirements}: expected 'name==version --hash=sha256:HEX': {line!r}")
        pins.append(match.groups())
    return pins


def selection_digest(name):
    return hashlib.sha256(json.dumps(SELECTIONS[name]).encode()).hexdigest()[:16]


def stamp_path(into, name):
    return into / ".stamps" / f"{name}.json"


def is_current(into, name, version, sha256):
    try:
        stamp = json.loads(stamp_path(into, name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return (stamp["version"], stamp["sha256"], stamp["selection"]) == (
        version, sha256, selection_digest(name))


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def find_wheel(cache, name, version, sha256):
    prefix = f"{re.sub('[-_.]+', '_', name)}-{version}-".lower()
    for path in sorted(cache.glob("*.whl")):
        if path.name.lower().startswith(prefix):
            if sha256_of(path) == sha256:
                return path
    return None


def remove_previous(into, name):
    try:
        stamp = json.loads(stamp_path(into, name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    stamp_path(into, name).unlink()
    for member in stamp["members"]:
        (into / stamp["folder"] / member).unlink(missing_ok=True)


def extract(archive, info, destination):
    destination.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=destination.parent, prefix=".partial-")
    try:
        with archive.open(info) as source, os.fdopen(handle, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        os.chmod(partial, 0o755 if (info.external_attr >> 16) & 0o111 else 0o644)
        os.replace(partial, destination)
    except BaseException:
        os.unlink(partial)
        raise


def unpack(into, name, version, sha256, wheel):
    folder, keep, leave = SELECTIONS[name]
    remove_previous(into, name)
    root = (into / folder).resolve()
    members = []
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            member = info.filename
            if info.is_dir() or not any(fnmatch.fnmatchcase(member, p) for p in keep):
                continue
            if any(fnmatch.fnmatchcase(member, p) for p in leave):
                continue
            destination = (root / member).resolve()
            if not destination.is_relative_to(root):
                sys.exit(f"{wheel}: member leaves the folder: {member}")
            extract(archive, info, destination)
            members.append(member)
    for pattern in keep:
        if not any(fnmatch.fnmatchcase(member, pattern) for member in members):
            sys.exit(f"{wheel}: nothing matches {pattern}; update SELECTIONS in {__file__}")
    stamp = {"version": version, "sha256": sha256, "selection": selection_digest(name),
             "folder": folder, "members": members}
    stamp_path(into, name).parent.mkdir(parents=True, exist_ok=True)
    partial = stamp_path(into, name).with_suffix(".partial")
    partial.write_text(json.dumps(stamp), encoding="utf-8")
    os.replace(partial, stamp_path(into, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requirements", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--missing", action="store_true")
    arguments = parser.parse_args()

    stale = [pin for pin in read_pins(arguments.requirements)
             if not is_current(arguments.into, *pin)]
    if arguments.check:
        sys.exit(1 if stale else 0)
    if arguments.missing:
        for name, version, sha256 in stale:
            if find_wheel(arguments.cache, name, version, sha256) is None:
                print(f"{name}=={version} --hash=sha256:{sha256}")
        return
    for name, version, sha256 in stale:
        wheel = find_wheel(arguments.cache, name, version, sha256)
        if wheel is None:
            sys.exit(f"no wheel of {name} {version} with the pinned hash in {arguments.cache}; "
                     "run scripts/setup.sh, which downloads it")
        print(f"unpacking {name} {version}", file=sys.stderr, flush=True)
        unpack(arguments.into, name, version, sha256, wheel)


if __name__ == "__main__":
    main()

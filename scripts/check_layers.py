#!/usr/bin/env python3
"""Checks the includes under src/frostline/ against the layer table.

Two rules: which module may include which, and which folder owns which third-party library. The
table below is the same as the one in CONTRIBUTING.md; changing it needs a decision record.

Usage: check_layers.py [ROOT]    (exit status 1 when anything breaks a rule)
"""

import re
import sys
from pathlib import Path

# Module -> modules it may use besides itself and core.
MAY_USE = {
    "core": [],
    "graph": [],
    "data": [],
    "power": [],
    "sim": [],
    "policy": [],
    "accel": ["graph"],
    "quantise": ["graph", "accel"],
    "split": ["graph", "policy"],
    "pipeline": ["data", "split", "accel", "power"],
    "train": ["data", "accel", "split", "policy", "pipeline", "power"],
    "eval": ["data", "sim", "power"],
    "plan": ["accel", "pipeline", "power"],
    "study": ["graph", "data", "power", "sim", "policy", "quantise", "accel", "split", "pipeline",
              "train", "eval", "plan"],
    "cli": ["graph", "data", "power", "sim", "policy", "quantise", "accel", "split", "pipeline",
            "train", "eval", "plan", "study"],
}

# Library, pattern of its headers, folders under src/frostline/ that may include it. fmt stands in
# for std::format, which gcc 12 lacks, and is open to all.
OWNERS = [
    ("nlohmann-json", r"nlohmann/", ["core"]),
    ("toml++", r"toml\+\+/", ["core"]),
    ("spdlog", r"spdlog/", ["core"]),
    ("protozero", r"protozero/", ["graph"]),
    ("Arrow", r"(arrow|parquet)/", ["data"]),
    ("FFmpeg", r"lib(av|sw)[a-z]+/", ["data"]),
    ("HDF5", r"hdf5", ["data"]),
    ("MuJoCo", r"mujoco/", ["sim"]),
    ("EGL", r"(EGL|GL|GLES2|GLES3|KHR)/", ["sim"]),
    ("libtorch", r"(ATen|torch|c10|caffe2)/",
     ["policy", "train", "study", "accel/torch", "split/torch"]),
    ("CUDA", r"(cuda[a-z_]*|cublas[a-z_]*|nvtx3/.*)\.h", ["core/cuda", "accel/torch",
                                                        "train/cuda"]),
    ("OpenVINO", r"openvino/", ["accel/openvino"]),
    ("CLI11", r"CLI/", ["cli"]),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def check_module_edge(module, target):
    if module not in MAY_USE:
        return f"module '{module}' is not in the layer table of scripts/check_layers.py"
    if target in (module, "core") or target in MAY_USE[module]:
        return None
    if target not in MAY_USE:
        return f"includes unknown module '{target}'"
    allowed = ", ".join([module, "core", *MAY_USE[module]])
    return f"module '{module}' may not use '{target}' (it may use: {allowed})"


def check_third_party(folder, header):
    for library, pattern, owners in OWNERS:
        if re.match(pattern, header) is None:
            continue
        if not any((folder + "/").startswith(owner + "/") for owner in owners):
            places = ", ".join(owners)
            return f"{library} may only be included in: {places}"
    return None


def check_file(path, source):
    relative = path.relative_to(source)
    module = relative.parts[0]
    folder = relative.parent.as_posix()
    for number, bracket, header in includes(path):
        problem = None
        if header == "frostline/version.h":
            continue
        if header.startswith("frostline/"):
            problem = check_module_edge(module, header.split("/")[1])
            if problem is None and bracket == "<":
                problem = "the project's own headers are included with quotes"
        elif bracket == '"':
            problem = f'write the path from the include root: "frostline/{folder}/{header}"'
        else:
            problem = check_third_party(folder, header)
        if problem is not None:
            yield f"{path}:{number}: {problem}: {header}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    source = root / "src" / "frostline"
    problems = []
    num_files = 0
    for path in sorted(source.rglob("*")):
        if path.suffix in (".h", ".cc", ".cu") and path.is_file():
            num_files += 1
            problems.extend(check_file(path, source))
    for problem in problems:
        print(problem)
    print(f"layers: {num_files} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

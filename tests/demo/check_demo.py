#!/usr/bin/env python3
"""Runs `frostline demo --quick --json` and checks what it gave: pipeline, parity and report.

Success rates are checked for their shape alone: a quick demo trains too little to succeed.

Usage: check_demo.py FROSTLINE OUT       runs the demo into OUT
       check_demo.py --document FILE     checks the document of an earlier run
"""

import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

CONDITIONS = [("inline", None), ("live", "L4"), ("cached", "L4")]
TENSORS = ["x_0", "x_1", "x_2", "x_3", "x_4"]
VERDICTS = {"no_difference_shown", "a_better", "b_better", "non_inferior"}
KINDS = {"measured", "estimated", "declared", "unmeasured"}
MIN_COSINE = 0.98

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def has_keys(entry, keys, where):
    missing = [key for key in keys if key not in entry]
    expect(not missing, f"{where}: missing {', '.join(missing)}")
    return not missing


def is_positive(value):
    return isinstance(value, (int, float)) and math.isfinite(value) and value > 0


def check_success(success, where):
    if not has_keys(success or {}, ["k", "n", "low", "high"], where):
        return
    expect(success["n"] > 0, f"{where}: no rollout counted")
    expect(0 <= success["k"] <= success["n"], f"{where}: k={success['k']} n={success['n']}")
    expect(0 <= success["low"] <= success["high"] <= 1, f"{where}: interval {success}")


def check_energy(energy, where):
    if not has_keys(energy or {}, ["value", "kind", "domains"], where):
        return
    expect(energy["kind"] in KINDS, f"{where}: kind {energy['kind']}")
    expect((energy["value"] is None) == (energy["kind"] == "unmeasured"),
           f"{where}: value {energy['value']} of kind {energy['kind']}")
    expect(energy["value"] is None or is_positive(energy["value"]), f"{where}: {energy['value']}")
    if energy["kind"] == "unmeasured":
        expect(bool(energy.get("reason")), f"{where}: unmeasured without a reason")


def check_condition(condition, source, boundary):
    where = f"condition {condition.get('name')}"
    keys = ["name", "boundary", "source", "backend", "encoder_precision", "train_precision", "steps",
            "ms_per_sample", "samples_per_s", "j_per_sample", "peak_memory_bytes", "success"]
    if not has_keys(condition, keys, where):
        return
    expect(condition["source"] == source, f"{where}: source {condition['source']} != {source}")
    expect(condition["boundary"] == boundary, f"{where}: boundary {condition['boundary']}")
    for key in ("steps", "ms_per_sample", "samples_per_s", "peak_memory_bytes"):
        expect(is_positive(condition[key]), f"{where}: {key}={condition[key]}")
    expect(condition["encoder_precision"] == ("fp32" if boundary is None else "int8"),
           f"{where}: encoder_precision {condition['encoder_precision']}")
    check_energy(condition["j_per_sample"], where)
    check_success(condition["success"], where)


def check_conditions(conditions):
    expect(len(conditions) == 3, f"{len(conditions)} conditions instead of 3")
    for condition, (source, boundary) in zip(conditions, CONDITIONS):
        check_condition(condition, source, boundary)
    names = [condition.get("name") for condition in conditions]
    expect(names[:1] == ["gpu_only"], f"the first condition is {names[:1]}")
    expect(len(set(names)) == len(names), f"names occur twice: {names}")
    expect(len({condition.get("steps") for condition in conditions}) == 1,
           "the conditions took different numbers of steps")
    return names


def check_parity(rows):
    expect([row.get("tensor") for row in rows] == TENSORS,
           f"parity of {[row.get('tensor') for row in rows]} instead of {TENSORS}")
    for row in rows:
        where = f"parity of {row.get('tensor')}"
        if has_keys(row, ["boundary", "tensor", "cosine", "relative_error"], where):
            expect(MIN_COSINE <= row["cosine"] <= 1 + 1e-6, f"{where}: cosine {row['cosine']}")
            expect(0 <= row["relative_error"] < 1, f"{where}: error {row['relative_error']}")


def check_pairs(pairs, names):
    expect([(pair.get("a"), pair.get("b")) for pair in pairs] ==
           [(names[0], name) for name in names[1:]], "a pair for each condition but the first")
    for pair in pairs:
        where = f"pair {pair.get('a')} {pair.get('b')}"
        if not has_keys(pair, ["n", "a_only", "b_only", "difference", "low", "high", "p",
                               "verdict"], where):
            continue
        expect(pair["n"] > 0 and pair["a_only"] + pair["b_only"] <= pair["n"], f"{where}: {pair}")
        expect(-1 <= pair["low"] <= pair["difference"] <= pair["high"] <= 1, f"{where}: {pair}")
        expect(0 <= pair["p"] <= 1, f"{where}: p={pair['p']}")
        expect(pair["verdict"] in VERDICTS, f"{where}: verdict {pair['verdict']}")


def check_controls(controls, names):
    expect([control.get("name") for control in controls] == ["image_shuffle", "swap_fp32"],
           f"controls {[control.get('name') for control in controls]}")
    for control in controls:
        where = f"control {control.get('name')}"
        expect(control.get("condition") in names, f"{where}: condition {control.get('condition')}")
        check_success(control.get("success"), where)


def check_report(path):
    expect(path.is_absolute(), f"report path is not absolute: {path}")
    if not path.is_file():
        failures.append(f"no report: {path}")
        return
    html = path.read_text(encoding="utf-8")
    expect("<svg" in html, "the report has no picture")
    expect(html.rstrip().endswith("</html>"), "the report is cut off")
    expect(not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", html),
           "the report loads something from elsewhere")
    for name in ("eval/outcomes.parquet", "report.json"):
        expect((path.parent / name).is_file(), f"no {name} beside the report")


def check_document(document):
    if not has_keys(document, ["conditions", "pairs", "parity", "controls", "report"], "document"):
        return
    names = check_conditions(document["conditions"])
    check_parity(document["parity"])
    if names:
        check_pairs(document["pairs"], names)
    check_controls(document["controls"], names)
    check_report(Path(document["report"]))


def run_demo(program, out):
    # A run folder of an earlier build is refused by the trainer, as it should be.
    shutil.rmtree(out, ignore_errors=True)
    ended = subprocess.run([program, "demo", "--quick", "--json", "--out", out],
                           stdout=subprocess.PIPE, check=False)
    if ended.returncode != 0:
        sys.exit(f"check_demo: the demo ended with {ended.returncode}")
    return ended.stdout.decode("utf-8")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--document":
        text = Path(sys.argv[2]).read_text(encoding="utf-8")
    else:
        text = run_demo(sys.argv[1], sys.argv[2])
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        sys.exit(f"check_demo: stdout is not one JSON document: {error}")
    check_document(document)
    for failure in failures:
        print(f"check_demo: {failure}", file=sys.stderr)
    if failures:
        sys.exit(1)
    print("check_demo: pipeline, parity and report are as they should be")


if __name__ == "__main__":
    main()

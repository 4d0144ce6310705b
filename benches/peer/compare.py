#!/usr/bin/env python3
"""Step time and peak memory of `permafrost train --device cpu` beside PyTorch + transformers + PEFT.

The same random weights at real shapes, the same rows, the same starting adapter, f32 arithmetic, the same threads, in
turns. Every run's losses are held against the other side's before a time is reported. Makes its own Python environment
(target/peer, about 3 GB) with the versions in requirements.txt. Give it a machine with nothing else to do.

    benches/peer/compare.py                              all of docs/performance.md's table
    benches/peer/compare.py --only qwen3.5-0.8b --tokens 256 --masked 75
    benches/peer/compare.py --profile …                  where the time goes, on both sides
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "target" / "peer"
PYTHON = WORK / "venv" / "bin" / "python"
PERMAFROST = ROOT / "target" / "release" / "permafrost"
CASES = [("qwen3.5-0.8b", 256), ("qwen3.5-0.8b", 1024), ("llama-3.2-1b", 256)]
# Both sides sum in f32 in orders of their own; ours keeps weights as FP16 under --precision f16, which BF16 weights of
# ordinary size fit exactly.
LOSS_TOLERANCE = 2e-3


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def set_up():
    if not PYTHON.exists():
        run(sys.executable, "-m", "venv", WORK / "venv")
        run(PYTHON, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt")
    run("cargo", "build", "--quiet", "--release", "--package", "trainer", cwd=ROOT)


def model_folder(preset):
    folder = WORK / preset
    if not (folder / "config.json").exists():
        run(PERMAFROST, "synth", "--preset", preset, "--out", folder, stdout=subprocess.DEVNULL)
    return folder


def rows_file(preset, tokens, masked):
    vocabulary = json.loads((model_folder(preset) / "config.json").read_text())["vocab_size"]
    path = WORK / f"{preset}-{tokens}-{masked}.jsonl"
    dice = random.Random(tokens)
    with path.open("w") as file:
        for _ in range(8):
            ids = [dice.randrange(vocabulary) for _ in range(tokens)]
            hidden = tokens * masked // 100
            file.write(json.dumps({"input_ids": ids, "labels": [-100] * hidden + ids[hidden:]}) + "\n")
    return path


def measured(command, environment=None):
    """Standard output and the peak resident bytes of a process, mapped pages counted."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            sys.exit(f"{command[0]} failed with {process.returncode}:\n{err.read()[-4000:]}")
        return out.read(), usage.ru_maxrss * 1024


def theirs(case, options, *extra):
    preset, rows = case
    adapter = WORK / f"{preset}-adapter"
    out, peak = measured(
        [PYTHON, HERE / "pytorch_step.py", "--model", model_folder(preset), "--rows", rows, "--adapter", adapter]
        + ["--steps", options.steps + 1, "--threads", options.threads, *extra]
    )
    return {**json.loads(out.strip().splitlines()[-1]), "peak": peak}


def ours(case, precision, options, timeline=None):
    preset, rows = case
    with tempfile.TemporaryDirectory() as out:
        command = [PERMAFROST, "train", "--device", "cpu", "--precision", precision, "--model", model_folder(preset)]
        command += ["--data", rows, "--out", out, "--init-adapter", WORK / f"{preset}-adapter", "--no-shuffle"]
        command += ["--batch-rows", 1, "--steps", options.steps + 1, "--lr", "2e-4", "--threads", options.threads]
        command += ["--activation-bytes", "store", "--max-tokens", 4096, "--micro-tokens", 4096]
        if timeline:
            command += ["--timeline", timeline, "--timeline-steps", options.steps + 1]
        _, peak = measured(command)
        steps = [json.loads(line) for line in open(os.path.join(out, "metrics.jsonl"), encoding="utf-8")]
        return {"losses": [s["loss"] for s in steps], "seconds": [s["seconds"] for s in steps], "peak": peak}


def check(name, found, expected):
    worst = max(abs(a - b) for a, b in zip(found["losses"], expected["losses"], strict=True))
    if not worst <= LOSS_TOLERANCE:
        sys.exit(f"{name}: losses {found['losses']} differ from {expected['losses']} by {worst:.1e}; no time is reported")
    return worst


def step_seconds(result):
    """The first step warms up."""
    return statistics.median(result["seconds"][1:])


def flops(preset, tokens, masked, options):
    """Operations of a step that keeps its activations, with the head on the rows that have a target."""
    out, _ = measured([PERMAFROST, "plan", "--preset", preset, "--tokens", tokens, "--json"])
    phases = json.loads(out)["flops"]
    head = sum(phases[phase]["head"] for phase in ("forward", "backward"))
    rest = sum(sum(phases[phase].values()) for phase in ("forward", "backward")) - head
    return rest + head * (100 - masked) / 100, rest + head


def compare(preset, tokens, masked, rate, options):
    case = (preset, rows_file(preset, tokens, masked))
    pairs = []
    worst = 0.0
    for _ in range(options.rounds):
        other = theirs(case, options, *(["--flush-denormals"] if options.flush_denormals else []))
        mine = {precision: ours(case, precision, options) for precision in ("f16", "f32")}
        worst = max(worst, *(check(precision, result, other) for precision, result in mine.items()))
        pairs.append((other, mine))
    seconds = statistics.median(step_seconds(other) for other, _ in pairs)
    least, theirs_least = flops(preset, tokens, masked, options)
    cells = [f"{preset}, {tokens} tokens", f"{masked} %", f"{seconds:.2f} s", f"{max(o['peak'] for o, _ in pairs) / 1e9:.2f} GB"]
    for precision in ("f16", "f32"):
        ratio = statistics.median(step_seconds(m[precision]) / step_seconds(o) for o, m in pairs)
        memory = max(m[precision]["peak"] / o["peak"] for o, m in pairs)
        own = statistics.median(step_seconds(m[precision]) for _, m in pairs)
        peak = max(m[precision]["peak"] for _, m in pairs) / 1e9
        cells += [f"{own:.2f} s", f"**{ratio:.2f}**", f"{peak:.2f} GB", f"**{memory:.2f}**"]
    cells += [f"{least / rate:.2f} s", f"{theirs_least / rate:.2f} s", f"{worst:.0e}"]
    print("| " + " | ".join(cells) + " |", flush=True)


def spans(events, category):
    return sum(e["dur"] for e in events if e.get("cat") == category) / 1e6


def profile(preset, tokens, masked, options):
    """Where a step spends its time, on both sides."""
    case = (preset, rows_file(preset, tokens, masked))
    other = theirs(case, options, "--profile")
    print(f"\n{preset}, {tokens} tokens, {masked} % masked: PyTorch, self time of one profiled step")
    for name, seconds, count in other["profile"]:
        print(f"  {seconds:7.2f} s  {count:6}  {name}")
    with tempfile.TemporaryDirectory() as folder:
        timeline = os.path.join(folder, "timeline.json")
        result = ours(case, "f16", options, timeline)
        events = [e for e in json.load(open(timeline, encoding="utf-8"))["traceEvents"] if e["ph"] == "X"]
    steps = len(result["seconds"])
    print(f"permafrost --precision f16, mean of {steps} steps")
    for category in sorted({e["cat"] for e in events}):
        print(f"  {spans(events, category) / steps:7.2f} s  {category}")
    alone = {}
    for e in events:
        if e["cat"] == "CPU alone":
            name = " ".join(part for part in e["name"].replace(",", "").split() if not part.isdigit())
            name = ".".join(part for part in name.split(".") if not part.isdigit())
            alone[name] = alone.get(name, 0) + e["dur"] / 1e6 / steps
    for name, seconds in sorted(alone.items(), key=lambda item: -item[1])[:8]:
        print(f"  {seconds:7.2f} s    of it {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="one preset")
    parser.add_argument("--tokens", type=int, help="one length")
    parser.add_argument("--masked", type=int, choices=(25, 75), help="one share of tokens without a target, per cent")
    parser.add_argument("--steps", type=int, default=3, help="timed steps of a run, after one that warms up")
    parser.add_argument("--rounds", type=int, default=1, help="runs of either side, in turns")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--flush-denormals", action="store_true", help="let PyTorch treat denormal numbers as zero")
    parser.add_argument("--profile", action="store_true", help="where the time goes instead of the table")
    options = parser.parse_args()
    set_up()
    cases = [(preset, tokens) for preset, tokens in CASES if options.only in (None, preset) and options.tokens in (None, tokens)]
    shares = [share for share in (75, 25) if options.masked in (None, share)]
    if not cases:
        sys.exit(f"no case is {options.only} at {options.tokens} tokens; there are {CASES}")
    if options.profile:
        for preset, tokens in cases:
            for masked in shares:
                profile(preset, tokens, masked, options)
        return
    out, _ = measured([PYTHON, HERE / "peak_rate.py", options.threads])
    rate = float(out)
    print(f"f32 products reach {rate / 1e9:.0f} GFLOP/s on {options.threads} threads\n")
    head = ["model", "masked", "PyTorch step", "peak"]
    head += [f"{p} {what}" for p in ("f16", "f32") for what in ("step", "ratio", "peak", "ratio")]
    head += ["our operations at that rate", "all rows through the head", "losses differ by"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
    for preset, tokens in cases:
        for masked in shares:
            compare(preset, tokens, masked, rate, options)


main()

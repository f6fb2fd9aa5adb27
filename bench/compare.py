"""Compares this tree with another revision on the parts of bench.send, in turns: A B A B ...

    python -m bench.compare 549f2d1 [--only one,later] [--rounds 3] [--size 1]

The bench code is this tree's for both; the other revision provides the server, without a page.
That server runs in this environment if the versions in its lock are installed here, else in a new
one.
"""

import argparse
import io
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from importlib import metadata
from pathlib import Path

import uvloop

from bench import machine, send
from bench.launch import THIS_TREE, Build, run_hitsend
from bench.machine import ROOT, Figure


def make_build(revision: str, folder: Path) -> Build:
    root = folder / "tree"
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", revision], stdout=subprocess.PIPE, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(root, filter="data")
    lock = root / "requirements" / "run.lock"
    python = sys.executable if is_installed(lock) else make_environment(lock, folder / "venv")
    return Build(root, python, read_settings(THIS_TREE) - read_settings(Build(root, python)))


def is_installed(lock: Path) -> bool:
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)(.*)", lock.read_text(), re.MULTILINE)
    return all(
        [dist.version for dist in metadata.distributions(name=name)][:1] == [version]
        for name, version, condition in pins
        if ";" not in condition  # for other systems and versions of Python
    )


def make_environment(lock: Path, folder: Path) -> str:
    print(f"Installing {lock.name} of the other revision", flush=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--no-deps", "--require-hashes", "-r", lock], check=True)
    return python


def read_settings(build: Build) -> frozenset[str]:
    """Names of the settings this build knows. It refuses to start with any other."""
    table = run_hitsend(build, "settings")
    return frozenset(line.split()[0] for line in table.splitlines()[1:] if line.strip())


Values = dict[str, list[float]]
"""Figures of one build by name, one value for each round."""


async def compare(args: argparse.Namespace, other: Build) -> tuple[Values, Values]:
    theirs: Values = defaultdict(list)
    ours: Values = defaultdict(list)
    for part in args.only or send.PARTS:
        for number in range(1, args.rounds + 1):
            print(f"{part}, round {number} of {args.rounds}", file=sys.stderr, flush=True)
            for build, values in ((other, theirs), (THIS_TREE, ours)):
                for figure in await send.PARTS[part](build, args.size):
                    values[figure.name].append(figure.value)
    return theirs, ours


def print_table(revision: str, theirs: Values, ours: Values) -> None:
    width = max(map(len, ours))
    print(f"{'median':<{width}} {revision[:12]:>12} {'this tree':>12} {'ratio':>7}   spread")
    for name in ours:
        before, after = statistics.median(theirs[name]), statistics.median(ours[name])
        pairs = zip(theirs[name], ours[name], strict=True)
        ratios = [b / a if a else float("nan") for a, b in pairs]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(
            f"{name:<{width}} {before:>12,.1f} {after:>12,.1f} "
            f"{statistics.median(ratios):>7.2f}   {spread}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("revision", metavar="REV")
    parser.add_argument("--rounds", type=int, default=3)
    send.add_part_flags(parser)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = uvloop.run(compare(args, make_build(args.revision, Path(folder))))
    print_table(args.revision, theirs, ours)
    figures = [Figure(name, statistics.median(values)) for name, values in ours.items()]
    rows = [{"name": name, args.revision: theirs[name], "this tree": ours[name]} for name in ours]
    machine.report(f"compare-{args.revision}", figures, rows)


if __name__ == "__main__":
    main()

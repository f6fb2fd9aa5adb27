"""Runs every bench, one after the other: `python -m bench`. A bench that fails stops no other."""

import subprocess
import sys

BENCHES = (
    "start",
    "send",
    "burst",
    "tool_rounds",
    "scale",
    "delivery",
    "engine",
    "page",
    "warm",
    "context",
    "storage",
)


def main() -> None:
    failed = []
    for name in BENCHES:
        print(f"\n==> bench.{name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"\nThese did not run to their end: {', '.join(failed)}.")


if __name__ == "__main__":
    main()

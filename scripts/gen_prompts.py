"""Writes src/hitsend/prompts/library.lock: each prompt's version, and a fingerprint of its text.

Fails, and writes nothing, if a text changed but its version did not: a version number must always
mean the same text. With --check it only compares.
"""

import sys
from pathlib import Path

from hitsend.prompts import shipped_prompts
from hitsend.prompts.files import fingerprint

LOCK = Path(__file__).parent.parent / "src/hitsend/prompts/library.lock"


def find_problems(locked: dict[str, tuple[int, str]], now: dict[str, tuple[int, str]]) -> list[str]:
    """Returns the problems that writing the file again cannot fix."""
    found = []
    for name, (version, text) in now.items():
        version_before, text_before = locked.get(name, (0, ""))
        if version < version_before:
            found.append(f"{name}: version {version} was {version_before} before.")
        elif version == version_before and text != text_before:
            found.append(f"{name}: its text has changed. Make its version {version + 1}.")
    return found


def parse_lock(lock: str) -> dict[str, tuple[int, str]]:
    lines = (line.split() for line in lock.splitlines())
    return {name: (int(version), text) for name, version, text in lines}


def format_lock(prompts: dict[str, tuple[int, str]]) -> str:
    return "".join(f"{name} {version} {text}\n" for name, (version, text) in prompts.items())


def main() -> int:
    before = LOCK.read_text() if LOCK.exists() else ""
    now = {
        name: (prompt.version, fingerprint(prompt)) for name, prompt in shipped_prompts().items()
    }
    found = find_problems(parse_lock(before), now)
    if not found and "--check" not in sys.argv[1:]:
        LOCK.write_text(format_lock(now))
    elif not found and before != format_lock(now):
        found = ["library.lock is not what the prompts say: run `make generate`."]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

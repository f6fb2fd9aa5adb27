"""Write src/hitsend/prompts/library.lock: each prompt's version, and a fingerprint of its text.

A text that changed while its version did not is refused, and nothing is written: what a turn says
it was asked with has to mean one text. With --check nothing is written at all.
"""

import sys
from pathlib import Path

from hitsend.prompts import shipped
from hitsend.prompts.files import fingerprint

LOCK = Path(__file__).parent.parent / "src/hitsend/prompts/library.lock"


def problems(locked: dict[str, tuple[int, str]], now: dict[str, tuple[int, str]]) -> list[str]:
    """What cannot be mended by writing the file anew."""
    found = []
    for name, (version, text) in now.items():
        version_before, text_before = locked.get(name, (0, ""))
        if version < version_before:
            found.append(f"{name}: version {version} was {version_before} before.")
        elif version == version_before and text != text_before:
            found.append(f"{name}: its text has changed. Make its version {version + 1}.")
    return found


def read(lock: str) -> dict[str, tuple[int, str]]:
    lines = (line.split() for line in lock.splitlines())
    return {name: (int(version), text) for name, version, text in lines}


def written(prompts: dict[str, tuple[int, str]]) -> str:
    return "".join(f"{name} {version} {text}\n" for name, (version, text) in prompts.items())


def main() -> int:
    before = LOCK.read_text() if LOCK.exists() else ""
    now = {name: (prompt.version, fingerprint(prompt)) for name, prompt in shipped().items()}
    found = problems(read(before), now)
    if not found and "--check" not in sys.argv[1:]:
        LOCK.write_text(written(now))
    elif not found and before != written(now):
        found = ["library.lock is not what the prompts say: run `make generate`."]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

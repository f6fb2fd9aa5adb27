"""Writes src/hitsend/safety/rules.lock: each rule's version, and fingerprints of it and its cases.

Fails, and writes nothing, if a case of a rule does not hold, or if a rule changed but not its
version and its cases. With --check it only compares.
"""

import sys
from pathlib import Path
from typing import NamedTuple

from hitsend.safety.rules import find_broken_cases, fingerprint, shipped_rules

LOCK = Path(__file__).parent.parent / "src/hitsend/safety/rules.lock"


class Locked(NamedTuple):
    version: int
    rule: str
    cases: str


def find_problems(locked: dict[str, Locked], now: dict[str, Locked]) -> list[str]:
    """Returns the problems that writing the file again cannot fix."""
    found = []
    for name, rule in now.items():
        before = locked.get(name, Locked(0, "", ""))
        if rule.version < before.version:
            found.append(f"{name}: version {rule.version} was {before.version} before.")
        elif rule.rule != before.rule and rule.version == before.version:
            found.append(f"{name}: the rule has changed. Make its version {rule.version + 1}.")
        if rule.rule != before.rule and rule.cases == before.cases:
            found.append(f"{name}: the rule has changed. Add a case that shows how.")
    return found


def parse_lock(lock: str) -> dict[str, Locked]:
    lines = (line.split() for line in lock.splitlines())
    return {name: Locked(int(version), rule, cases) for name, version, rule, cases in lines}


def format_lock(rules: dict[str, Locked]) -> str:
    return "".join(
        f"{name} {rule.version} {rule.rule} {rule.cases}\n" for name, rule in rules.items()
    )


def main() -> int:
    before = LOCK.read_text() if LOCK.exists() else ""
    rules = shipped_rules().rules
    now = {rule.id: Locked(rule.version, *fingerprint(rule)) for rule in rules}
    found = [problem for rule in rules for problem in find_broken_cases(rule)]
    found += find_problems(parse_lock(before), now)
    if not found and "--check" not in sys.argv[1:]:
        LOCK.write_text(format_lock(now))
    elif not found and before != format_lock(now):
        found = ["rules.lock is not what the rules say: run `make generate`."]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

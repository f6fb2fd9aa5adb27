"""Writes web/src/safety/patterns.gen.ts: the patterns of secrets, as the page uses them.

With --check it writes nothing and fails when the file is out of date.
"""

import json
import sys
from pathlib import Path
from typing import get_args

from hitsend.safety import SecretKind, secrets

FILE = Path(__file__).parent.parent / "web/src/safety/patterns.gen.ts"
HEADER = "// Written by `make generate` from src/hitsend/safety/secrets.py. Do not edit.\n"


def generate() -> str:
    kinds = " | ".join(f"'{kind}'" for kind in get_args(SecretKind))
    patterns = "".join(
        f"\t{kind}: new RegExp({json.dumps(pattern)}, 'g'),\n"
        for kind, pattern in secrets.PATTERNS.items()
    )
    return (
        f"{HEADER}/* prettier-ignore */\nexport type SecretKind = {kinds};\n\n"
        f"/* prettier-ignore */\nexport const PATTERNS: Record<SecretKind, RegExp> = {{\n"
        f"{patterns.removesuffix(',' + chr(10))}\n}};\n\n"
        f"/* prettier-ignore */\n"
        f"export const CARD = new RegExp({json.dumps('^' + secrets.CARD_PREFIX + '$')});\n\n"
        f"export const MIN_DISTINCT = {secrets.MIN_DISTINCT};\n"
        f"export const NUM_SHOWN = {secrets.NUM_SHOWN};\n"
    )


def main() -> int:
    text = generate()
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text)
        return 0
    if FILE.exists() and FILE.read_text() == text:
        return 0
    print(f"{FILE.name} is out of date: run `make generate`.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""Writes what web/src/safety/ shares with the server: patterns of secrets, and common passwords.

With --check it writes nothing and fails when a file is out of date.
"""

import json
import sys
from pathlib import Path
from typing import get_args

from hitsend.credentials import MIN_PASSWORD_CHARS
from hitsend.safety import SecretKind, passwords, secrets

FOLDER = Path(__file__).parent.parent / "web/src/safety"
HEADER = "// Written by `make generate` from src/hitsend/safety/{}.py. Do not edit.\n"
ONE_LINE = "/* prettier-ignore */\n"


def generate_patterns() -> str:
    kinds = " | ".join(f"'{kind}'" for kind in get_args(SecretKind))
    patterns = "".join(
        f"\t{kind}: new RegExp({json.dumps(pattern)}, 'g'),\n"
        for kind, pattern in secrets.PATTERNS.items()
    )
    return (
        f"{HEADER.format('secrets')}{ONE_LINE}export type SecretKind = {kinds};\n\n"
        f"{ONE_LINE}export const PATTERNS: Record<SecretKind, RegExp> = {{\n"
        f"{patterns.removesuffix(',' + chr(10))}\n}};\n\n"
        f"{ONE_LINE}"
        f"export const CARD = new RegExp({json.dumps('^' + secrets.CARD_PREFIX + '$')});\n\n"
        f"export const MIN_DISTINCT = {secrets.MIN_DISTINCT};\n"
        f"export const NUM_SHOWN = {secrets.NUM_SHOWN};\n"
    )


def generate_passwords() -> str:
    look_alikes = [{**passwords.LOOK_ALIKES, "1": one} for one in passwords.ONE]
    lists = {
        "WORDS": passwords.WORDS,
        "SEQUENCES": passwords.SEQUENCES,
        "LOOK_ALIKES": look_alikes,
    }
    types = {"WORDS": "string[]", "SEQUENCES": "string[]"}
    return (
        HEADER.format("passwords")
        + "".join(
            f"{ONE_LINE}export const {name}: {types.get(name, 'Record<string, string>[]')} = "
            f"{json.dumps(values, ensure_ascii=False)};\n\n"
            for name, values in lists.items()
        )
        + f"export const MIN_PASSWORD_CHARS = {MIN_PASSWORD_CHARS};\n"
        f"export const MIN_STRENGTH = {passwords.MIN_STRENGTH};\n"
        f"export const PIECE_STRENGTH = {passwords.PIECE_STRENGTH};\n"
        f"export const MIN_PIECE_CHARS = {passwords.MIN_PIECE_CHARS};\n"
    )


FILES = {
    FOLDER / "patterns.gen.ts": generate_patterns,
    FOLDER / "commonPasswords.gen.ts": generate_passwords,
}


def main() -> int:
    is_check = "--check" in sys.argv[1:]
    for file, generate in FILES.items():
        text = generate()
        if not is_check:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{file.name} is out of date: run `make generate`.", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

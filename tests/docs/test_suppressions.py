"""The allowed linter suppressions, each with its reason."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]

SUPPRESSION = re.compile(
    r"(?:#|//|/\*|<!--)\s*(type: ignore|noqa|pragma: no cover|eslint-disable|"
    r"@ts-(?:ignore|expect-error|nocheck)|svelte-ignore)"
)

SCROLLS = "what scrolls has to take the keyboard's focus, or arrow keys cannot scroll it"

ALLOWED: dict[tuple[str, str], tuple[int, str]] = {
    ("src/hitsend/store/threads.py", "noqa"): (
        1,
        "a thread hands every error to the task that waits for it",
    ),
    ("web/src/chat/SlashMenu.svelte", "svelte-ignore"): (
        1,
        "the keys of a listbox are heard by the field that owns it",
    ),
    ("web/src/chat/VirtualList.svelte", "svelte-ignore"): (1, SCROLLS),
    ("web/src/inspector/Tokens.svelte", "svelte-ignore"): (
        1,
        "the keys of a listbox are heard by the list, not by each token",
    ),
    ("web/src/memory/MemoryItem.svelte", "svelte-ignore"): (
        1,
        "what Escape means in a field is heard by the form around it",
    ),
    ("web/src/moderation/OpenReview.svelte", "svelte-ignore"): (
        1,
        "its shortcuts are heard by the review around its fields",
    ),
    ("web/src/settings/ImportExport.svelte", "svelte-ignore"): (
        1,
        "a place to drop a file on; the keyboard has the button in it",
    ),
    ("web/src/settings/KeyExample.svelte", "svelte-ignore"): (1, SCROLLS),
    ("web/src/settings/ServerCalls.svelte", "svelte-ignore"): (1, SCROLLS),
    ("web/src/tokens/TokenList.svelte", "svelte-ignore"): (
        1,
        "the keys of a listbox are heard by the list, not by each token",
    ),
}
"""File and suppression: how often, and why."""


def test_every_suppression_is_known_and_has_a_reason() -> None:
    assert find_suppressions() == {place: times for place, (times, _) in ALLOWED.items()}


def find_suppressions() -> Counter[tuple[str, str]]:
    places = Counter[tuple[str, str]]()
    for path in checked_files():
        for match in SUPPRESSION.finditer(path.read_text()):
            places[path.relative_to(ROOT).as_posix(), match[1]] += 1
    return places


def checked_files() -> list[Path]:
    python = [
        path for top in ("src", "tests", "bench", "scripts") for path in (ROOT / top).rglob("*.py")
    ]
    web = [path for path in (ROOT / "web/src").rglob("*") if path.suffix in (".ts", ".svelte")]
    return [path for path in python + web if path != Path(__file__)]

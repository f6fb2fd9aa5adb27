"""Obeys robots.txt (RFC 9309), which says what programs may fetch from a host.

Our own parser, because patterns are matched in linear time here, whatever a host writes.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

import httpx2
import msgspec
from cachetools import TTLCache

from hitsend.egress import Egress, Limits
from hitsend.errors import Refused, TooLarge, Unavailable

NAME = "hitsend"
"""The product token by which robots.txt names us."""
LIMITS = Limits(max_bytes=600_000, total_s=8.0, silence_s=5.0)
KEPT_S = 3600.0
MAX_HOSTS = 500
MAX_RULES = 2_000
"""Of a host. Further ones are not read."""

LINE = re.compile(r"\s*([A-Za-z-]+)\s*:\s*([^#]*)")
ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
PLAIN = re.compile(r"[A-Za-z0-9._~-]")


class Rule(msgspec.Struct, frozen=True):
    is_allowed: bool
    parts: Sequence[str]
    """What stands between the stars."""
    is_anchored: bool
    """Whether the pattern ends where the path does."""
    num_chars: int

    def matches(self, path: str) -> bool:
        first, *others = self.parts
        if not path.startswith(first):
            return False
        at = len(first)
        if self.is_anchored and not others:
            return at == len(path)
        last = others.pop() if self.is_anchored else None
        for part in others:
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return last is None or (len(path) - len(last) >= at and path.endswith(last))


class Rules(msgspec.Struct, frozen=True):
    """Those of one host that are meant for us."""

    rules: Sequence[Rule] = ()

    def allow(self, path: str) -> bool:
        """The longest pattern that matches decides."""
        path = normalize(path)
        found = [rule for rule in self.rules if rule.matches(path)]
        if not found:
            return True
        return max(found, key=lambda rule: (rule.num_chars, rule.is_allowed)).is_allowed


EVERYTHING = Rules()


class Robots:
    def __init__(self, egress: Egress, user_agent: str) -> None:
        self._egress = egress
        self._headers = {"User-Agent": user_agent, "Accept": "text/plain, */*;q=0.1"}
        self._rules = TTLCache[str, Rules](MAX_HOSTS, KEPT_S)
        """By origin."""

    async def check(self, url: httpx2.URL) -> None:
        """Raises Refused where the host does not want the page to be fetched, and Unavailable
        where it does not say what it wants."""
        origin = url.copy_with(path="/robots.txt", query=None, fragment=None)
        rules = self._rules.get(str(origin))
        if rules is None:
            rules = self._rules[str(origin)] = await self._fetch(origin)
        if not rules.allow(url.raw_path.decode("ascii")):
            raise Refused(
                f"{url.host} does not want programs to read this page (robots.txt).", param="url"
            )

    async def _fetch(self, url: httpx2.URL) -> Rules:
        try:
            response = await self._egress.get(
                url, self._headers, limits=LIMITS, follows_redirects=True
            )
        except TooLarge:
            raise Unavailable(f"The robots.txt of {url.host} is too large.") from None
        status = response.status_code
        if status == 429 or status >= 500:
            raise Unavailable(f"{url.host} answered {status} when it was asked for robots.txt.")
        if status != 200:
            return EVERYTHING
        text = response.content.decode(errors="replace")
        return await asyncio.to_thread(parse_robots, text)


def parse_robots(text: str, name: str = NAME) -> Rules:
    """Returns the rules for us, else those for everyone."""
    groups = list(_read_groups(text.removeprefix("\ufeff")))
    for wanted in (name, "*"):
        found = [rules for names, rules in groups if wanted in names]
        if found:
            return Rules(tuple(rule for rules in found for rule in rules)[:MAX_RULES])
    return EVERYTHING


def _read_groups(text: str) -> Iterator[tuple[set[str], list[Rule]]]:
    names, rules, has_rules = set[str](), list[Rule](), False
    for line in text.splitlines():
        found = LINE.match(line)
        if found is None:
            continue
        key, value = found[1].lower(), found[2].strip()
        if key == "user-agent":
            if has_rules:
                yield names, rules
                names, rules, has_rules = set(), [], False
            names.add(_read_name(value))
        elif key in ("allow", "disallow") and names:
            has_rules = True
            if value:
                rules.append(_read_rule(key == "allow", value))
    yield names, rules


def _read_name(value: str) -> str:
    """`Hitsend/1.0` names us as well."""
    return value if value == "*" else re.split(r"[/\s]", value.lower(), maxsplit=1)[0]


def _read_rule(is_allowed: bool, pattern: str) -> Rule:
    is_anchored = pattern.endswith("$")
    normal = normalize(pattern.removesuffix("$"))
    return Rule(is_allowed, tuple(normal.split("*")), is_anchored, len(pattern))


def normalize(path: str) -> str:
    """Spells a path in one way: `%7E` is `~`, and `é` is `%C3%A9`."""

    def spell(found: re.Match[str]) -> str:
        char = chr(int(found[1], 16))
        return char if PLAIN.fullmatch(char) else found[0].upper()

    return quote(ESCAPED.sub(spell, path), safe="%!$&'()*+,/:;=?@~[]-._")

"""Numbers the sources of an answer, which cites them as `[1]`, over all its calls of tools."""

from cachetools import LRUCache

from hitsend.tools.hosted_tool import Call

MAX_ANSWERS = 1_000


class Citations:
    def __init__(self) -> None:
        self._numbers = LRUCache[tuple[str, str], dict[str, int]](MAX_ANSWERS)
        """By person and turn, those of the URLs."""

    def number(self, call: Call, url: str) -> int:
        """Returns the number of a source, a new one for a new source."""
        numbers = self._numbers.setdefault(call.answer_key, {})
        return numbers.setdefault(url, len(numbers) + 1)

    def find(self, call: Call, number: int) -> str | None:
        """Returns the URL of a number."""
        numbers = self._numbers.get(call.answer_key, {})
        return next((url for url, known in numbers.items() if known == number), None)

"""What the web tools did for an answer: the requests they made, and the addresses they may open
next.

It is kept in memory. After a restart an answer begins anew, as does its count.
"""

from contextlib import suppress

import httpx2
from cachetools import LRUCache

from hitsend.egress import parse_url
from hitsend.errors import Refused
from hitsend.tools.hosted_tool import Call

MAX_TRAILS = 512
MAX_LISTED = 2_000
"""Addresses of a conversation that may be opened. Those listed longest ago go first."""


def parse_page_url(text: str) -> httpx2.URL:
    """Spells the address of a page in one way. Raises Refused."""
    url = parse_url(text)
    return url.copy_with(path=url.path or "/", fragment=None)


class Trail:
    """Of one answer. Its URLs are spelled as `parse_page_url` does."""

    def __init__(self, max_requests: int, listed: LRUCache[str, None]) -> None:
        self._max_requests = max_requests
        self._num_requests = 0
        self._listed = listed

    def count_request(self) -> None:
        """Raises Refused where the answer has made all that it may."""
        if self._num_requests >= self._max_requests:
            raise Refused(
                f"This answer has used its {self._max_requests} requests to the web. Answer with "
                "what you have."
            )
        self._num_requests += 1

    def list_url(self, url: str) -> None:
        """Notes an address that a search or a page told."""
        with suppress(Refused):
            self._listed[str(parse_page_url(url))] = None

    def is_listed(self, url: str) -> bool:
        return url in self._listed


class Trails:
    def __init__(self, max_requests: int) -> None:
        self._max_requests = max_requests
        self._trails = LRUCache[tuple[str, str], Trail](MAX_TRAILS)
        self._listed = LRUCache[tuple[str, str], LRUCache[str, None]](MAX_TRAILS)
        """By conversation: an answer may open what an earlier one found."""

    def of(self, call: Call) -> Trail:
        trail = self._trails.get(call.answer_key)
        if trail is None:
            trail = Trail(self._max_requests, self._listed_in(call))
            self._trails[call.answer_key] = trail
        return trail

    def _listed_in(self, call: Call) -> LRUCache[str, None]:
        place = call.user_id, call.conversation_id or call.turn_id or call.call_id
        listed = self._listed.get(place)
        if listed is None:
            listed = self._listed[place] = LRUCache(MAX_LISTED)
        return listed

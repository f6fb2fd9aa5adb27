"""News of a person's turns, for their other windows: begun, ended, renamed."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable
from typing import TypeAlias

import msgspec

from hitsend.mailbox import Mailbox


class TurnBegan(msgspec.Struct, frozen=True):
    turn_id: str
    conversation_id: str


class TurnEnded(msgspec.Struct, frozen=True):
    turn_id: str
    conversation_id: str


class TitleChanged(msgspec.Struct, frozen=True):
    conversation_id: str
    title: str


News: TypeAlias = TurnBegan | TurnEnded | TitleChanged


class NewsBroker:
    def __init__(self) -> None:
        self._mailboxes: defaultdict[str, set[Mailbox[News]]] = defaultdict(set)

    def has_watchers(self, user_id: str) -> bool:
        return user_id in self._mailboxes

    def publish(self, user_id: str, news: News) -> None:
        for mailbox in self._mailboxes.get(user_id, ()):
            mailbox.put_nowait(news)

    async def watch(self, user_id: str, first: Iterable[News]) -> AsyncGenerator[News, None]:
        """Yields `first`, then the person's news as it comes."""
        mailbox: Mailbox[News] = Mailbox()
        for news in first:
            mailbox.put_nowait(news)
        self._mailboxes[user_id].add(mailbox)
        try:
            while True:
                yield await mailbox.get()
        finally:
            self._mailboxes[user_id].discard(mailbox)
            if not self._mailboxes[user_id]:
                del self._mailboxes[user_id]

"""What holds on a socket: how much, how often, how long; and how it is closed where it does not."""

from typing import ClassVar

import msgspec

from hitsend.wire.socket import AckPace, WindowSize


class Rules(msgspec.Struct, frozen=True):
    ping_s: float = 20.0
    silence_s: float = 45.0
    """Without a word from the page, it is taken for gone."""
    ack_s: float = 30.0
    """With something to acknowledge and nothing acknowledged."""
    stuck_s: float = 30.0
    """For one frame to leave."""
    look_s: float = 5.0
    """How often the times above are looked at."""
    ack: AckPace = AckPace()
    window: WindowSize = WindowSize()
    max_topics: int = 64
    max_read_back: int = 4
    """Topics at once whose turns have ended: their logs are in memory for this reader alone."""
    max_sockets: int = 20
    """Of one person."""
    max_under_way: int = 8
    """Sends and stops of one socket."""
    max_frames: int = 16
    """Waiting to leave."""
    catchup_bytes: int = 32_768
    """With what comes on top of them, a reply stays below 64 KiB, if its first item does."""
    points_per_s: float = 400.0
    max_points: float = 800.0
    """A command costs a point, and ten where it is more than a word: 64 topics at once are fine."""


class Hangup(Exception):
    """The line is to be closed, and says why."""

    NORMAL: ClassVar[int] = 1000
    BROKEN: ClassVar[int] = 1011
    RESTARTING: ClassVar[int] = 1012
    BAD_FRAME: ClassVar[int] = 4400
    BAD_TICKET: ClassVar[int] = 4401
    TIMED_OUT: ClassVar[int] = 4408
    SUPERSEDED: ClassVar[int] = 4409
    TOO_BIG: ClassVar[int] = 4413
    TOO_FAST: ClassVar[int] = 4429

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class LineLost(Exception):
    """Nobody is on the other end."""

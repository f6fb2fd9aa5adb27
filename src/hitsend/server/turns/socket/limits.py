"""Limits of a WebSocket: sizes, rates and timeouts; and the codes it is closed with."""

from typing import ClassVar

import msgspec

from hitsend.wire.socket import AckInterval, WindowSize


class SocketLimits(msgspec.Struct, frozen=True):
    ping_s: float = 20.0
    silence_s: float = 45.0
    """Without a frame from the page for this long, the socket is closed."""
    ack_s: float = 30.0
    """Without an ack for this long, while some are due, the socket is closed."""
    stuck_s: float = 30.0
    """The timeout for sending one frame."""
    check_s: float = 5.0
    """How often the timeouts above are checked."""
    ack: AckInterval = AckInterval()
    window: WindowSize = WindowSize()
    max_topics: int = 64
    max_read_back: int = 4
    """Ended turns read at once: each log is in memory for this reader alone."""
    max_sockets: int = 20
    """Per user."""
    max_commands: int = 8
    """Sends and stops in progress on one socket."""
    max_frames: int = 16
    """In the outbox."""
    catchup_bytes: int = 32_768
    """Keeps a reply below 64 KiB with everything around it, if its first item is."""
    tokens_per_s: float = 400.0
    max_tokens: float = 800.0
    """The token bucket: acks and pongs cost 1, other commands 10. 64 subscribes at once fit."""


class TokenBucket:
    """Tokens refill at a constant rate up to a maximum, and commands spend them."""

    def __init__(self, tokens_per_s: float, max_tokens: float, now: float) -> None:
        self._tokens_per_s = tokens_per_s
        self._max_tokens = max_tokens
        self._num_tokens = max_tokens
        self._refilled_at = now

    def try_spend(self, num_tokens: float, now: float) -> bool:
        refilled = self._num_tokens + (now - self._refilled_at) * self._tokens_per_s
        self._num_tokens = min(self._max_tokens, refilled)
        self._refilled_at = now
        if num_tokens > self._num_tokens:
            return False
        self._num_tokens -= num_tokens
        return True


class SocketClose(Exception):
    """Closes the socket with a code and a reason."""

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


class ConnectionLost(Exception):
    """The client is gone."""

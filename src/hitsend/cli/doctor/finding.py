"""What a check says."""

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

import msgspec

from hitsend.settings import Settings


class Finding(msgspec.Struct, frozen=True):
    level: Literal["ok", "warn", "fail"]
    what: str
    mend: str = ""
    """How to set it right."""


Check: TypeAlias = Callable[[Settings], Awaitable[Finding]]

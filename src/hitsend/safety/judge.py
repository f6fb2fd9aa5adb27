"""What a judge says of a text that the classifier is unsure of."""

import msgspec


class Judgement(msgspec.Struct, frozen=True):
    is_harmful: bool | None
    category: str | None = None
    confidence: float | None = None
    reason: str = ""

"""What the scripted engine thinks may come next: what its script says, or the table it is given.

Without a table the script's next piece is nearly certain, and an end is all that may follow
anything else. How pieces become ids is told from outside.
"""

import asyncio
import math
from collections.abc import Callable, Sequence

from hitsend.engine.contract import Candidate, Outlook
from hitsend.engine.script import Script

NEXT, END = 0.9, 0.05


class ScriptedForesight:
    def __init__(
        self, script: Script, pieces: Sequence[str], id_of: Callable[[str], int], end_id: int
    ) -> None:
        self._script = script
        self._next = _table(pieces) if script.likely is None else script.likely
        self._pieces = {id_of(one): one for after in self._next.values() for one in after if one}
        self._id_of = id_of
        self._end_id = end_id

    async def after(self, said: tuple[int, ...], num: int) -> Outlook:
        """At the script's pace: one question takes as long as one token."""
        await asyncio.sleep(self._script.pace_s)
        text = "".join(self._pieces.get(token_id, "") for token_id in said)
        found = [self._candidate(*item) for item in self._next.get(text, {"": 1.0}).items()]
        found.sort(key=lambda one: -one.logprob)
        return Outlook(tuple(found[:num]), num_evaluated_tokens=1)

    def _candidate(self, piece: str, probability: float) -> Candidate:
        token_id = self._id_of(piece) if piece else self._end_id
        return Candidate(token_id, piece.encode(), math.log(probability), is_end=not piece)


def _table(pieces: Sequence[str]) -> dict[str, dict[str, float]]:
    """Said so far, to what may follow."""
    texts = ["".join(pieces[:end]) for end in range(len(pieces))]
    table = {text: {piece: NEXT, "": END} for text, piece in zip(texts, pieces, strict=True)}
    return table | {"".join(pieces): {"": 1.0}}

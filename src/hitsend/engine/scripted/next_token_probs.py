"""The next token probabilities of the scripted engine, from its script or from a given table.

Without a table the script's next piece is nearly certain, and any other text is followed by the
end.
"""

import asyncio
import math
from collections.abc import Callable, Sequence

from hitsend.engine.contract import Candidate, NextTokens
from hitsend.engine.scripted.script import Script

NEXT_PROBABILITY, END_PROBABILITY = 0.9, 0.05


class ScriptedNextTokenProbs:
    def __init__(
        self, script: Script, pieces: Sequence[str], id_of: Callable[[str], int], end_id: int
    ) -> None:
        self._script = script
        self._next = _table(pieces) if script.likely is None else script.likely
        self._pieces = {id_of(one): one for after in self._next.values() for one in after if one}
        self._id_of = id_of
        self._end_id = end_id

    async def query(self, ids: tuple[int, ...], num: int) -> NextTokens:
        """Takes as long as the script takes for one token."""
        await asyncio.sleep(self._script.pace_s)
        text = "".join(self._pieces.get(token_id, "") for token_id in ids)
        found = [self._candidate(*item) for item in self._next.get(text, {"": 1.0}).items()]
        found.sort(key=lambda one: -one.logprob)
        return NextTokens(tuple(found[:num]), num_evaluated_tokens=1)

    def _candidate(self, piece: str, probability: float) -> Candidate:
        token_id = self._id_of(piece) if piece else self._end_id
        return Candidate(token_id, piece.encode(), math.log(probability), is_end=not piece)


def _table(pieces: Sequence[str]) -> dict[str, dict[str, float]]:
    """Maps the text so far to the probabilities of its next pieces. The empty piece is the end."""
    texts = ["".join(pieces[:end]) for end in range(len(pieces))]
    table = {
        text: {piece: NEXT_PROBABILITY, "": END_PROBABILITY}
        for text, piece in zip(texts, pieces, strict=True)
    }
    return table | {"".join(pieces): {"": 1.0}}

"""What llama.cpp thinks may come next, asked one token at a time. Knows the wire, not who asks.

The probabilities are the model's own, before anything is sampled from them. llama.cpp does not
tell which tokens end an answer, only that one did: the few that say nothing are tried, once each.
"""

import msgspec

from hitsend.engine.completion_request import foresight_request
from hitsend.engine.contract import Candidate, Outlook
from hitsend.engine.http import Http
from hitsend.engine.upstream import read_answer
from hitsend.errors import EngineLost


class _Likely(msgspec.Struct, frozen=True, gc=False):
    id: int
    logprob: float | None
    bytes: tuple[int, ...] = ()


class _Probabilities(msgspec.Struct, frozen=True):
    top_logprobs: tuple[_Likely, ...] = ()


class _Timings(msgspec.Struct, frozen=True, gc=False):
    prompt_n: int = 0


class _Answer(msgspec.Struct, frozen=True):
    completion_probabilities: tuple[_Probabilities, ...] = ()
    stop_type: str = ""
    timings: _Timings = _Timings()

    @property
    def likely(self) -> tuple[_Likely, ...]:
        probabilities = self.completion_probabilities
        return probabilities[0].top_logprobs if probabilities else ()


class Foresight:
    """Of one model."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._ends: dict[int, bool] = {}

    async def after(self, ids: tuple[int, ...], num: int) -> Outlook:
        """A token that says nothing and ends nothing has no place in an answer: it is left out."""
        answer = await self._ask(foresight_request(ids, num))
        found: list[Candidate] = []
        for likely in answer.likely:
            piece, logprob = bytes(likely.bytes), likely.logprob
            is_end = not piece and await self._is_end(ids, likely.id)
            if logprob is not None and (piece or is_end):
                found.append(Candidate(likely.id, piece, logprob, is_end))
        if not found:
            raise EngineLost("The engine does not tell what may come next.")
        return Outlook(tuple(found), answer.timings.prompt_n)

    async def _is_end(self, ids: tuple[int, ...], token_id: int) -> bool:
        if (known := self._ends.get(token_id)) is not None:
            return known
        answer = await self._ask(foresight_request(ids, 0, forced_id=token_id))
        return self._ends.setdefault(token_id, answer.stop_type == "eos")

    async def _ask(self, request: bytes) -> _Answer:
        return read_answer(await self._http.request("POST", "/completion", request), _Answer)

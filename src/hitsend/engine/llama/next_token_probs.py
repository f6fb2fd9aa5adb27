"""The probabilities of the next token from llama.cpp's `/completion`, for beam search.

They are the model's own probabilities, before sampling. llama.cpp does not say which tokens end an
answer, only that one did. So each token without text is tried once, to see whether it ends one.
"""

import msgspec

from hitsend.engine.contract import Candidate, NextTokens
from hitsend.engine.http import HttpClient
from hitsend.engine.llama.completion_request import next_token_request
from hitsend.engine.upstream_errors import read_response
from hitsend.errors import EngineLost


class _TokenProb(msgspec.Struct, frozen=True, gc=False):
    id: int
    logprob: float | None
    bytes: tuple[int, ...] = ()


class _Probabilities(msgspec.Struct, frozen=True):
    top_logprobs: tuple[_TokenProb, ...] = ()


class _Timings(msgspec.Struct, frozen=True, gc=False):
    prompt_n: int = 0


class _Completion(msgspec.Struct, frozen=True):
    completion_probabilities: tuple[_Probabilities, ...] = ()
    stop_type: str = ""
    timings: _Timings = _Timings()

    @property
    def top_tokens(self) -> tuple[_TokenProb, ...]:
        probabilities = self.completion_probabilities
        return probabilities[0].top_logprobs if probabilities else ()


class NextTokenProbs:
    """One for each model: it remembers which tokens end an answer."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http
        self._ends: dict[int, bool] = {}

    async def query(self, ids: tuple[int, ...], num: int) -> NextTokens:
        """Leaves out tokens that have no text and do not end the answer."""
        completion = await self._request(next_token_request(ids, num))
        found: list[Candidate] = []
        for token in completion.top_tokens:
            piece, logprob = bytes(token.bytes), token.logprob
            is_end = not piece and await self._is_end(ids, token.id)
            if logprob is not None and (piece or is_end):
                found.append(Candidate(token.id, piece, logprob, is_end))
        if not found:
            raise EngineLost("The engine does not tell what may come next.")
        return NextTokens(tuple(found), completion.timings.prompt_n)

    async def _is_end(self, ids: tuple[int, ...], token_id: int) -> bool:
        if (known := self._ends.get(token_id)) is not None:
            return known
        completion = await self._request(next_token_request(ids, 0, forced_id=token_id))
        return self._ends.setdefault(token_id, completion.stop_type == "eos")

    async def _request(self, request: bytes) -> _Completion:
        response = await self._http.request("POST", "/completion", request)
        return read_response(response, _Completion)

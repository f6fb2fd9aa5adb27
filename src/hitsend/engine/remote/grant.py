"""Holds a remote server to its grant: the tokens that an answer may have.

An answer that exceeds the grant is cut, and token counts that cannot be right are corrected: a
server may ignore `max_tokens`, or report any number. Does not know the server's dialect.
"""

import time

from msgspec import UNSET
from msgspec.structs import replace

from hitsend.engine.contract import Finished, Generated, GenerationStep, Prefilled, Prompt
from hitsend.messages import Sampling, Token, Usage

MAX_CHARS_PER_TOKEN = 16
"""No real answer has more characters per token on average. One that does has several tokens in
each chunk."""
MAX_TOKEN_CHARS = 128
"""The length of the longest tokens, such as runs of spaces."""
MAX_SEARCHED_TOKENS = 2**31


class Grant:
    def __init__(self, prompt: Prompt, sampling: Sampling) -> None:
        self.is_exceeded = False
        """The answer is cut: the rest of it must not be read."""
        self._prompt = prompt
        num_left = max(prompt.num_window_tokens - prompt.num_tokens, 1)
        self._num_granted = sampling.max_tokens or num_left
        self._max_chars = self._num_granted * MAX_CHARS_PER_TOKEN + MAX_TOKEN_CHARS
        self._num_tokens = 0
        self._num_chars = 0
        self._prefilled = Prefilled(0, prompt.num_tokens, 0.0, 0.0)
        self._prefilled_at = time.perf_counter()

    def check(self, step: GenerationStep) -> GenerationStep:
        """Returns the step with what exceeds the grant cut off, and its counts corrected."""
        if isinstance(step, Generated):
            return self._check_generated(step)
        if isinstance(step, Prefilled):
            return self._check_prefilled(step)
        if isinstance(step, Finished):
            return replace(step, usage=self._check_usage(step.usage))
        return step

    def finish(self) -> Finished:
        """Returns the end of an answer that exceeded its grant."""
        prefilled = self._prefilled
        decode_ms = round((time.perf_counter() - self._prefilled_at) * 1000, 1)
        usage = Usage(
            num_input_tokens=self._prompt.num_tokens,
            num_cached_tokens=prefilled.num_cached_tokens,
            queued_ms=prefilled.queued_ms,
            prefill_ms=prefilled.prefill_ms,
            decode_ms=decode_ms,
            is_estimated=True,
        )
        return Finished("length", self._check_usage(usage))

    def _check_generated(self, step: Generated) -> Generated:
        if step.num_searched_tokens is not UNSET:
            num_searched = _clamp(step.num_searched_tokens, MAX_SEARCHED_TOKENS)
            step = replace(step, num_searched_tokens=num_searched)
        num_tokens = self._num_tokens + len(step.tokens)
        num_chars = self._num_chars + len(step.text) + len(step.reasoning)
        if num_tokens > self._num_granted or num_chars > self._max_chars:
            self.is_exceeded = True
            tokens = self._cut(step.tokens)
            text = "".join([token.text for token in tokens])
            step = replace(step, text=text, tokens=tokens, reasoning="")
            num_tokens = self._num_tokens + len(tokens)
            num_chars = self._num_chars + len(step.text)
        self._num_tokens, self._num_chars = num_tokens, num_chars
        return step

    def _cut(self, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        kept: list[Token] = []
        num_chars_left = self._max_chars - self._num_chars
        for token in tokens[: self._num_granted - self._num_tokens]:
            if len(token.text) > num_chars_left:
                kept.append(replace(token, text=token.text[:num_chars_left]))
                break
            kept.append(token)
            num_chars_left -= len(token.text)
        return tuple(kept)

    def _check_prefilled(self, step: Prefilled) -> Prefilled:
        num_tokens = self._prompt.num_tokens
        num_cached = _clamp(step.num_cached_tokens, num_tokens)
        num_evaluated = _clamp(step.num_evaluated_tokens, num_tokens - num_cached)
        self._prefilled_at = time.perf_counter()
        self._prefilled = replace(
            step, num_cached_tokens=num_cached, num_evaluated_tokens=num_evaluated
        )
        return self._prefilled

    def _check_usage(self, usage: Usage) -> Usage:
        """The input is what the server reports only where ours is an estimate. The output is at
        least what was shown: the server may count tokens that it does not send."""
        prompt, num_input = self._prompt, usage.num_input_tokens
        if prompt.is_exact or num_input <= 0:
            num_input = prompt.num_tokens
        num_input = min(num_input, prompt.num_window_tokens)
        num_shown = max(self._num_tokens, self._num_chars // MAX_CHARS_PER_TOKEN)
        num_searched = usage.num_searched_tokens
        if num_searched is not UNSET:
            num_searched = _clamp(num_searched, MAX_SEARCHED_TOKENS)
        return replace(
            usage,
            num_input_tokens=num_input,
            num_cached_tokens=_clamp(usage.num_cached_tokens, num_input),
            num_output_tokens=min(max(usage.num_output_tokens, num_shown), self._num_granted),
            num_searched_tokens=num_searched,
        )


def _clamp(count: int, maximum: int) -> int:
    return min(max(count, 0), maximum)

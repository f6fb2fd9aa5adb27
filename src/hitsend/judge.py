"""Asks a model whether a text is harmful, where the safety classifier is unsure.

`HITSEND_SAFETY_JUDGE` names the model: the one that answers the turn, or another such as a guard
model. The
person waits for it, so it has a time of its own; a judge that is late, missing or broken has no
opinion, and what to do then is for the policy to decide. Nothing of the text is logged.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing

from msgspec.structs import replace

from hitsend.engine import Engine, Generated, Prompt
from hitsend.errors import HitsendError
from hitsend.messages import Message, Sampling, Text, Token
from hitsend.prompts.picker import PromptPicker
from hitsend.safety.judgement import (
    SCHEMA,
    Dialect,
    JudgedText,
    Judgement,
    find_dialect,
    guard_messages,
    parse,
)

log = logging.getLogger(__name__)

TIMEOUT_S = 10.0
NUM_HEAD_CHARS, NUM_TAIL_CHARS = 1_500, 1_000
"""Of a long text its beginning and its end are judged: orders stand at either."""
MIN_BYTES = 500_000_000
"""Smaller weights judge nothing: SmolLM2-135M calls every text harmful."""
GUARD_SAMPLING = Sampling(temperature=0.0, max_tokens=32, top_logprobs=5)
NO_OPINION = Judgement(None)


class Judge:
    def __init__(
        self, engine: Engine, prompts: PromptPicker, model: str, timeout_s: float = TIMEOUT_S
    ) -> None:
        """`model` is a name, or `auto` for the model that answers."""
        self._engine = engine
        self._prompts = prompts
        self._model = model
        self._timeout_s = timeout_s

    async def judge(
        self, question: str, answer: str = "", *, turn_model: str = "auto", user_id: str = ""
    ) -> Judgement:
        """Judges the answer if there is one, else the question."""
        model = turn_model if self._model == "auto" else self._model
        dialect = find_dialect(model)
        judged = JudgedText(shorten(question), shorten(answer))
        try:
            async with asyncio.timeout(self._timeout_s):
                if self._model == "auto" and not await self._can_judge(model):
                    return NO_OPINION
                prompt, sampling = await self._ask(model, dialect, judged, user_id)
                tokens = await self._generate(prompt, sampling, user_id)
        except (TimeoutError, HitsendError) as error:
            log.warning("the safety judge has no opinion: %s", type(error).__name__)
            return replace(NO_OPINION, reason=f"No opinion: {type(error).__name__}.")
        return parse(dialect, "".join(token.text for token in tokens), tokens)

    async def _can_judge(self, model: str) -> bool:
        facts = await self._engine.resolve(model)
        return facts.num_bytes is not None and facts.num_bytes >= MIN_BYTES

    async def _ask(
        self, model: str, dialect: Dialect, judged: JudgedText, user_id: str
    ) -> tuple[Prompt, Sampling]:
        if dialect != "chat":
            messages: Sequence[Message] = [
                Message(role, (Text(text),), "user")
                for role, text in guard_messages(dialect, judged)
            ]
            return await self._engine.encode(model, messages), GUARD_SAMPLING
        values = {"question": judged.question, "answer": judged.answer}
        messages, picked = await self._prompts.render_messages(
            "safety_judge", values, user_id=user_id, model=model
        )
        sampling = replace(picked.sampling, json_schema=SCHEMA, top_logprobs=5)
        return await self._engine.encode(model, messages), sampling

    async def _generate(self, prompt: Prompt, sampling: Sampling, user_id: str) -> Sequence[Token]:
        tokens: list[Token] = []
        generation = self._engine.generate(prompt, sampling, lane=user_id)
        async with aclosing(generation):
            async for step in generation:
                tokens += step.tokens if isinstance(step, Generated) else ()
        return tokens


def shorten(text: str) -> str:
    if len(text) <= NUM_HEAD_CHARS + NUM_TAIL_CHARS:
        return text
    return f"{text[:NUM_HEAD_CHARS]}\n…\n{text[-NUM_TAIL_CHARS:]}"

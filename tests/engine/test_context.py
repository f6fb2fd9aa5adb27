"""A long conversation in a small window reuses the KV cache, with the real small model."""

from itertools import islice
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest
from bench.context_facts import small_talk

from hitsend.engine import Catalogue, LlamaEngine
from hitsend.engine.models.weights import Weights
from hitsend.events import AnswerFinished, ContextBuilt, PromptEncoded, PromptRead
from hitsend.messages import Sampling
from hitsend.send import Send
from hitsend.server.app import open_app
from hitsend.settings import Settings
from hitsend.turn import run_turn

NUM_TURNS = 30
MAX_EVALUATED = 1.2
"""Evaluated tokens for each new token."""


@pytest.mark.timeout(300)
async def test_a_long_conversation_in_a_small_window_is_seldom_evaluated_again(
    settings: Settings, catalogue: Catalogue, small: Weights, tmp_path: Path
) -> None:
    settings = msgspec.structs.replace(
        settings,
        data_dir=tmp_path,
        num_window_tokens=640,
        embeddings="words",
        model_titles=False,
        prewarm=False,
    )
    num_new = num_evaluated = 0
    starts = set()
    async with open_app(settings, LlamaEngine(settings, catalogue)) as app:
        user = await app.services.store.accounts.create("ada", "", "member")
        conversation_id = answer_id = None
        for number, (asked, _) in enumerate(islice(small_talk(), NUM_TURNS)):
            sent = Send(
                user_id=user.id,
                text=asked,
                message_id=str(uuid4()),
                conversation_id=conversation_id,
                parent_id=answer_id,
                sampling=Sampling(temperature=0.8, seed=number, max_tokens=60),
            )
            turn = await app.runner.start(user.id, run_turn(sent, app.services))
            await turn.until_finished()
            row = await app.services.store.turns.get(turn.turn_id, user.id)
            conversation_id, answer_id = row.conversation_id, row.answer_id
            for event in (stamped.event for stamped in turn.events):
                match event:
                    case ContextBuilt(seen=seen):
                        starts.add(seen.starts_at if seen else None)
                    case PromptEncoded(spans=spans):
                        last = max(span.index for span in spans)
                        num_new += sum(span.num_tokens for span in spans if span.index == last)
                    case PromptRead(num_evaluated_tokens=num_read):
                        num_evaluated += num_read
                    case AnswerFinished(usage=usage):
                        num_new += usage.num_output_tokens
    assert len(starts) > 1, "the window was full at least once"
    assert num_evaluated / num_new < MAX_EVALUATED

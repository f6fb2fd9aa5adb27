"""What the model is shown: how long it takes to put together, what it saves, what it recalls.

    python -m bench.context [--embeddings words|minilm] [--turns 1000] [--no-engine]

First, conversations of growing length with a thousand memories beside them: the time from a Send
to its prompt, everything read from the store anew. Then twenty facts are planted in a conversation
of 300 turns and asked for with a window of 4,096 tokens: how many are in front of the model, beside
how many the newest messages alone would hold. Last, a talk of 30 turns with the real small model in
a window that overflows several times: how much it reads anew.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Literal
from uuid import uuid4

import uvloop

from bench import machine
from bench.context_facts import FACTS, small_talk
from bench.machine import Bar
from hitsend.engine import Catalogue, Engine, LlamaEngine, Script, ScriptedEngine
from hitsend.events import AnswerFinished, AnyEvent, PromptEncoded, PromptRead
from hitsend.messages import Message, Sampling, Text
from hitsend.send import Send
from hitsend.server.app import open_house
from hitsend.server.calls import House
from hitsend.settings import Settings
from hitsend.turn import run_turn, weigh

Embeddings = Literal["words", "minilm"]

NUM_MEMORIES = 1000
NUM_PLANTED_TURNS = 300
WINDOW = 4096
NUM_TALK_TURNS = 30
TALK_WINDOW = 1024
AS_IT_IS = Sampling()


@dataclass(frozen=True)
class Assembly:
    num_turns: int
    median_ms: float
    p95_ms: float
    num_tokens: int
    num_tokens_of_all: int
    """Of the whole conversation, had it all been shown."""


@dataclass
class Talk:
    house: House
    user_id: str
    conversation_id: str | None = None
    answer_id: str | None = None
    events: Sequence[AnyEvent] = ()
    """Of the last turn."""

    def next_send(self, text: str, sampling: Sampling = AS_IT_IS) -> Send:
        return Send(
            user_id=self.user_id,
            text=text,
            message_id=str(uuid4()),
            conversation_id=self.conversation_id,
            parent_id=self.answer_id,
            sampling=sampling,
        )

    async def say(self, text: str, sampling: Sampling = AS_IT_IS) -> None:
        runner, store = self.house.runner, self.house.services.store
        sent = self.next_send(text, sampling)
        turn = await runner.start(self.user_id, run_turn(sent, self.house.services))
        await turn.until_finished()
        row = await store.turns.get(turn.turn_id, self.user_id)
        self.conversation_id, self.answer_id = row.conversation_id, row.answer_id
        self.events = [stamped.event for stamped in turn.log]

    async def settle(self) -> None:
        """Until nothing is done behind the scenes any more."""
        await self.house.services.background.until_idle()
        await self.house.services.spare_time.until_idle()

    @property
    def num_new_tokens(self) -> int:
        """What was said in the last turn, notes included, and what was answered."""
        encoded = next(event for event in self.events if isinstance(event, PromptEncoded))
        last = max(span.index for span in encoded.spans)
        return sum(span.num_tokens for span in encoded.spans if span.index == last) + sum(
            event.usage.num_output_tokens
            for event in self.events
            if isinstance(event, AnswerFinished)
        )


@asynccontextmanager
async def talking(settings: Settings, engine: Engine) -> AsyncGenerator[Talk]:
    async with open_house(settings, engine) as house:
        user = await house.services.store.accounts.create("ada", "", "member")
        yield Talk(house, user.id)


async def assemble(num_turns: int, embeddings: Embeddings, folder: Path) -> Assembly:
    exchanges = list(islice(small_talk(), num_turns))
    engine = ScriptedEngine(_answers(exchanges), num_window_tokens=WINDOW)
    settings = _settings(folder / str(num_turns), embeddings)
    async with talking(settings, engine) as talk:
        await _remember(talk)
        for asked, _ in exchanges:
            await talk.say(asked)
        await talk.settle()
        took_ms = []
        for _, question, _ in FACTS * 2:
            draft = talk.next_send(f"What was that about {question}")
            await weigh(draft, talk.house.services)  # the embedding of the question is cached
            began = time.perf_counter()
            prompt, _ = await weigh(draft, talk.house.services)
            took_ms.append((time.perf_counter() - began) * 1000)
    whole = await engine.encode("auto", [Message("user", (Text(q + a),)) for q, a in exchanges])
    median_ms, p95_ms = statistics.median(took_ms), statistics.quantiles(took_ms, n=20)[-1]
    return Assembly(num_turns, median_ms, p95_ms, prompt.num_tokens, whole.num_tokens)


async def recall(embeddings: Embeddings, folder: Path) -> tuple[int, int]:
    """Of the facts planted, how many the model is shown when asked; and without any recall."""
    exchanges = list(islice(small_talk(), NUM_PLANTED_TURNS))
    for number, (said, _, _) in enumerate(FACTS):
        exchanges[number * NUM_PLANTED_TURNS // len(FACTS)] = said, "I see, thank you for telling."
    engine = ScriptedEngine(_answers(exchanges), num_window_tokens=WINDOW)
    async with talking(_settings(folder / "recall", embeddings), engine) as talk:
        for asked, _ in exchanges:
            await talk.say(asked)
        await talk.settle()
        num_shown = num_in_newest = 0
        for _, question, wanted in FACTS:
            prompt, _ = await weigh(talk.next_send(question), talk.house.services)
            num_shown += any(wanted in message.text for message in prompt.messages)
            num_in_newest += any(wanted in message.own_text for message in prompt.messages)
    return num_shown, num_in_newest


async def reread(folder: Path) -> tuple[float, float]:
    """With the real small model: tokens read for each new one, and the fraction that was cached."""
    settings = Settings(
        data_dir=folder / "talk",
        model="smollm2-135m",
        num_slots=2,
        num_window_tokens=TALK_WINDOW,
        embeddings="words",
        model_titles=False,
        engine_wait_s=60.0,
    )
    engine = LlamaEngine(settings, Catalogue(settings.models_dir, None))
    num_new = num_evaluated = num_cached = 0
    async with talking(settings, engine) as talk:
        for number, (asked, _) in enumerate(islice(small_talk(), NUM_TALK_TURNS)):
            await talk.say(asked, Sampling(temperature=0.8, seed=number, max_tokens=60))
            read = next(event for event in talk.events if isinstance(event, PromptRead))
            num_evaluated += read.num_evaluated_tokens
            num_cached += read.num_cached_tokens
            num_new += talk.num_new_tokens
    return num_evaluated / num_new, num_cached / (num_cached + num_evaluated)


async def _remember(talk: Talk) -> None:
    services = talk.house.services
    for number in range(NUM_MEMORIES):
        text = f"My locker {number} holds the papers of case {number}."
        await services.store.memories.add(talk.user_id, text, "written")
    await services.recall.learn_memories(talk.user_id)


def _answers(exchanges: Iterable[tuple[str, str]]) -> list[Script]:
    return [Script(said) for _, said in exchanges]


def _settings(data_dir: Path, embeddings: Embeddings) -> Settings:
    # Not the scripted engine's settings, which would always mean words.
    return Settings(
        data_dir=data_dir, engine="llama", embeddings=embeddings, prewarm=False, model_titles=False
    )


async def run(embeddings: Embeddings, num_turns: int, *, has_engine: bool) -> None:
    rows: list[dict[str, object]] = []
    bars: list[Bar] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for length in sorted({10, 100, num_turns}):
            one = await assemble(length, embeddings, folder)
            rows.append(asdict(one))
            print(one)
        bars.append(Bar(f"p95 ms to put together, {num_turns} turns", one.p95_ms, 30))
        num_shown, num_in_newest = await recall(embeddings, folder)
        print(f"{num_shown} of {len(FACTS)} facts are shown; by trimming alone {num_in_newest}")
        rows.append({"num_shown": num_shown, "num_in_newest": num_in_newest})
        bars.append(Bar(f"facts recalled of {len(FACTS)}", num_shown, 18, is_floor=True))
        if has_engine:
            ratio, cached = await reread(folder)
            print(f"read {ratio:.2f} tokens for each new one; {cached:.1%} of all were cached")
            rows.append({"read_per_new_token": ratio, "cached": cached})
            bars.append(Bar("tokens read for each new one, 30 turns", ratio, 1.2))
    machine.report(f"context-{embeddings}", rows, bars)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--embeddings", choices=("words", "minilm"), default="words")
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--no-engine", action="store_true", help="without the real model")
    asked = parser.parse_args()
    uvloop.run(run(asked.embeddings, asked.turns, has_engine=not asked.no_engine))


if __name__ == "__main__":
    main()

"""Prompts and answers of the real engine, and its processes, for the tests in this folder."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from hitsend.engine import Engine, Finished, Generated, GenerationStep, MiniLm, Prefilled, Prompt
from hitsend.errors import EngineDown
from hitsend.messages import Message, Sampling, Text, Token

GREEDY = Sampling(temperature=0, max_tokens=16)
LONG = Sampling(temperature=0, max_tokens=900, logit_bias=((2, -100.0), (0, -100.0)))
"""Bans the two tokens that end an answer of the small model."""


class Answer:
    """The steps of one generation, in the order of the contract."""

    read: Prefilled
    finished: Finished

    def __init__(self) -> None:
        self.tokens: list[Token] = []

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)


def user(text: str) -> Message:
    return Message("user", (Text(text),), "user")


async def prompt_of(engine: Engine, text: str, model: str = "auto") -> Prompt:
    return await engine.encode(model, [user(text)])


async def answer_of(engine: Engine, prompt: Prompt, sampling: Sampling = GREEDY) -> Answer:
    answer = Answer()
    async with asyncio.timeout(60), aclosing(engine.generate(prompt, sampling)) as steps:
        async for step in steps:
            match step:
                case Prefilled():
                    assert not answer.tokens
                    answer.read = step
                case Generated(text, tokens):
                    assert text == "".join(token.text for token in tokens)
                    answer.tokens += tokens
                case Finished():
                    answer.finished = step
    return answer


async def embedded(minilm: MiniLm, texts: list[str]) -> list[bytes]:
    """Waits however long a busy machine takes to start the process."""
    while True:
        try:
            return await minilm.embed(texts)
        except EngineDown as down:
            if not re.search("is loading|is starting again", down.message):
                raise


async def drain(steps: AsyncGenerator[GenerationStep, None]) -> None:
    async for _ in steps:
        continue


def engine_processes(parent: int = 0) -> set[int]:
    """Returns the model processes that `parent`, by default this process, has started."""
    parent = parent or os.getpid()
    return {
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and _is_engine_of(entry, parent)
    }


def _is_engine_of(process: Path, parent: int) -> bool:
    try:
        command = (process / "cmdline").read_bytes()
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False  # it ended meanwhile
    return int(fields[1]) == parent and b"engine/llama/child.py" in command


async def wait_for_exit(process: int) -> None:
    """Returns when the process has ended. It need not be a child of ours."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)

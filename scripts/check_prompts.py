"""Runs our prompts on real models and checks the answers against the checks in each prompt file.

    make prompts                       every model that is here
    make prompts ARGS="title summary"  only these prompts

Answers are decoded greedily, so a model gives the same answer each time.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import dataclass

from msgspec.structs import replace

from hitsend.engine import Catalogue, Engine, Generated, LlamaEngine
from hitsend.messages import Message, Sampling, Text
from hitsend.prompts import (
    Check,
    PromptText,
    checks,
    merge_sampling,
    render,
    render_chat,
    shipped_prompts,
)
from hitsend.settings import Settings

GREEDY = Sampling(temperature=0.0, max_tokens=120)
ANSWER_S = 120.0


@dataclass(frozen=True)
class CheckResult:
    prompt: PromptText
    check: Check
    answer: str
    seconds: float

    @property
    def failures(self) -> list[str]:
        return self.check.failures(self.answer)


async def run_checks(
    engine: Engine, model: str, names: Collection[str]
) -> AsyncGenerator[CheckResult, None]:
    for name in names:
        prompt = shipped_prompts()[name]
        for check in checks()[name]:
            if check.is_for(model):
                began = time.monotonic()
                answer = await ask(engine, model, prompt, check)
                yield CheckResult(prompt, check, answer, time.monotonic() - began)


async def ask(engine: Engine, model: str, prompt: PromptText, check: Check) -> str:
    asked = await engine.encode(model, build_conversation(prompt, check, model))
    sampling = replace(merge_sampling(prompt.sampling, GREEDY), temperature=0.0)
    answer = ""
    async with asyncio.timeout(ANSWER_S), aclosing(engine.generate(asked, sampling)) as steps:
        async for step in steps:
            answer += step.text if isinstance(step, Generated) else ""
    return answer


def build_conversation(prompt: PromptText, check: Check, model: str) -> list[Message]:
    """Returns the messages as a chat has them: the instructions, the operator's and ours, and after
    them the profile, in the system message; any other note before the question, in the same
    message."""
    if not prompt.is_in_chat:
        return [*render_chat(prompt, check.values, model)]
    rendered = render(prompt, check.values, model)
    system = {
        "system": Settings().instructions,
        "safety_instructions": render(shipped_prompts()["safety_instructions"], {}, model),
    }
    note = ""
    if prompt.name in (*system, "profile_note"):
        system[prompt.name] = rendered
    else:
        note = rendered + "\n\n"
    return [
        Message("system", (Text("\n\n".join(system.values())),), "system"),
        Message("user", (Text(note), Text(check.ask)) if note else (Text(check.ask),), "user"),
    ]


async def main(names: Collection[str], settings: Settings) -> int:
    if unknown := set(names) - shipped_prompts().keys():
        print(f"There is no prompt {min(unknown)!r}. There are: {', '.join(shipped_prompts())}.")
        return 2
    catalogue = Catalogue(settings.models_dir, None)
    offers = await LlamaEngine(settings, catalogue).offers()
    here = [offer.name for offer in offers if offer.is_here]
    if not here:
        print("No model is here to be asked. Get one: `hitsend models pull`.")
        return 2
    return 1 if sum([await check_model(model, names, catalogue) for model in here]) else 0


def settings_for(model: str) -> Settings:
    """One slot, so that answers repeat; one thread, so that other work slows it little."""
    return Settings(
        model=model, num_slots=1, num_threads=1, num_window_tokens=2048, engine_wait_s=120.0
    )


async def check_model(model: str, names: Collection[str], catalogue: Catalogue) -> int:
    engine, num_failed = LlamaEngine(settings_for(model), catalogue), 0
    await engine.start()
    try:
        print(f"\n{model}\n{'prompt':24}{'version':>8}{'seconds':>9}  result")
        async for one in run_checks(engine, model, names):
            num_failed += bool(one.failures)
            result = "; ".join(one.failures) or "ok"
            print(f"{one.prompt.name:24}{one.prompt.version:>8}{one.seconds:>9.1f}  {result}")
            if one.failures:
                print(f"    {one.answer!r}")
    finally:
        await engine.close()
    return num_failed


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:] or list(shipped_prompts()), Settings())))

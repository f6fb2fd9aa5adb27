"""The shipped prompts, as they are rendered.

What each says is kept in `rendered/`. To approve a change, make the version of the prompt one
higher, run `APPROVE=1 pytest tests/unit/prompts`, and read the difference before it is
committed.
"""

import os
from pathlib import Path

import pytest

from hitsend.prompts import (
    PromptText,
    check_template,
    checks,
    render,
    render_chat,
    samples,
    shipped_prompts,
)
from hitsend.prompts.prompt_text import Value

RENDERED = Path(__file__).parent / "rendered"

CASES = [
    (name, case, model)
    for name, prompt in shipped_prompts().items()
    for case in ("whole", "least")
    for model in ("", *prompt.families)
]


def values(prompt: PromptText, case: str) -> dict[str, Value]:
    needed = {slot.name for slot in prompt.slots if slot.is_required or case == "whole"}
    return {name: value for name, value in samples(prompt).items() if name in needed}


def render_case(prompt: PromptText, case: str, model: str) -> str:
    messages = render_chat(prompt, values(prompt, case), model)
    return "".join(f"=== {message.role}\n{message.text}\n" for message in messages)


@pytest.mark.parametrize(("name", "case", "model"), CASES)
def test_every_prompt_renders_as_approved(name: str, case: str, model: str) -> None:
    path = RENDERED / f"{'.'.join(filter(None, (name, case, model)))}.txt"
    now = render_case(shipped_prompts()[name], case, model)
    if os.environ.get("APPROVE"):
        path.write_text(now)
    assert now == path.read_text()


def test_every_approved_file_belongs_to_a_prompt() -> None:
    expected = {".".join(filter(None, case)) + ".txt" for case in CASES}
    assert {path.name for path in RENDERED.iterdir()} == expected


@pytest.mark.parametrize("name", shipped_prompts())
def test_every_prompt_and_slot_has_a_description(name: str) -> None:
    prompt = shipped_prompts()[name]
    assert prompt.about.endswith(".")
    assert all(slot.about.endswith(".") for slot in prompt.slots)
    assert all(slot.sample for slot in prompt.slots if slot.kind != "flag")


@pytest.mark.parametrize("name", shipped_prompts())
def test_the_checks_of_a_prompt_fit_its_slots(name: str) -> None:
    for check in checks()[name]:
        assert render(shipped_prompts()[name], check.values)


def test_a_prompt_renders_the_same_each_time() -> None:
    """The engine caches the start of prompts, so nothing in them may vary."""
    for prompt in shipped_prompts().values():
        assert render(prompt, samples(prompt)) == render(prompt, samples(prompt))


@pytest.mark.parametrize("name", shipped_prompts())
def test_every_shipped_template_passes_the_check_for_own_versions(name: str) -> None:
    prompt = shipped_prompts()[name]
    for template in (prompt.template, *prompt.families.values()):
        check_template(prompt, template)


def test_a_model_family_can_have_its_own_template() -> None:
    note = shipped_prompts()["memory_note"]
    wordings = {render(note, samples(note), model) for model in ("", "SmolLM2-135M", "qwen")}
    assert len(wordings) == 2

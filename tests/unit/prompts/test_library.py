"""The prompts that come with hitsend, as they are rendered.

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
    shipped,
)
from hitsend.prompts.text import Value

RENDERED = Path(__file__).parent / "rendered"

CASES = [
    (name, case, model)
    for name, prompt in shipped().items()
    for case in ("whole", "least")
    for model in ("", *prompt.families)
]


def values(prompt: PromptText, case: str) -> dict[str, Value]:
    needed = {slot.name for slot in prompt.slots if slot.is_required or case == "whole"}
    return {name: value for name, value in samples(prompt).items() if name in needed}


def shown(prompt: PromptText, case: str, model: str) -> str:
    messages = render_chat(prompt, values(prompt, case), model)
    return "".join(f"=== {message.role}\n{message.text}\n" for message in messages)


@pytest.mark.parametrize(("name", "case", "model"), CASES)
def test_every_rendering_is_the_approved_one(name: str, case: str, model: str) -> None:
    path = RENDERED / f"{'.'.join(filter(None, (name, case, model)))}.txt"
    now = shown(shipped()[name], case, model)
    if os.environ.get("APPROVE"):
        path.write_text(now)
    assert now == path.read_text()


def test_nothing_is_approved_that_is_not_rendered() -> None:
    expected = {".".join(filter(None, case)) + ".txt" for case in CASES}
    assert {path.name for path in RENDERED.iterdir()} == expected


@pytest.mark.parametrize("name", shipped())
def test_every_prompt_says_what_it_is_for_and_what_goes_into_it(name: str) -> None:
    prompt = shipped()[name]
    assert prompt.about.endswith(".")
    assert all(slot.about.endswith(".") for slot in prompt.slots)
    assert all(slot.sample for slot in prompt.slots if slot.kind != "flag")


@pytest.mark.parametrize("name", shipped())
def test_the_checks_of_a_prompt_fit_its_slots(name: str) -> None:
    for check in checks()[name]:
        assert render(shipped()[name], check.values)


def test_a_prompt_is_the_same_each_time() -> None:
    """What is read of a prompt is read once: nothing in it may change by itself."""
    for prompt in shipped().values():
        assert render(prompt, samples(prompt)) == render(prompt, samples(prompt))


@pytest.mark.parametrize("name", shipped())
def test_every_prompt_is_one_that_could_be_written_here(name: str) -> None:
    prompt = shipped()[name]
    for template in (prompt.template, *prompt.families.values()):
        check_template(prompt, template)


def test_a_family_of_models_may_have_a_wording_of_its_own() -> None:
    note = shipped()["memory_note"]
    wordings = {render(note, samples(note), model) for model in ("", "SmolLM2-135M", "qwen")}
    assert len(wordings) == 2

"""Checks our prompts with the real small model. `make prompts` uses every installed model."""

import pytest
from scripts.check_prompts import run_checks

from hitsend.engine import LlamaEngine
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("name", ["memory_note", "system", "title"])
async def test_the_small_model_passes_the_checks_of_a_prompt(
    engine: LlamaEngine, settings: Settings, name: str
) -> None:
    found = [one async for one in run_checks(engine, settings.model, [name])]
    assert found != []
    assert {one.answer: one.failures for one in found if one.failures} == {}

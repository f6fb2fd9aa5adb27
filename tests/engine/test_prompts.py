"""What the real small model makes of our prompts. `make prompts` asks every model that is here."""

import pytest
from scripts.check_prompts import checked

from hitsend.engine import LlamaEngine
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("name", ["memory_note", "system", "title"])
async def test_the_small_model_does_what_a_prompt_is_for(
    engine: LlamaEngine, settings: Settings, name: str
) -> None:
    found = [one async for one in checked(engine, settings.model, [name])]
    assert found != []
    assert {one.written: one.failures for one in found if one.failures} == {}

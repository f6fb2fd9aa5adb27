"""On both models our prompts are what llama.cpp makes of the whole, and a start finds that out."""

import pytest

from hitsend.engine import Catalogue
from hitsend.engine.resident import Resident
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("name", ["smollm2-135m", "qwen2.5-coder-1.5b"])
async def test_the_prompts_of_a_model_are_its_own(
    name: str, catalogue: Catalogue, settings: Settings
) -> None:
    resident = Resident(await catalogue.pull(name), settings)
    resident.start()
    try:
        await resident.until_ready(100)
        assert resident.is_exact is None, "nobody waits for it"
        await resident.until_compared()
        assert resident.is_exact
        assert resident.detail == f"{resident.title} is ready."
    finally:
        await resident.close()

"""Our prompts for both models have the ids that llama.cpp produces, and a start checks it."""

import pytest

from hitsend.engine import Catalogue
from hitsend.engine.llama.loaded_model import LoadedModel
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("name", ["smollm2-135m", "qwen2.5-coder-1.5b"])
async def test_prompts_have_the_ids_of_the_models_own_server(
    name: str, catalogue: Catalogue, settings: Settings
) -> None:
    loaded = LoadedModel(await catalogue.pull(name), settings)
    loaded.start()
    try:
        await loaded.wait_until_ready(100)
        assert loaded.is_exact is None, "nobody waits for it"
        await loaded.wait_for_parity_check()
        assert loaded.is_exact
        assert loaded.detail == f"{loaded.title} is ready."
    finally:
        await loaded.close()

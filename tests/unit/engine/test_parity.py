"""Our prompts are compared with the server's own, and a difference is logged."""

from collections.abc import Sequence

import pytest
from tests.unit.engine.test_encoding import SPECIAL, CharacterTemplate

from hitsend.engine.message_json import Json
from hitsend.engine.parity import check_parity
from hitsend.errors import EngineLost, Refused


class Merging(CharacterTemplate):
    """A tokenizer that merges a line end with the next character."""

    async def tokenize_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        ids = await super().tokenize_structure(text, is_first=is_first)
        return ids if SPECIAL not in ids else ids[:1] + ids[2:]


class Shortening(CharacterTemplate):
    """A template that leaves out short texts."""

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        return (await super().render(messages, tools))[:60]


class WithoutSystem(CharacterTemplate):
    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        if messages[0]["role"] == "system":
            raise Refused("System role not supported.")
        return await super().render(messages, tools)


class Refusing(CharacterTemplate):
    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        raise Refused("Nothing is taken.")


class Lost(CharacterTemplate):
    async def tokenize_text(self, text: str) -> tuple[int, ...]:
        raise EngineLost("It is gone.")


async def test_equal_ids_are_exact() -> None:
    assert await check_parity("letters", CharacterTemplate()) is True


@pytest.mark.parametrize("model", [Merging(), Shortening()])
async def test_a_difference_is_found_and_logged_with_the_models_name(
    model: CharacterTemplate, caplog: pytest.LogCaptureFixture
) -> None:
    assert await check_parity("letters", model) is False
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "letters" in caplog.text


async def test_a_template_that_takes_no_system_message_is_compared_without_one() -> None:
    assert await check_parity("letters", WithoutSystem()) is True


@pytest.mark.parametrize("model", [Refusing(), Lost()])
async def test_parity_is_unknown_if_nothing_can_be_compared(
    model: CharacterTemplate, caplog: pytest.LogCaptureFixture
) -> None:
    assert await check_parity("letters", model) is None
    assert not caplog.records

"""Our prompts and the server's own are compared, and a difference is not kept quiet."""

from collections.abc import Sequence

import pytest
from tests.unit.engine.test_encoding import SPECIAL, Letters

from hitsend.engine.openai_request import Json
from hitsend.engine.parity import is_exact
from hitsend.errors import EngineLost, Refused


class Merging(Letters):
    """A tokeniser that makes one token of a line's end and what follows it."""

    async def ids_of_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        ids = await super().ids_of_structure(text, is_first=is_first)
        return ids if SPECIAL not in ids else ids[:1] + ids[2:]


class Shortening(Letters):
    """A template that leaves out what it does not expect to be short."""

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        return (await super().render(messages, tools))[:60]


class WithoutSystem(Letters):
    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        if messages[0]["role"] == "system":
            raise Refused("System role not supported.")
        return await super().render(messages, tools)


class Refusing(Letters):
    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        raise Refused("Nothing is taken.")


class Lost(Letters):
    async def ids_of_text(self, text: str) -> tuple[int, ...]:
        raise EngineLost("It is gone.")


async def test_the_same_tokens_are_exact() -> None:
    assert await is_exact("letters", Letters()) is True


@pytest.mark.parametrize("model", [Merging(), Shortening()])
async def test_a_difference_is_found_and_logged_with_the_models_name(
    model: Letters, caplog: pytest.LogCaptureFixture
) -> None:
    assert await is_exact("letters", model) is False
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "letters" in caplog.text


async def test_a_template_that_takes_no_system_message_is_compared_without_one() -> None:
    assert await is_exact("letters", WithoutSystem()) is True


@pytest.mark.parametrize("model", [Refusing(), Lost()])
async def test_what_cannot_be_compared_is_not_known(
    model: Letters, caplog: pytest.LogCaptureFixture
) -> None:
    assert await is_exact("letters", model) is None
    assert not caplog.records

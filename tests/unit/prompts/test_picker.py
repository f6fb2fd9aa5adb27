"""The version of a prompt that each person gets."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection

from hitsend.messages import Sampling
from hitsend.prompts import shipped_prompts
from hitsend.prompts.picker import PromptPicker, pick_variant
from hitsend.store import COMMAND_LINE, Store, User
from hitsend.store.database import Database
from hitsend.store.prompts import Prompts

T = TypeVar("T")
OWN = "{{ instructions }} Own."


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path / "hitsend.db")
    yield store
    await store.close()


@pytest.fixture
async def ada(store: Store) -> User:
    return await store.accounts.create("Ada", "hash", "admin")


async def render_system(store: Store, user_id: str = "") -> str:
    text, _ = await PromptPicker(store).render_text(
        "system", {"instructions": "Hi."}, user_id=user_id
    )
    return text


async def test_the_shipped_version_is_used_until_another_is_chosen(store: Store, ada: User) -> None:
    assert await render_system(store) == "Hi."
    version = await store.prompts.add("system", OWN, "", COMMAND_LINE)
    assert await render_system(store) == "Hi."
    await store.prompts.choose("system", COMMAND_LINE, version=version)
    assert await render_system(store) == "Hi. Own."
    await store.prompts.choose("system", COMMAND_LINE, version=None)
    assert await render_system(store) == "Hi."


class PausingDatabase(Database):
    """Pauses each read after its query."""

    has_read, may_go = asyncio.Event(), asyncio.Event()

    async def read(self, body: Callable[[Connection], T]) -> T:
        result = await super().read(body)
        self.has_read.set()
        await self.may_go.wait()
        return result


async def test_a_choice_applies_at_once_despite_a_concurrent_read(
    store: Store, ada: User, tmp_path: Path
) -> None:
    version = await store.prompts.add("system", OWN, "", COMMAND_LINE)
    held = PausingDatabase(tmp_path / "hitsend.db", "normal", time.time)
    await held.open()
    prompts = Prompts(held)
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        before = tasks.create_task(prompts.overrides())
        await held.has_read.wait()
        await prompts.choose("system", COMMAND_LINE, version=version)
        held.may_go.set()
    assert before.result() == {}
    assert (await prompts.overrides())["system"].version == version
    await held.close()


async def test_a_version_with_unknown_slots_is_not_used(
    store: Store, ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    version = await store.prompts.add("system", "{{ instructions }}{{ bygone }}", "", COMMAND_LINE)
    await store.prompts.choose("system", COMMAND_LINE, version=version)
    for _ in range(3):
        picked = await PromptPicker(store).pick("system", ada.id)
        assert picked.used.version == shipped_prompts()["system"].version
    logged = [record for record in caplog.records if "left out" in record.message]
    assert [one.message.partition(": ")[2] for one in logged] == [
        "Line 1: there is no slot `bygone`."
    ]  # once, not in every turn


async def test_an_empty_user_takes_part_in_no_experiment(store: Store, ada: User) -> None:
    first = await store.prompts.add("system", OWN, "", COMMAND_LINE)
    second = await store.prompts.add("system", OWN + "!", "", COMMAND_LINE)
    started = await store.experiments.start("system", (first, second), COMMAND_LINE)
    assert await render_system(store) == "Hi."
    picked = await PromptPicker(store).pick("system", ada.id)
    assert picked.used.experiment_id == started.id
    assert picked.used.version == pick_variant(started.id, (first, second), ada.id)


async def test_a_missing_variant_is_not_recorded_as_a_trial(store: Store, ada: User) -> None:
    """After an upgrade, a shipped version may be missing: 999 came with another hitsend."""
    await store.experiments.start("system", (998, 999), COMMAND_LINE)
    picked = await PromptPicker(store).pick("system", ada.id)
    assert picked.used.version == shipped_prompts()["system"].version
    assert not picked.used.experiment_id


async def test_chosen_sampling_overrides_the_shipped_one(store: Store, ada: User) -> None:
    await store.prompts.choose("title", COMMAND_LINE, sampling=Sampling(max_tokens=12))
    sampling = (await PromptPicker(store).pick("title", ada.id)).sampling
    assert sampling == Sampling(temperature=0.0, max_tokens=12, stop=("\n",))


async def test_beam_search_keeps_the_summarys_max_tokens(store: Store, ada: User) -> None:
    await store.prompts.choose("summary", COMMAND_LINE, sampling=Sampling(policy="beam"))
    sampling = (await PromptPicker(store).pick("summary", ada.id)).sampling
    assert sampling == Sampling(policy="beam", temperature=0.0, max_tokens=200)


def test_people_are_spread_evenly_over_versions_and_stay_with_theirs() -> None:
    versions = (1, 1001, 1002)
    shares = Counter(pick_variant("one", versions, str(person)) for person in range(3000))
    assert all(900 < share < 1100 for share in shares.values())
    others = [pick_variant("two", versions, str(person)) for person in range(3000)]
    same = sum(pick_variant("one", versions, str(p)) == other for p, other in enumerate(others))
    assert 900 < same < 1100  # another experiment assigns people anew

"""Which version of a prompt holds for whom."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.messages import Sampling
from hitsend.prompt_book import PromptBook, variant
from hitsend.prompts import shipped
from hitsend.store import Store, User
from hitsend.store.database import Database
from hitsend.store.prompts import Prompts

OWN = "{{ instructions }} Own."


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path / "hitsend.db")
    yield store
    await store.close()


@pytest.fixture
async def ada(store: Store) -> User:
    return await store.accounts.create("Ada", "hash", "admin")


async def told(store: Store, user_id: str = "") -> str:
    text, _ = await PromptBook(store).text("system", {"instructions": "Hi."}, user_id=user_id)
    return text


async def test_what_comes_with_hitsend_holds_until_somebody_chooses(
    store: Store, ada: User
) -> None:
    assert await told(store) == "Hi."
    version = await store.prompts.add("system", OWN, "", ada.id)
    assert await told(store) == "Hi."
    await store.prompts.choose("system", ada.id, version=version)
    assert await told(store) == "Hi. Own."
    await store.prompts.choose("system", ada.id, version=None)
    assert await told(store) == "Hi."


class Held(Database):
    """Whoever has read waits at the door."""

    has_read, may_go = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        async with super().read() as connection:
            yield connection
        self.has_read.set()
        await self.may_go.wait()


async def test_a_choice_holds_at_once_whoever_was_just_reading_what_held(
    store: Store, ada: User, tmp_path: Path
) -> None:
    version = await store.prompts.add("system", OWN, "", ada.id)
    held = Held(tmp_path / "hitsend.db", "normal", time.time)
    await held.open()
    prompts = Prompts(held)
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        before = tasks.create_task(prompts.standings())
        await held.has_read.wait()
        await prompts.choose("system", ada.id, version=version)
        held.may_go.set()
    assert before.result() == {}
    assert (await prompts.standings())["system"].version == version
    await held.close()


async def test_a_version_for_slots_that_are_gone_is_left_out(
    store: Store, ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    version = await store.prompts.add("system", "{{ instructions }}{{ bygone }}", "", ada.id)
    await store.prompts.choose("system", ada.id, version=version)
    for _ in range(3):
        picked = await PromptBook(store).pick("system", ada.id)
        assert picked.used.version == shipped()["system"].version
    told = [record for record in caplog.records if "left out" in record.message]
    assert [one.message.partition(": ")[2] for one in told] == [
        "Line 1: there is no slot `bygone`."
    ]  # once, not in every turn


async def test_nobody_in_particular_takes_part_in_no_experiment(store: Store, ada: User) -> None:
    first = await store.prompts.add("system", OWN, "", ada.id)
    second = await store.prompts.add("system", OWN + "!", "", ada.id)
    started = await store.experiments.start("system", (first, second), ada.id)
    assert await told(store) == "Hi."
    picked = await PromptBook(store).pick("system", ada.id)
    assert picked.used.experiment_id == started.id
    assert picked.used.version == variant(started.id, (first, second), ada.id)


async def test_a_variant_that_is_gone_counts_for_no_experiment(store: Store, ada: User) -> None:
    """As after an upgrade: version 999 came with another hitsend."""
    await store.experiments.start("system", (998, 999), ada.id)
    picked = await PromptBook(store).pick("system", ada.id)
    assert picked.used.version == shipped()["system"].version
    assert not picked.used.experiment_id


async def test_decoding_is_what_was_chosen_over_what_the_file_says(store: Store, ada: User) -> None:
    await store.prompts.choose("title", ada.id, sampling=Sampling(max_tokens=12))
    sampling = (await PromptBook(store).pick("title", ada.id)).sampling
    assert sampling == Sampling(temperature=0.0, max_tokens=12, stop=("\n",))


async def test_a_search_for_a_summary_is_as_short_as_the_file_says(store: Store, ada: User) -> None:
    await store.prompts.choose("summary", ada.id, sampling=Sampling(policy="beam"))
    sampling = (await PromptBook(store).pick("summary", ada.id)).sampling
    assert sampling == Sampling(policy="beam", temperature=0.0, max_tokens=200)


def test_every_version_has_its_share_of_the_people_and_keeps_them() -> None:
    versions = (1, 1001, 1002)
    shares = Counter(variant("one", versions, str(person)) for person in range(3000))
    assert all(900 < share < 1100 for share in shares.values())
    others = [variant("two", versions, str(person)) for person in range(3000)]
    same = sum(variant("one", versions, str(p)) == other for p, other in enumerate(others))
    assert 900 < same < 1100  # another experiment draws anew

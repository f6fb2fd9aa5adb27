"""Which version of a prompt holds for whom."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hitsend.messages import Sampling
from hitsend.prompt_book import PromptBook, variant
from hitsend.prompts import laid_over, shipped
from hitsend.store import Store, User

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


async def test_a_version_for_slots_that_are_gone_is_left_out(
    store: Store, ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    version = await store.prompts.add("system", "{{ instructions }}{{ once }}", "", ada.id)
    await store.prompts.choose("system", ada.id, version=version)
    picked = await PromptBook(store).pick("system", ada.id)
    assert picked.used.version == shipped()["system"].version
    assert "left out: Line 1: there is no slot `once`." in caplog.text


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


def test_every_version_has_its_share_of_the_people_and_keeps_them() -> None:
    versions = (1, 1001, 1002)
    shares = Counter(variant("one", versions, str(person)) for person in range(3000))
    assert all(900 < share < 1100 for share in shares.values())
    others = [variant("two", versions, str(person)) for person in range(3000)]
    same = sum(variant("one", versions, str(p)) == other for p, other in enumerate(others))
    assert 900 < same < 1100  # another experiment draws anew


def test_what_was_asked_for_wins_field_by_field() -> None:
    default = Sampling(temperature=0.2, top_p=0.5, max_tokens=10, stop=("x",))
    assert laid_over(Sampling(), default) == default
    assert laid_over(Sampling(temperature=0.0), default).temperature == 0.0
    assert laid_over(Sampling(stop=("y",)), default).stop == ("y",)
    assert laid_over(Sampling(policy="greedy"), default) == Sampling(
        policy="greedy", max_tokens=10, stop=("x",)
    )
    assert laid_over(Sampling(temperature=1.0), Sampling(policy="greedy")).policy == "sample"


@pytest.mark.parametrize("asked", [Sampling(policy="beam"), Sampling(policy="greedy")])
@pytest.mark.parametrize(
    "default",
    [
        Sampling(max_tokens=1000),
        Sampling(temperature=0.7, max_tokens=1000),
        Sampling(presence_penalty=1.0, stop=("x",)),
        Sampling(policy="beam", num_beams=2, max_tokens=100),
    ],
)
def test_a_default_never_stands_in_the_way_of_what_was_asked(
    asked: Sampling, default: Sampling
) -> None:
    assert laid_over(asked, default).policy == asked.policy

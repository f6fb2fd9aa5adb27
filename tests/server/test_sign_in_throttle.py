"""The sign-in throttle: which tries it lets through, and when the next one may follow."""

import asyncio
import dataclasses
from collections.abc import Sequence
from types import SimpleNamespace

import argon2
import httpx2
import pytest
from tests.server.world import PASSWORD, World

from hitsend.errors import TooFast
from hitsend.server.limits import sign_in_throttle
from hitsend.server.limits.sign_in_throttle import SignInThrottle
from hitsend.server.serve import listen

CHEAP = argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
SIGN_IN = "/backend-api/accounts/sign-in"
OFFICE, HOME = "203.0.113.1", "198.51.100.7"


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(now=1000.0)


@pytest.fixture
def throttle(clock: SimpleNamespace) -> SignInThrottle:
    return SignInThrottle(50, now=lambda: clock.now)


def fail(throttle: SignInThrottle, address: str, name: str | None) -> None:
    with throttle.begin(address, name) as attempt:
        attempt.record_failure()


def succeed(throttle: SignInThrottle, address: str, name: str) -> None:
    with throttle.begin(address, name) as attempt:
        attempt.record_success()


def pause_s(throttle: SignInThrottle, address: str, name: str | None) -> float:
    try:
        throttle.begin(address, name).__exit__(None, None, None)
    except TooFast as error:
        return error.retry_after_s or 0.0
    return 0.0


def fail_with_pauses(
    throttle: SignInThrottle, clock: SimpleNamespace, tries: Sequence[tuple[str, str]]
) -> list[float]:
    """Fails each try as soon as it is allowed. Returns the pauses before them."""
    pauses = []
    for address, name in tries:
        pauses.append(pause_s(throttle, address, name))
        clock.now += pauses[-1]
        fail(throttle, address, name)
    return pauses


def test_guesses_at_one_name_have_to_pause_twice_as_long_each_time(
    throttle: SignInThrottle, clock: SimpleNamespace
) -> None:
    pauses = fail_with_pauses(throttle, clock, [(OFFICE, "ada")] * 18)
    assert pauses == [0] * 5 + [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]


def test_failures_are_forgotten_with_time(throttle: SignInThrottle, clock: SimpleNamespace) -> None:
    fail_with_pauses(throttle, clock, [(OFFICE, "ada")] * 8)
    clock.now += 8 + 4 * sign_in_throttle.BY_PAIR.forget_one_s
    assert fail_with_pauses(throttle, clock, [(OFFICE, "ada")] * 2) == [0, 1]
    clock.now += 3600 * 6
    assert fail_with_pauses(throttle, clock, [(OFFICE, "ada")] * 6) == [0] * 5 + [1]


def test_guesses_at_one_name_do_not_slow_another(
    throttle: SignInThrottle, clock: SimpleNamespace
) -> None:
    fail_with_pauses(throttle, clock, [(OFFICE, "ada")] * 10)
    assert pause_s(throttle, OFFICE, "ada") > 0
    assert pause_s(throttle, OFFICE, "eve") == 0


def test_correct_passwords_are_never_throttled(throttle: SignInThrottle) -> None:
    for number in range(200):
        succeed(throttle, OFFICE, f"person {number % 70}")
        succeed(throttle, OFFICE, "ada")


def test_a_correct_password_forgets_only_its_own_failures(throttle: SignInThrottle) -> None:
    for _ in range(4):
        fail(throttle, OFFICE, "ada")
        fail(throttle, OFFICE, "eve")
    succeed(throttle, OFFICE, "ada")
    fail(throttle, OFFICE, "ada")
    fail(throttle, OFFICE, "eve")
    assert pause_s(throttle, OFFICE, "ada") == 0
    assert pause_s(throttle, OFFICE, "eve") == 1


def test_guessing_many_names_is_slowed_also_with_an_account_of_ones_own_in_between(
    throttle: SignInThrottle, clock: SimpleNamespace
) -> None:
    for number in range(50):
        fail(throttle, OFFICE, f"name {number}")
        succeed(throttle, OFFICE, "mallory")
    assert pause_s(throttle, OFFICE, "another") == 1
    more = [(OFFICE, f"more {number}") for number in range(5)]
    assert fail_with_pauses(throttle, clock, more) == [1, 2, 4, 8, 16]


def test_one_forgetful_person_does_not_slow_an_address(
    throttle: SignInThrottle, clock: SimpleNamespace
) -> None:
    fail_with_pauses(throttle, clock, [(OFFICE, "ada")] * 12)
    for number in range(48):
        fail(throttle, OFFICE, f"name {number}")
    assert pause_s(throttle, OFFICE, "eve") == 0


def test_who_signed_in_lately_is_not_slowed_by_others_at_the_address(
    throttle: SignInThrottle,
) -> None:
    succeed(throttle, OFFICE, "ada")
    for number in range(50):
        fail(throttle, OFFICE, f"name {number}")
    assert pause_s(throttle, OFFICE, "ada") == 0
    assert pause_s(throttle, OFFICE, "eve") == 1


def test_guesses_from_many_addresses_are_slowed_but_not_the_owner_where_they_signed_in_lately(
    throttle: SignInThrottle, clock: SimpleNamespace
) -> None:
    succeed(throttle, HOME, "ada")
    guesses = [(f"10.0.0.{number}", "ada") for number in range(30)]
    pauses = fail_with_pauses(throttle, clock, guesses)
    assert pauses == [0] * 20 + [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert pause_s(throttle, "10.0.1.1", "ada") > 0
    assert pause_s(throttle, HOME, "ada") == 0


def test_parallel_tries_count_before_their_outcome_is_known(throttle: SignInThrottle) -> None:
    fail(throttle, OFFICE, "ada")
    under_way = [throttle.begin(OFFICE, "ada") for _ in range(4)]
    assert pause_s(throttle, OFFICE, "ada") == sign_in_throttle.BUSY_S
    for attempt in under_way:
        attempt.__exit__(None, None, None)  # neither right nor wrong: the server was busy
    assert pause_s(throttle, OFFICE, "ada") == 0
    for _ in range(4):
        fail(throttle, OFFICE, "ada")
    assert pause_s(throttle, OFFICE, "ada") == 1


def test_failures_a_moment_apart_count_whole(
    throttle: SignInThrottle, clock: SimpleNamespace
) -> None:
    for _ in range(5):
        clock.now += 0.01
        fail(throttle, OFFICE, "ada")
    assert pause_s(throttle, OFFICE, "ada") == 1


def test_after_failures_only_one_try_at_a_time_is_checked(
    throttle: SignInThrottle, clock: SimpleNamespace
) -> None:
    fail_with_pauses(throttle, clock, [(OFFICE, "ada")] * 6)
    clock.now += 2
    with throttle.begin(OFFICE, "ada"):
        assert pause_s(throttle, OFFICE, "ada") == sign_in_throttle.BUSY_S


def test_wrong_invitations_are_slowed_at_their_address_only(
    throttle: SignInThrottle, clock: SimpleNamespace
) -> None:
    for _ in range(5):
        fail(throttle, OFFICE, None)
    assert pause_s(throttle, OFFICE, None) == 1
    assert pause_s(throttle, HOME, None) == 0
    assert pause_s(throttle, OFFICE, "ada") == 0


def test_memory_is_bounded(throttle: SignInThrottle) -> None:
    for number in range(sign_in_throttle.MAX_TRACKED + 500):
        succeed(throttle, f"address {number}", f"name {number}")
    assert len(throttle) <= 4 * sign_in_throttle.MAX_TRACKED


async def sign_in(http: httpx2.AsyncClient, name: str, password: str) -> int:
    return (await http.post(SIGN_IN, json={"name": name, "password": password})).status_code


async def create_people(world: World, num_people: int) -> list[str]:
    """Creates accounts whose password is PASSWORD, with a hash that is cheap to check."""
    password_hash = CHEAP.hash(PASSWORD)
    names = [f"person {number}" for number in range(num_people)]
    for name in names:
        await world.app.services.store.accounts.create(name, password_hash, "member")
    return names


async def test_forty_people_sign_in_at_once_from_one_office(world: World) -> None:
    names = await create_people(world, 40)
    http = await world.browser()
    assert await asyncio.gather(*(sign_in(http, name, PASSWORD) for name in names)) == [200] * 40


async def test_ten_wrong_guesses_at_one_name_do_not_lock_the_others(world: World) -> None:
    guessed, *names = await create_people(world, 6)
    http = await world.browser()
    guesses = [sign_in(http, guessed, f"guess {number}") for number in range(10)]
    assert sorted(await asyncio.gather(*guesses)) == [401] * 5 + [429] * 5
    assert await asyncio.gather(*(sign_in(http, name, PASSWORD) for name in names)) == [200] * 5


async def test_an_address_that_guesses_many_names_has_to_pause(world: World) -> None:
    names = await create_people(world, 1)
    throttle = SignInThrottle(3, now=lambda: 0.0)
    async with (
        listen(dataclasses.replace(world.app, sign_in_throttle=throttle)) as url,
        httpx2.AsyncClient(base_url=url) as http,
    ):
        statuses = []
        for number in range(4):
            statuses.append(await sign_in(http, f"nobody {number}", PASSWORD))
            statuses.append(await sign_in(http, names[0], PASSWORD))
        refused = await http.post(SIGN_IN, json={"name": "nobody", "password": PASSWORD})
    assert statuses == [401, 200, 401, 200, 401, 200, 429, 200]
    assert refused.headers["retry-after"] == "1"

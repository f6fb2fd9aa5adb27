"""Guessing is slowed down: whom it hits, and whom not."""

import pytest

from hitsend.errors import TooFast
from hitsend.server.throttle import Throttle


async def test_an_address_has_so_many_tries_at_whatever_names() -> None:
    throttle = Throttle(3)
    for name in ("ada", "eve", "bob"):
        await throttle.try_once("here", name)
    with pytest.raises(TooFast):
        await throttle.try_once("here", "grace")
    await throttle.try_once("elsewhere", "ada")


async def test_who_signs_in_rightly_is_never_too_often_there() -> None:
    throttle = Throttle(3)
    for _ in range(10):
        await throttle.try_once("here", "ada")
        await throttle.forgive("here", "ada")


async def test_ones_own_password_buys_no_further_guesses_at_anothers() -> None:
    throttle = Throttle(3)
    for _ in range(3):
        await throttle.try_once("here", "ada")
        await throttle.forgive("here", "eve")
    with pytest.raises(TooFast):
        await throttle.try_once("here", "ada")


async def test_a_name_is_not_counted_where_its_address_is_refused() -> None:
    throttle = Throttle(1)
    await throttle.try_once("here", "eve")
    with pytest.raises(TooFast):
        await throttle.try_once("here", "ada")
    await throttle.forgive("here", "eve")
    await throttle.try_once("here", "ada")

"""The sign-in throttle: which guesses it refuses."""

import pytest

from hitsend.errors import TooFast
from hitsend.server.limits.sign_in_throttle import SignInThrottle


async def test_an_address_has_a_number_of_tries_for_all_names_together() -> None:
    throttle = SignInThrottle(3)
    for name in ("ada", "eve", "bob"):
        throttle.count_try("here", name)
    with pytest.raises(TooFast):
        throttle.count_try("here", "grace")
    throttle.count_try("elsewhere", "ada")


async def test_correct_passwords_are_never_throttled() -> None:
    throttle = SignInThrottle(3)
    for _ in range(10):
        throttle.count_try("here", "ada")
        throttle.reset("here", "ada")


async def test_a_correct_password_does_not_reset_tries_at_another_name() -> None:
    throttle = SignInThrottle(3)
    for _ in range(3):
        throttle.count_try("here", "ada")
        throttle.reset("here", "eve")
    with pytest.raises(TooFast):
        throttle.count_try("here", "ada")


async def test_a_try_refused_for_its_address_does_not_count_for_its_name() -> None:
    throttle = SignInThrottle(1)
    throttle.count_try("here", "eve")
    with pytest.raises(TooFast):
        throttle.count_try("here", "ada")
    throttle.reset("here", "eve")
    throttle.count_try("here", "ada")

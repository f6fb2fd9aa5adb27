"""Texts that state a password, and texts that only mention one."""

import pytest

from hitsend.prompts import has_password


@pytest.mark.parametrize(
    "text",
    [
        "My password is hunter2.",
        "my PIN is 1234",
        "The password for the wifi at home is hunter2",
        "password: hunter2",
        "pin=1234",
        "My PIN code is 1234",
        "Mein Passwort ist hunter2.",
        "mein Kennwort lautet hunter2",
        "dass mein Passwort hunter2 ist",
        "Das Passwort für das WLAN ist hunter2",
    ],
)
def test_a_password_is_recognised_by_the_words_around_it(text: str) -> None:
    assert has_password(text)


@pytest.mark.parametrize(
    "text",
    [
        "My password manager is KeePass.",
        "I forget my passwords.",
        "I collect pins.",
        "I work on password policies.",
        "Ich vergesse oft mein Passwort.",
    ],
)
def test_a_text_about_passwords_has_none(text: str) -> None:
    assert not has_password(text)

"""Secrets in texts: by their form, and passwords by the words around them.

The page's tests read tests/secrets.json too.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.safety import find_secrets, has_password, mask_secret, remove_secrets

CASES = json.loads((Path(__file__).parents[2] / "secrets.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:40])
def test_secrets_are_found_by_their_form(case: dict[str, object]) -> None:
    text = str(case["text"])
    found = [
        {"kind": secret.kind, "text": text[secret.start : secret.end], "masked": mask}
        for secret in find_secrets(text)
        for mask in [mask_secret(text, secret)]
    ]
    assert found == case["found"]


@given(st.text(alphabet="4111 -.5sk_eyJhs:/@\n", max_size=200))
def test_found_secrets_are_in_order_and_do_not_overlap(text: str) -> None:
    ends = 0
    for secret in find_secrets(text):
        assert ends <= secret.start < secret.end <= len(text)
        ends = secret.end


def test_card_numbers_stay_in_prompts() -> None:
    """A model may be told a card number; keys and tokens it never sees."""
    text = "4111 1111 1111 1111 and sk-ant-Zk3vQ81bLmN0pRsTuVwXyZ12"
    assert remove_secrets(text) == "4111 1111 1111 1111 and [secret left out]"


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

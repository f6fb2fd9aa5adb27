"""People see our words. The server's are logged, without secrets."""

import logging

import msgspec
import pytest

from hitsend.engine.upstream_errors import MAX_LOGGED_CHARS, redact, translate_error

SECRET = "hunter2"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429, 500, 502, 503])
@pytest.mark.parametrize("shape", ["object", "error", "message", "detail"])
def test_a_servers_words_are_logged_redacted_and_not_shown(
    status: int, shape: str, caplog: pytest.LogCaptureFixture
) -> None:
    words = f"Cannot connect to the backend: password={SECRET}"
    body = {"error": {"message": words}} if shape == "object" else {shape: words}
    with caplog.at_level(logging.DEBUG):
        error = translate_error(status, {}, msgspec.json.encode(body), "m")
    assert "backend" not in error.message
    assert SECRET not in error.message
    assert f"answered {status}: Cannot connect to the backend" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    "words",
    [
        f"password: {SECRET}",
        f"the Password is {SECRET}!",
        f'{{"db_password": "{SECRET} and more"}}',
        f"postgres://admin:{SECRET}@10.0.0.5/db",
        f"Authorization: Bearer {SECRET}",
        f"sent bearer {SECRET}",
        f"Incorrect API key provided: sk-proj-{SECRET}",
        f"api_key={SECRET}, retry",
        f"token = '{SECRET}'",
        f"key {SECRET}{'0' * 32}",
        f"Invalid input 'My diary of today: {SECRET} was the first thing I typed'",
        f'Invalid input "an unfinished quote of a whole prompt, {SECRET}',
        "x " * 5000 + SECRET,
    ],
)
def test_secrets_and_quotes_are_redacted(words: str) -> None:
    assert SECRET not in redact(words)
    assert len(redact(words)) <= MAX_LOGGED_CHARS


def test_the_reason_stays_readable_on_one_line() -> None:
    assert redact("top_k is\nunknown.\x1b[31m") == "top_k is unknown.?[31m"
    assert redact("max_tokens = 5 is too few for 'm'") == "max_tokens = 5 is too few for 'm'"

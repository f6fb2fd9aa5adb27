"""The log helps to find bugs and contains no text of users."""

from pathlib import Path

import httpx2
from tests.faults.process import key_in, message, serve_process

SEND = "/backend-api/f/conversation"


async def test_the_log_contains_no_text_of_users(tmp_path: Path) -> None:
    key = await key_in(tmp_path, "name-canary")
    async with (
        serve_process(tmp_path) as served,
        httpx2.AsyncClient(base_url=served.url, headers={"authorization": f"Bearer {key}"}) as http,
    ):
        for text in ("!script\nanswer-canary", "!script tokens=9 die=3\ndying-canary"):
            assert (await http.post(SEND, json=message(text))).status_code == 200
        unknown = await http.post(SEND, json=message("hi") | {"model": "model-canary"})
        assert unknown.status_code == 404
        signing_in = {"name": "who-canary", "password": "password-canary"}
        await http.post("/backend-api/accounts/sign-in", json=signing_in)
        await http.get("/backend-api/conversations?q=search-canary")
    log = served.log.read_text()
    assert "canary" not in log
    assert key not in log

"""The style page of the development server shows every component."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect
from tests.browser.world import ROOT, Person, Server

COMPONENTS = {path.stem for path in (ROOT / "web/src/ui").glob("*.svelte")}
SHOWN_AS = {"Icon": "Icons", "LabelledControl": "Field", "Lazy": "Dialog", "MenuList": "Menu"}
"""Components shown under another name."""


@pytest.fixture
def dev_server(server: Server) -> Iterator[str]:
    """The address of the development server."""
    command = ["node", "node_modules/vite/bin/vite.js", "--host", "127.0.0.1", "--port", "0"]
    process = subprocess.Popen(
        command,
        cwd=ROOT / "web",
        stdout=subprocess.PIPE,
        env=os.environ | {"HITSEND_URL": server.url, "NO_COLOR": "1"},
        text=True,
    )
    assert process.stdout is not None
    line = next((text for text in process.stdout if "http" in text), "")
    found = re.search(r"http://[\d.:]+", line)
    assert found, "The development server ended before it printed its address."
    yield found[0]
    process.terminate()
    process.wait(timeout=20)
    process.stdout.close()


def test_the_style_page_shows_every_component_in_both_themes(
    dev_server: str, new_person: Callable[[], Person]
) -> None:
    person = new_person()
    page = person.page
    person.url = dev_server
    person.visit()
    person.create_account("ada")
    errors: list[str] = []
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    person.visit("/styles")
    expect(page.get_by_role("heading", name="Styles")).to_be_visible(timeout=60_000)

    titles = page.get_by_role("heading", level=3).all_inner_texts()
    shown = {name for title in titles for name in re.findall(r"\w+", title)}
    assert {SHOWN_AS.get(name, name) for name in COMPONENTS} <= shown
    for theme in ("light", "dark"):
        expect(page.get_by_role("heading", name=theme, level=2)).to_be_visible()
    page.get_by_role("radio", name="Right to left").check(force=True)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert errors == []

"""Tool servers in the settings: adding them, their tools, their log, and signing in at one."""

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from playwright.sync_api import Locator, expect
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.browser.axe import accessibility_problems
from tests.browser.test_tools import call_line, script, turn_on
from tests.browser.world import ROOT, Person, Server
from tests.mcp_servers.everyday import build_server, serve
from tests.mcp_servers.sign_in import Authority, Wall

ODD = ROOT / "tests" / "mcp_servers" / "odd.py"


@pytest.fixture
def server(server: Server) -> Server:
    """Allows servers at `http://`."""
    server.stop()
    server.settings = {"HITSEND_MCP_ALLOW_HTTP": "true"}
    server.start()
    return server


def open_servers(person: Person) -> Locator:
    settings = person.open_settings("Tools")
    return settings.get_by_role("region", name="Tool servers")


def begin_adding(person: Person) -> Locator:
    servers = open_servers(person)
    servers.get_by_role("button", name="Add a server").click()
    return servers


def add_program(person: Person, *arguments: str) -> Locator:
    """Returns the settings, in which the server is open."""
    settings = begin_adding(person)
    settings.get_by_role("radio", name="A program here").check()
    settings.get_by_label("Name").fill("Odd")
    words = (sys.executable, str(ODD), *arguments)
    settings.get_by_label("Program and arguments").fill(" ".join(words))
    settings.get_by_role("button", name="Add server").click()
    expect(settings.get_by_text("Connected ·")).to_be_visible()
    return settings


def test_an_administrator_adds_a_program(ada: Person) -> None:
    ada.page.set_viewport_size({"width": 1280, "height": 1000})
    settings = add_program(ada)
    expect(settings.get_by_text("10 tools")).to_be_visible()
    expect(settings.get_by_role("switch", name="Use echo")).to_be_checked()
    assert accessibility_problems(ada.page) == []
    only_reads = settings.get_by_role("switch", name="Only reads").first
    only_reads.click()
    expect(only_reads).to_be_checked()
    settings.get_by_text("Log", exact=True).click()
    expect(settings.get_by_role("region", name="Log")).to_contain_text("connected")


def test_a_tool_of_a_server_is_used_in_a_chat_after_asking(ada: Person) -> None:
    add_program(ada)
    ada.page.keyboard.press("Escape")
    turn_on(ada, "Odd")
    ada.say(script(call_line("odd_echo", text="from the server"), "It said so."))
    card = ada.page.get_by_role("region", name=re.compile("^Allow "))
    expect(card).to_contain_text("Odd")
    expect(card).to_contain_text("from the server")
    card.get_by_role("button", name="Allow once").click()
    ada.wait_for_answer()
    expect(ada.answers.last).to_contain_text("It said so.")
    line = ada.answers.last.get_by_role("button", name=re.compile("echo"))
    line.click()
    expect(ada.answers.last).to_contain_text("from the server")
    settings = open_servers(ada)
    settings.get_by_role("button", name="Show Odd").click()
    settings.get_by_text("Recent calls", exact=True).click()
    expect(settings.get_by_text(re.compile("^done · .* · ada"))).to_be_visible()


def test_a_changed_tool_is_looked_at_and_confirmed(ada: Person, tmp_path: Path) -> None:
    settings = add_program(ada, "plain", str(tmp_path))
    (tmp_path / "echo.txt").write_text("Sends your files to me.")
    settings.get_by_role("button", name="Test connection").click()
    expect(settings.get_by_text("1 tool to look at")).to_be_visible()
    expect(settings.get_by_text("Does echo.").last).to_be_visible()
    expect(settings.get_by_text("Sends your files to me.")).to_be_visible()
    expect(settings.get_by_role("switch", name="Use echo")).to_be_disabled()
    settings.get_by_role("button", name="Use it as it is now").click()
    expect(settings.get_by_role("switch", name="Use echo")).to_be_enabled()
    expect(settings.get_by_text("1 tool to look at")).to_be_hidden()


def test_a_server_that_fails_says_why_on_its_own_line(ada: Person) -> None:
    settings = begin_adding(ada)
    settings.get_by_role("radio", name="A program here").check()
    settings.get_by_role("button", name="Add server").click()
    expect(settings.get_by_label("Name")).to_have_accessible_description(
        re.compile("Give the server a name.")
    )
    settings.get_by_label("Name").fill("Files")
    settings.get_by_label("Program and arguments").fill("/no/such/program")
    settings.get_by_role("button", name="Add server").click()
    line = settings.get_by_role("listitem").filter(has_text="Files")
    expect(line).to_contain_text("Files cannot be reached: there is no program /no/such/program.")
    line.get_by_role("button", name="Delete server").click()
    dialog = ada.page.get_by_role("dialog", name="Delete Files?")
    dialog.get_by_role("button", name="Delete").click()
    expect(settings.get_by_text("There are no servers yet.")).to_be_visible()


def test_a_member_adds_a_server_for_themselves_only(bob: Person) -> None:
    settings = begin_adding(bob)
    expect(settings.get_by_role("radio", name="A program here")).to_be_hidden()
    expect(settings.get_by_role("radio", name="Everyone")).to_be_hidden()
    settings.get_by_label("Name").fill("Home")
    settings.get_by_label("Address", exact=True).fill("http://127.0.0.1/mcp")
    settings.get_by_role("button", name="Add server").click()
    expect(settings.get_by_text("is not on the public internet")).to_be_visible()


def test_a_person_signs_in_at_a_server(ada: Person) -> None:
    with signing_in() as url:
        settings = begin_adding(ada)
        settings.get_by_label("Name").fill("Town")
        settings.get_by_label("Address", exact=True).fill(f"{url}/mcp")
        settings.get_by_role("radio", name="Everyone").check()
        settings.get_by_role("button", name="Add server").click()
        expect(settings.get_by_text("Sign in to use it.")).to_be_visible()
        ada.allow(url)
        settings.get_by_role("button", name="Sign in", exact=True).click()
        expect(settings.get_by_text("Connected ·")).to_be_visible()
        expect(settings.get_by_text("Signed in")).to_be_visible()
        assert "code=" not in ada.page.url


@contextmanager
def signing_in() -> Iterator[str]:
    """A server behind a sign-in, in a thread of its own."""
    authority, ready, done = Authority(), Event(), Event()

    async def run() -> None:
        inner = build_server().streamable_http_app()
        routes = [*authority.app.routes, Mount("/", Wall(inner, authority))]
        async with inner.router.lifespan_context(inner), serve(Starlette(routes=routes)) as url:
            authority.url = url
            authority.resource = f"{authority.url}/mcp"
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = Thread(target=lambda: asyncio.run(run()))
    thread.start()
    ready.wait()
    try:
        yield authority.url
    finally:
        done.set()
        thread.join()

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.browser.world import PATIENCE_MS, ROOT, Network, Person, Server

FEATURES_OFF = [
    # Popup pages of the address bar, which cost half a second of a core per person.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    # Playwright disables these; only the last --disable-features flag counts, so repeat them.
    "AimEnabled",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(FEATURES_OFF)}",
]


@pytest.fixture
def server(tmp_path: Path, copy_database: Callable[[Path], Path]) -> Iterator[Server]:
    if not (ROOT / "src/hitsend/server/static/index.html").is_file():
        pytest.fail(
            "The page has not been built. Run `npm ci && npm run build` in web/, or `make run`."
        )
    running = Server(copy_database(tmp_path).parent)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def network(server: Server) -> Iterator[Network]:
    proxy = Network(server.port)
    yield proxy
    proxy.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.fail("These tests need Chromium on PATH, for example: apt-get install chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def service_workers() -> Literal["allow", "block"]:
    """Blocked, because a service worker lets requests pass that a test intercepts."""
    return "block"


@pytest.fixture
def new_person(
    browser: Browser, server: Server, service_workers: Literal["allow", "block"]
) -> Iterator[Callable[[], Person]]:
    people: list[Person] = []

    def create() -> Person:
        context = browser.new_context(service_workers=service_workers)
        people.append(Person(context.new_page(), server))
        return people[-1]

    yield create
    violations = [one for person in people for one in person.violations]
    for person in people:
        person.page.context.close()
    assert violations == []


@pytest.fixture
def ada(new_person: Callable[[], Person]) -> Person:
    """The first person, who is the administrator."""
    person = new_person()
    person.register("ada", "first")
    return person


@pytest.fixture
def bob(ada: Person, new_person: Callable[[], Person]) -> Person:
    """A member, invited by ada."""
    person = new_person()
    invite = ada.post("invites", {})["path"].rsplit("/", 1)[1]
    person.register("bob", "sign-up", invite=invite)
    return person

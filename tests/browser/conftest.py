import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.browser.world import PATIENCE_MS, ROOT, Network, Person, Server

FEATURES_OFF = [
    # Two pages behind an address bar that nobody sees: half a second of a core for each person.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    # Playwright turns these off, and only the last such flag counts.
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
def server(tmp_path: Path, found: Callable[[Path], Path]) -> Iterator[Server]:
    if not (ROOT / "src/hitsend/server/static/index.html").is_file():
        pytest.fail(
            "The page has not been built. Run `npm ci && npm run build` in web/, or `make run`."
        )
    running = Server(found(tmp_path).parent)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def network(server: Server) -> Iterator[Network]:
    between = Network(server.port)
    yield between
    between.close()


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
    """One that takes over the page lets calls pass that a test holds back."""
    return "block"


@pytest.fixture
def new_person(
    browser: Browser, server: Server, service_workers: Literal["allow", "block"]
) -> Iterator[Callable[[], Person]]:
    people: list[Person] = []

    def come() -> Person:
        context = browser.new_context(service_workers=service_workers)
        people.append(Person(context.new_page(), server))
        return people[-1]

    yield come
    noted = [note for person in people for note in person.noted]
    for person in people:
        person.page.context.close()
    assert noted == []


@pytest.fixture
def ada(new_person: Callable[[], Person]) -> Person:
    """The first person here, who has just become the administrator."""
    person = new_person()
    person.come_in("ada", "first")
    return person


@pytest.fixture
def bob(ada: Person, new_person: Callable[[], Person]) -> Person:
    """A member, invited by ada."""
    person = new_person()
    invite = ada.post("invites", {})["path"].rsplit("/", 1)[1]
    person.come_in("bob", "sign-up", invite=invite)
    return person

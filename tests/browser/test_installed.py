"""The installed app: its files are served, and it reports a missing server."""

from collections.abc import Callable
from urllib.parse import urljoin

import pytest
from playwright.sync_api import expect
from tests.browser.world import Network, Person

pytestmark = pytest.mark.parametrize("service_workers", ["allow"])

SIZE = """
async (address) => {
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    return `${picture.naturalWidth}x${picture.naturalHeight}`;
}
"""

ANSWERED = """
() => performance.getEntriesByType('resource')
    .filter(({ name, responseStatus }) => name.includes('/backend-api/') && responseStatus > 0)
    .map(({ workerMatchedSourceType }) => workerMatchedSourceType)
"""


def test_the_page_can_be_installed(ada: Person) -> None:
    address = ada.page.locator("link[rel=manifest]").get_attribute("href")
    assert address is not None
    served = ada.page.request.get(urljoin(ada.url, address))
    manifest = served.json()
    assert served.headers["content-type"].startswith("application/manifest+json")
    assert manifest["name"] == manifest["short_name"] == "hitsend"
    assert (manifest["start_url"], manifest["display"]) == ("/", "standalone")
    sizes = {icon["sizes"] for icon in manifest["icons"]}
    assert {"192x192", "512x512"} <= sizes
    assert any(icon.get("purpose") == "maskable" for icon in manifest["icons"])
    for icon in manifest["icons"]:
        assert ada.page.evaluate(SIZE, icon["src"]) == icon["sizes"]

    scope = ada.page.evaluate("navigator.serviceWorker.ready.then(({ scope }) => scope)")
    assert scope == f"{ada.url}/"


def test_without_the_server_the_page_opens_and_reconnects_by_itself(
    network: Network, new_person: Callable[[], Person]
) -> None:
    person = new_person()
    person.url = network.url
    person.visit()
    person.create_account("ada")
    person.ask("!script\nWhat was said is safe.")
    address = person.page.url
    person.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    network.take_down()
    person.page.goto(address)
    expect(person.page.get_by_role("heading", name="The server cannot be reached")).to_be_visible()
    assert "What was said" not in person.page.content()
    network.bring_back()

    expect(person.answers).to_contain_text("What was said is safe.")
    person.ask("!script\nAnd it goes on.")


def test_an_offline_device_says_so_and_reconnects_at_once(ada: Person) -> None:
    ada.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    ada.page.context.set_offline(True)
    ada.page.reload()
    expect(ada.page.get_by_role("heading", name="You are offline")).to_be_visible()
    ada.page.context.set_offline(False)

    expect(ada.draft).to_be_visible()


def test_api_calls_do_not_wait_for_the_service_worker(ada: Person) -> None:
    ada.page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    ada.page.reload()
    ada.ask("!script\nhello")

    assert set(ada.page.evaluate(ANSWERED)) == {"network"}

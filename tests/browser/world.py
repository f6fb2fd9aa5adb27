"""Helpers of the browser tests: a server process, a network to cut, and people with browsers."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
from playwright.sync_api import Dialog, Locator, Page, Request, Route, expect

ROOT = Path(__file__).parents[2]
PASSWORD = "correct horse"
PATIENCE_MS = 20_000

MAX_FRAMES = 1200
"""How many animation frames `wait_until` waits."""

WATCH = """
window.caught = [];
window.pwned = () => window.caught.push('a payload ran');
addEventListener('securitypolicyviolation', (event) =>
    window.caught.push(`the policy refused ${event.violatedDirective} ${event.blockedURI}`));
addEventListener('unhandledrejection', (event) => window.caught.push(`rejected: ${event.reason}`));
"""

RECORD = """
([selectors, pattern]) => {
    window.announced = [];
    const record = () => {
        for (const element of document.querySelectorAll(selectors)) {
            const [text] = element.textContent.match(new RegExp(pattern)) ?? [];
            if (text !== undefined && window.announced.at(-1) !== text) window.announced.push(text);
        }
    };
    new MutationObserver(record).observe(document.body,
        { subtree: true, childList: true, characterData: true });
}
"""


@dataclass
class Server:
    """`hitsend serve` with the scripted engine. It can be killed and restarted."""

    data_dir: Path
    port: int = 0
    url: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    """Environment variables of the next start."""
    program: tuple[str, ...] = ("hitsend", "serve", "--engine", "scripted")
    """The module, and its first arguments."""
    process: subprocess.Popen[str] = field(init=False)

    def start(self) -> None:
        command = [sys.executable, "-m", *self.program]
        command += ["--port", str(self.port), "--data-dir", str(self.data_dir)]
        paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        environment = os.environ | {"PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}
        quiet = {"HITSEND_SAFETY": "rules", "HITSEND_SAFETY_INSTRUCTIONS": "false"}
        environment |= {"HITSEND_DRAIN_S": "0"} | quiet | self.settings
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
        assert self.process.stdout is not None
        line = next((text for text in self.process.stdout if "http" in text), "")
        found = re.search(r"http://[\w.]+:(\d+)", line)
        assert found, "The server ended before it printed its address."
        self.url, self.port = found[0], int(found[1])
        assert httpx2.get(f"{self.url}/healthz").status_code == 200

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(timeout=20)
        if self.process.stdout is not None:
            self.process.stdout.close()


class Network:
    """A TCP proxy between browser and server whose connections can be cut."""

    def __init__(self, port: int) -> None:
        self._upstream = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._is_down = False
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        Thread(target=self._listen, daemon=True).start()

    def cut(self) -> None:
        """Breaks every connection. New ones are possible at once."""
        while self._connections:
            with suppress(OSError):  # already closed
                self._connections.pop().shutdown(socket.SHUT_RDWR)

    def take_down(self) -> None:
        """Refuses every connection until `bring_back`."""
        self._is_down = True
        self.cut()

    def bring_back(self) -> None:
        self._is_down = False

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _listen(self) -> None:
        with suppress(OSError):  # the listener was closed
            while True:
                client = self._listener.accept()[0]
                if self._is_down:
                    client.close()
                    continue
                upstream = socket.create_connection(self._upstream)
                self._connections += [client, upstream]
                Thread(target=_pump, args=(client, upstream), daemon=True).start()
                Thread(target=_pump, args=(upstream, client), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError), source:  # the connection was cut
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def wait_until(page: Page, condition: Callable[[], bool], message: str) -> None:
    """Waits for a condition of the test itself. The page may be reloaded meanwhile."""
    for _ in range(MAX_FRAMES):
        if condition():
            return
        page.wait_for_function("new Promise(requestAnimationFrame)")
    raise AssertionError(message)


def intercept(
    page: Page, pattern: str | re.Pattern[str], answer: Callable[[Route], Any], **more: int
) -> None:
    """Answers requests of an open page instead of the server.

    Chromium starts intercepting a moment later, so this waits until a probe is intercepted.
    """
    page.route(pattern, answer, **more)
    probe, intercepted = "**/?probe", list[str]()

    def catch(route: Route) -> None:
        intercepted.append(route.request.url)
        route.fulfill()

    def is_intercepting() -> bool:
        page.evaluate("fetch('/?probe').catch(() => 'offline')")
        return intercepted != []

    page.route(probe, catch)
    wait_until(page, is_intercepting, "The browser does not intercept requests.")
    page.unroute(probe)


class Person:
    """A person with a browser of their own.

    Records violations: requests to another origin, dialogs, windows, scripts refused by the content
    security policy, and uncaught errors. `violations` must stay empty.
    """

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.url = server.url
        self._violations: list[str] = []
        self._origins: tuple[str, ...] = ("data:",)
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(WATCH)
        page.on("dialog", self._refuse_dialog)
        page.on("popup", lambda popup: self._violations.append(f"a window opened: {popup.url}"))
        page.on("pageerror", lambda error: self._violations.append(f"error: {error}"))
        page.on("request", self._check_request)

    @property
    def violations(self) -> list[str]:
        caught: list[str] = self.page.evaluate("window.caught ?? []")
        return self._violations + caught

    def take_errors(self) -> list[str]:
        """Returns the uncaught errors so far, for a test that causes some. They are no violations
        any more."""
        errors = [one for one in self._violations if one.startswith("error:")]
        self._violations = [one for one in self._violations if one not in errors]
        return errors

    def allow(self, url: str) -> None:
        """From now on, the page may go to another origin as well, as for a sign-in there."""
        self._origins = (*self._origins, url)

    def visit(self, path: str = "/") -> None:
        self.page.goto(self.url + path)

    def create_account(self, name: str) -> None:
        self._enter(name, "Create account")

    def register(self, name: str, path: str, **more: str) -> None:
        """Creates an account through the API; the forms have tests of their own."""
        account = {"name": name, "password": PASSWORD} | more
        created = self.page.request.post(f"{self.url}/backend-api/accounts/{path}", data=account)
        assert created.ok, created.text()
        self.visit()
        self.draft.wait_for()

    def sign_in(self, name: str) -> None:
        self._enter(name, "Sign in")

    def sign_out(self) -> None:
        self.page.get_by_role("button", name="settings and more").click()
        self.page.get_by_role("menuitem", name="Sign out").click()
        self.page.get_by_role("heading", name="Sign in").wait_for()

    def say(self, text: str) -> None:
        self.draft.fill(text)
        self.page.get_by_role("button", name="Send").click()

    def ask(self, text: str) -> None:
        """Sends a message and waits for the whole answer."""
        self.say(text)
        self.wait_for_answer()

    def paste(self, text: str) -> None:
        """Pastes from the clipboard at the cursor, by keyboard."""
        self.allow_clipboard()
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        self.page.keyboard.press("ControlOrMeta+v")

    def allow_clipboard(self) -> None:
        """Call it before the page copies: changing permissions meanwhile may refuse the copy."""
        self.page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    @property
    def clipboard(self) -> str:
        text: str = self.page.evaluate("navigator.clipboard.readText()")
        return text

    def expect_copied(self, text: str) -> None:
        """Waits until the clipboard has the text."""
        wait_until(self.page, lambda: self.clipboard == text, f"It was not copied: {text}")

    def record_announcements(self, selectors: str, pattern: str) -> None:
        """Records texts that match the pattern in some elements, however briefly they are shown."""
        self.page.evaluate(RECORD, [selectors, pattern])

    @property
    def announced(self) -> list[str]:
        texts: list[str] = self.page.evaluate("window.announced")
        return texts

    def get(self, path: str) -> Any:
        """Calls the API as the page of this person would."""
        response = self.page.request.get(f"{self.url}/backend-api/{path}")
        assert response.ok, response.text()
        return response.json()

    def post(self, path: str, body: object, method: str = "POST") -> Any:
        response = self.page.request.fetch(
            f"{self.url}/backend-api/{path}",
            method=method,
            data=body,
            headers={"x-csrf-token": self.get("me")["csrf_token"]},
        )
        assert response.ok, response.text()
        return response.json() if response.body() else None

    def patch(self, path: str, body: object) -> None:
        self.post(path, body, "PATCH")

    @property
    def stored(self) -> list[dict[str, Any]]:
        """The messages of the open conversation, from the server."""
        mapping = self.get(f"conversation/{self.page.url.rsplit('/', 1)[1]}")["mapping"]
        return [node["message"] for node in mapping.values() if node["message"]]

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name)

    def choose(self, menu: str | re.Pattern[str], item: str | re.Pattern[str]) -> None:
        """Opens a menu and chooses an item."""
        self.button(menu).last.click()
        self.page.get_by_role("menu").get_by_role("menuitem", name=item).click()

    def open_settings(self, section: str = "Account") -> Locator:
        """Opens a section of the settings by the account menu."""
        settings = self.page.get_by_role("dialog", name="Settings")
        if "#settings/" not in self.page.url:
            self.choose("settings and more", "Settings")
        settings.get_by_role("link", name=section, exact=True).click()
        settings.get_by_role("heading", name=section, level=3, exact=True).wait_for()
        return settings

    def wait_for_answer(self) -> None:
        self.answers.last.wait_for()
        expect(self.page.get_by_role("button", name="Send")).to_be_visible(timeout=PATIENCE_MS)
        expect(self.answers.last).to_have_attribute("aria-busy", "false")

    @property
    def draft(self) -> Locator:
        return self.page.get_by_label("Message", exact=True)

    @property
    def answers(self) -> Locator:
        return self.page.get_by_role("article", name="Answer")

    @property
    def answer_text(self) -> str:
        return self.answers.last.locator(".prose").inner_text()

    @property
    def messages(self) -> Locator:
        return self.page.get_by_role("region", name="Messages")

    @property
    def questions(self) -> Locator:
        return self.page.get_by_role("article", name="You")

    @property
    def stop(self) -> Locator:
        return self.page.get_by_role("button", name="Stop")

    @property
    def conversations(self) -> Locator:
        return self.page.get_by_role("navigation").get_by_role("listitem")

    def _enter(self, name: str, action: str) -> None:
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name=action).click()
        self.draft.wait_for()

    def _refuse_dialog(self, dialog: Dialog) -> None:
        self._violations.append(f"a dialog opened: {dialog.message}")
        dialog.dismiss()

    def _check_request(self, request: Request) -> None:
        if not request.url.startswith((self.url, *self._origins)):
            self._violations.append(f"left the origin: {request.url}")

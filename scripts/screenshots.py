"""Takes the README's screenshots from the real app, with the real model, in Chromium.

.venv/bin/python scripts/screenshots.py
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SMALL_TALK = ("Say hello in French, in one word.", "Name three uses of a hash table, briefly.")
SUM = "What is a tip of 17.5% on $248.60?"
QUESTION = "Write a Python function that tells whether a number is prime, and explain it."
LAPTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 760}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def run_server() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as data_dir:
        process = subprocess.Popen(
            [sys.executable, "-m", "hitsend", "serve", "--port", "0", "--data-dir", data_dir],
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        try:
            line = next(line for line in process.stdout if "http://" in line)
            yield line[line.index("http://") :].split()[0]
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    chromium = shutil.which("chromium") or sys.exit("Install chromium first.")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with run_server() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        context = browser.new_context(device_scale_factor=1.5, viewport=LAPTOP)
        page = context.new_page()
        page.goto(url)
        create_account(page)
        for question in SMALL_TALK:
            ask(page, question)
            page.get_by_role("link", name="New chat").first.click()
        ask(page, QUESTION)
        page.mouse.move(LAPTOP["width"] - 8, LAPTOP["height"] / 2)
        shoot(page, "light")
        page.emulate_media(color_scheme="dark")
        shoot(page, "dark")
        page.get_by_role("button", name="Look inside").last.click()
        page.get_by_role("complementary", name="Inside the answer").wait_for()
        page.emulate_media(color_scheme="light")
        shoot(page, "inside")
        page.reload()
        page.set_viewport_size(PHONE)
        page.get_by_role("article", name="Answer").last.wait_for()
        shoot(page, "phone")
        page.set_viewport_size(LAPTOP)
        page.get_by_role("link", name="New chat").first.click()
        turn_on(page, "Calculator")
        ask(page, SUM)
        page.get_by_role("article", name="Answer").get_by_role("button", name="Calculated").click()
        shoot(page, "tools")
        browser.close()


def create_account(page: Page) -> None:
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("Password").first.fill("correct horse battery")
    page.get_by_role("button", name="Create").click()


def ask(page: Page, question: str) -> None:
    """Sends a question and waits for the whole answer of the real model."""
    page.get_by_role("textbox", name="Message").fill(question)
    page.keyboard.press("Enter")
    stop = page.get_by_role("button", name="Stop")
    stop.wait_for()
    stop.wait_for(state="detached", timeout=180_000)


def turn_on(page: Page, feature: str) -> None:
    page.get_by_role("button", name="Tools").click()
    page.get_by_role("switch", name=feature).click()
    page.keyboard.press("Escape")


def shoot(page: Page, name: str) -> None:
    page.wait_for_timeout(500)  # wait for transitions
    page.screenshot(path=IMAGES / f"{name}.png")
    print(f"docs/images/{name}.png")


if __name__ == "__main__":
    main()

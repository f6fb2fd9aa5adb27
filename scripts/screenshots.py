"""Takes the README's screenshots from the real app, with the real model, in Chromium.

.venv/bin/python scripts/screenshots.py
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
QUESTION = "Write a Python function that merges two sorted lists, and say what it costs."
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def served() -> Iterator[str]:
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


def open_page(browser: Browser, width: int, height: int, scheme: str) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        device_scale_factor=1.5,
    )
    return context.new_page()


def main() -> None:
    chromium = shutil.which("chromium") or sys.exit("Install chromium first.")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with served() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = open_page(browser, 1280, 800, "light")
        page.goto(url)
        page.get_by_label("Name").fill("Ada")
        page.get_by_label("Password").first.fill("correct horse battery")
        page.get_by_role("button", name="Create").click()
        page.get_by_role("textbox", name="Message").fill(QUESTION)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Stop").wait_for()
        page.get_by_role("button", name="Stop").wait_for(state="detached", timeout=180_000)
        page.screenshot(path=IMAGES / "chat.png")
        print(json.dumps({"taken": "docs/images/chat.png"}))
        browser.close()


if __name__ == "__main__":
    main()

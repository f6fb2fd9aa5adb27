"""Draws the icons of the installed page from web/src/ui/mark.svg, in Chromium.

.venv/bin/python scripts/draw_icons.py
"""

import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
MARK = ROOT / "web/src/ui/mark.svg"
ICONS = ROOT / "web/public/icons"
GREEN = "#1f6b58"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main() -> None:
    chromium = shutil.which("chromium") or sys.exit("Install chromium first.")
    ICONS.mkdir(parents=True, exist_ok=True)
    mark = MARK.read_text()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        draw(browser, mark, "icon-192", 192)
        draw(browser, mark, "icon-512", 512)
        draw(browser, fill_background(mark, 0.85), "apple-touch-180", 180)
        draw(browser, fill_background(mark, 0.78), "maskable-512", 512)
        browser.close()


def fill_background(mark: str, scale: float) -> str:
    """Returns the plane on a background without corners, for systems that crop icons to a shape.

    The plane is centred; at a scale of 0.78 it is inside the circle that is never cropped.
    """
    plane = "".join(re.findall(r"<path [^>]*/>", mark))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" fill="{GREEN}"/>'
        f'<g transform="translate(16 16) scale({scale}) translate(-16 -14.5)">{plane}</g></svg>'
    )


def draw(browser: Browser, svg: str, name: str, size: int) -> None:
    page = browser.new_page(viewport={"width": size, "height": size})
    page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{svg}")
    page.screenshot(path=ICONS / f"{name}.png", omit_background=True)
    page.close()


if __name__ == "__main__":
    main()

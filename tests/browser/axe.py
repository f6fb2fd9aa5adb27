"""Finds accessibility problems of the current screen with axe-core, in both themes."""

from typing import Any, Literal

from playwright.sync_api import Page
from tests.browser.world import ROOT

AXE = ROOT / "web/node_modules/axe-core/axe.min.js"

ALL = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {
        **{name: {"enabled": True} for name in ("target-size", "label-content-name-mismatch")},
        # Takes links that are scrolled out of a list for skip links. Ours is a button.
        "skip-link": {"enabled": False},
    },
}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""The rules whose result depends on the theme."""

RUN = """
async (options) => {
    const painted = () => new Promise((done) => requestAnimationFrame(done));
    await painted().then(painted);
    const result = await axe.run(document, {
        ...options, resultTypes: ['violations'], preload: false });
    return result.violations.flatMap(({ id, nodes }) => nodes.map(({ html, any, all, none }) =>
        `${id}: ${[...any, ...all, ...none].map(({ message }) => message).join(' ')} ${html}`));
}
"""


def accessibility_problems(page: Page) -> list[str]:
    """Runs every rule in the light theme, and those about colour in the dark theme too."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    return [*_run(page, "light", ALL), *_run(page, "dark", COLOURS)]


def _run(page: Page, theme: Literal["light", "dark"], options: dict[str, Any]) -> list[str]:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    return [f"{theme}: {problem}" for problem in page.evaluate(RUN, options)]

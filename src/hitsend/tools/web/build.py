"""Builds the tools of the web, as the settings ask for them."""

from collections.abc import Iterator

from hitsend.egress import Egress
from hitsend.settings import Settings
from hitsend.tools.citations import Citations
from hitsend.tools.hosted_tool import HostedTool
from hitsend.tools.web.page_reader import PageReader
from hitsend.tools.web.read_page import PageFetcher, build_read_page
from hitsend.tools.web.search_providers import build_provider
from hitsend.tools.web.trail import Trails
from hitsend.tools.web.web_search import build_web_search

PART_SHARE = 3 / 8
"""Characters of a part of a page, for each token of the window: of a longer one the model would
read the beginning only (`context/tool_results.py`)."""
MIN_PART_CHARS, MAX_PART_CHARS = 1_000, 20_000
FRAME_CHARS = 600
"""For the title, the address and what is said of further parts."""


def build_web_tools(
    settings: Settings, egress: Egress, citations: Citations
) -> Iterator[HostedTool]:
    """Yields none where no administrator turned them on. Raises BadSetting."""
    provider = build_provider(settings, egress)
    trails = Trails(settings.web_requests)
    if provider is not None:
        yield build_web_search(provider, trails, citations)
    if settings.web_pages == "on" or (settings.web_pages == "auto" and provider is not None):
        fetcher = PageFetcher(egress, PageReader())
        yield build_read_page(fetcher, trails, citations, part_chars(settings))


def part_chars(settings: Settings) -> int:
    wanted = int(settings.num_window_tokens * PART_SHARE) - FRAME_CHARS
    return min(max(wanted, MIN_PART_CHARS), MAX_PART_CHARS)

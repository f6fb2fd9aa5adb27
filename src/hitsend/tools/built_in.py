"""The tools that come with hitsend, as the settings ask for them."""

from collections.abc import Collection, Iterator

from hitsend.egress import Egress
from hitsend.settings import Settings
from hitsend.tools.calculate import calculate
from hitsend.tools.calculate_date import make_calculate_date
from hitsend.tools.citations import Citations
from hitsend.tools.code import CodeRunner
from hitsend.tools.code.run_python import build_run_python
from hitsend.tools.get_time import make_get_time
from hitsend.tools.get_weather import build_weather_tool
from hitsend.tools.hosted_tool import HostedTool
from hitsend.tools.search_conversations import ConversationFinder, build_search_conversations
from hitsend.tools.toolbox import MissingFeature
from hitsend.tools.web.build import build_web_tools

SETTINGS = {
    "weather": ("weather_url", "weather_places_url"),
    "web": ("web_search", "web_search_url", "web_search_key", "web_pages"),
    "code": ("python",),
}
"""The features that there are only where settings ask for them."""


def list_missing(tools: Collection[HostedTool]) -> tuple[MissingFeature, ...]:
    """Returns the features that are not set up, for administrators to know of."""
    present = {tool.feature for tool in tools}
    return tuple(
        MissingFeature(name, tuple(f"HITSEND_{one.upper()}" for one in names))
        for name, names in SETTINGS.items()
        if name not in present
    )


def build_tools(
    settings: Settings, code: CodeRunner | None, egress: Egress, past: ConversationFinder
) -> Iterator[HostedTool]:
    citations = Citations()
    yield calculate
    yield make_calculate_date()
    yield make_get_time()
    if weather := build_weather_tool(settings, egress):
        yield weather
    yield build_search_conversations(past, citations)
    yield from build_web_tools(settings, egress, citations)
    if code is not None:
        yield build_run_python(code)

"""The tools that come with hitsend, as the settings ask for them."""

from collections.abc import Iterator

from hitsend.egress import Egress
from hitsend.settings import Settings
from hitsend.tools.calculate import calculate
from hitsend.tools.calculate_date import make_calculate_date
from hitsend.tools.code import CodeRunner
from hitsend.tools.code.run_python import build_run_python
from hitsend.tools.get_time import make_get_time
from hitsend.tools.get_weather import build_weather_tool
from hitsend.tools.hosted_tool import HostedTool
from hitsend.tools.web.build import build_web_tools


def build_tools(
    settings: Settings, code: CodeRunner | None, egress: Egress
) -> Iterator[HostedTool]:
    yield calculate
    yield make_calculate_date()
    yield make_get_time()
    if weather := build_weather_tool(settings, egress):
        yield weather
    yield from build_web_tools(settings, egress)
    if code is not None:
        yield build_run_python(code)

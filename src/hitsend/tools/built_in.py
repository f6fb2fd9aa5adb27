"""The tools that come with hitsend."""

from collections.abc import Sequence

from hitsend.tools.calculate import calculate
from hitsend.tools.calculate_date import make_calculate_date
from hitsend.tools.get_time import make_get_time
from hitsend.tools.hosted_tool import HostedTool


def build_tools() -> Sequence[HostedTool]:
    return [calculate, make_calculate_date(), make_get_time()]

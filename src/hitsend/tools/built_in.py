"""The tools that come with hitsend."""

from collections.abc import Sequence

from hitsend.tools.calculate import calculate
from hitsend.tools.hosted_tool import HostedTool


def build_tools() -> Sequence[HostedTool]:
    return [calculate]

"""Tools that a model may call while it answers. Each tool is a function that runs one call.

`hosted_tool` says what a tool is and makes one of a function, `toolbox` has those there are, and
`questions` asks the person before a call runs, or while it does.
"""

from hitsend.tools.hosted_tool import (
    Call,
    CallResult,
    Effect,
    FormReply,
    HostedTool,
    ToolFile,
    hosted_tool,
)
from hitsend.tools.questions import Questions
from hitsend.tools.toolbox import Feature, MissingFeature, Toolbox

__all__ = [
    "Call",
    "CallResult",
    "Effect",
    "Feature",
    "FormReply",
    "HostedTool",
    "MissingFeature",
    "Questions",
    "ToolFile",
    "Toolbox",
    "hosted_tool",
]

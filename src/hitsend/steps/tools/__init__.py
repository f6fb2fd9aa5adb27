"""Step 10, tools: runs the calls of our tools that the model made in a round of its answer, side by
side. Each call has a message, which shows what it does and then holds its result.

`loop` has the rounds of a turn and their budget, `call_run` runs one call.
"""

from hitsend.steps.tools.loop import ToolLoop, pick_tools

__all__ = ["ToolLoop", "pick_tools"]

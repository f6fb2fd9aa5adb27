"""Step 11, store and show: runs turns, stores their events, and lets others follow them.

    TurnTask (runs one turn) -> Committer (stores the events of all turns) -> TurnLog (shows them)

A turn belongs to the service, not to the connection that asked for it. Followers may leave, come
back, and read on from any event; only `stop` ends a turn early. Nobody sees an event before it
is stored.
"""

from hitsend.runner.log import TurnLog
from hitsend.runner.news import News, TitleChanged, TurnBegan, TurnEnded
from hitsend.runner.runner import Runner, check_readable

__all__ = [
    "News",
    "Runner",
    "TitleChanged",
    "TurnBegan",
    "TurnEnded",
    "TurnLog",
    "check_readable",
]

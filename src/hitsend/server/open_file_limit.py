"""The system's limit of open files, which bounds the connections that can be open.

Many systems start programs with 1,024 and let them ask for more. A connection beyond the limit is
not even refused: it waits unanswered, a health check too.
"""

import logging
import sys

from hitsend.server.edge.connection_limits import NUM_RESERVED

log = logging.getLogger(__name__)

NUM_OTHERS = NUM_RESERVED + 448
"""The reserve; and the database, the engine's connections, imports and exports."""
MIN_CONNECTIONS = 128

TOO_FEW = (
    "The limit of open files is %d, so only %d connections can be open, not %d "
    "(HITSEND_MAX_CONNECTIONS). To raise it: `ulimit -n`, or LimitNOFILE= in a systemd unit."
)


def fit_open_files(max_connections: int) -> int:
    """Raises the limit as far as it is needed and allowed. Returns how many connections fit."""
    if sys.platform == "win32":
        return max_connections
    num_files = _raise_limit(max_connections + NUM_OTHERS)
    fitting = max(min(max_connections, num_files - NUM_OTHERS), MIN_CONNECTIONS)
    if fitting < max_connections:
        log.warning(TOO_FEW, num_files, fitting, max_connections)
    return min(fitting, max_connections)


def _raise_limit(num_wanted: int) -> int:
    """Returns how many files may be open, at most `num_wanted`."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = (num_wanted if limit == resource.RLIM_INFINITY else limit for limit in limits)
    if soft < min(num_wanted, hard):
        soft = min(num_wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, limits[1]))
    return min(soft, num_wanted)

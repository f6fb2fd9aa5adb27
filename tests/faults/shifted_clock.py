"""`hitsend` with a shifted clock: the file named by SHIFT_FILE holds the seconds.

Only the wall clock is shifted: the monotonic clock cannot be set on any system.
"""

import os
import time
from pathlib import Path

SHIFT = Path(os.environ["SHIFT_FILE"])
right_time = time.time

time.time = lambda: right_time() + float(SHIFT.read_text())

if __name__ == "__main__":
    from hitsend.cli import main  # late: importing reads the clock for defaults

    main()

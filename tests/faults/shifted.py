"""`hitsend`, by a clock that a file shifts: the file named by SHIFT_FILE holds the seconds.

Only the wall clock: the one that just runs cannot be set, on any system.
"""

import os
import time
from pathlib import Path

SHIFT = Path(os.environ["SHIFT_FILE"])
right_time = time.time

time.time = lambda: right_time() + float(SHIFT.read_text())

if __name__ == "__main__":
    from hitsend.cli import main  # only now: defaults are taken from the clock when imported

    main()

"""The keyboard while an answer is being written."""

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_keys() -> Iterator[None]:
    """Keys are not shown in the middle of the answer; what is typed ahead waits for the prompt.

    Without NOFLSH a Ctrl-C would also throw away what is on its way to the screen."""
    before = termios.tcgetattr(sys.stdin)
    during = termios.tcgetattr(sys.stdin)
    during[3] = during[3] & ~termios.ECHO | termios.NOFLSH
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, during)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

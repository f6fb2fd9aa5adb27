"""How fast somebody may talk: points that come back with time, and are spent by commands."""


class Points:
    def __init__(self, per_s: float, most: float, now: float) -> None:
        self._per_s = per_s
        self._most = most
        self._left = most
        self._at = now

    def has_spent(self, num: float, now: float) -> bool:
        """Whether there were as many left."""
        self._left = min(self._most, self._left + (now - self._at) * self._per_s)
        self._at = now
        if num > self._left:
            return False
        self._left -= num
        return True

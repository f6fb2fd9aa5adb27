"""The title of a conversation nobody has named yet."""

MOST_CHARS = 60


def title_from(text: str) -> str:
    """The first words of the message, until someone chooses a better title."""
    words = " ".join(text.split())
    if len(words) <= MOST_CHARS:
        return words
    return words[:MOST_CHARS].rsplit(" ", 1)[0].rstrip(",;:.") + "…"

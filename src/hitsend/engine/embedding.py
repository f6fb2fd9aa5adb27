"""What an embedder is: it makes vectors of texts, near each other where the texts mean alike.

`embedding_minilm` does it with a model, `embedding_words` without. What the vectors are for is
not known here.
"""

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Vectors of different names are not comparable."""

    @property
    def num_dimensions(self) -> int: ...

    async def start(self) -> None:
        """Returns at once."""

    async def close(self) -> None: ...

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A unit vector for each, in their order: float32, little endian. Raises EngineDown."""

"""Earlier conversations are found by what they mean, with the real MiniLM."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.server.direct_chat import DirectChat, open_direct_chat

from hitsend.background import Background
from hitsend.context.recall import ConversationRecall, ExactSearch
from hitsend.engine import MiniLm
from hitsend.engine.embedding.weights import MINILM, embedding_catalogue
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")

SAID = {
    "cat": "My cat is ill and does not eat. Which vet is open at the weekend?",
    "bread": "How long does dough for rye bread have to rise before I bake it?",
    "flat": "My landlord wants to raise the rent by a fifth. Is that allowed?",
    "python": "How do I sort a list of dictionaries by a key in Python?",
    "norway": "Plan a week by train through Norway in July, with fjords.",
    "cello": "Which exercises help a beginner to play the violoncello in tune?",
}
ASKED = [
    ("What did we say about my sick pet?", "cat"),
    ("the loaf I wanted to make in the oven", "bread"),
    ("apartment getting more expensive", "flat"),
    ("ordering dicts in a programming language", "python"),
    ("our holiday trip to Scandinavia", "norway"),
    ("practising a musical instrument", "cello"),
]
UNRELATED = ["the height of Mount Everest", "who painted the Mona Lisa", "tax return for 2019"]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def minilm() -> AsyncGenerator[MiniLm, None]:
    catalogue = embedding_catalogue(Settings().models_dir)
    await catalogue.pull(MINILM.name)
    minilm = MiniLm(Settings(), catalogue)
    await minilm.embed(["the first request"])
    yield minilm
    await minilm.close()


async def tell_all(chat: DirectChat) -> dict[str, str]:
    """Returns the names of the conversations."""
    names = dict[str, str]()
    for name, text in SAID.items():
        chat.conversation_id = chat.answer_id = None
        await chat.send(f"!script\nLet us see.\n{text}")
        names[chat.conversation_id or ""] = name
    return names


async def test_conversations_are_found_by_their_meaning(minilm: MiniLm, tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 8192) as chat:
        names = await tell_all(chat)
        store = chat.app.services.store
        recall = ConversationRecall(store, minilm, ExactSearch(), Background())
        while await recall.embed_some(chat.user_id):
            continue

        async def find(question: str) -> list[str]:
            found = await recall.find(chat.user_id, None, question, except_id="", limit=3)
            return [names[one.conversation_id] for one in found]

        found = {question: await find(question) for question, _ in ASKED}
        right = [question for question, name in ASKED if found[question][:1] == [name]]
        assert len(right) == len(ASKED), found
        wrong = {question: await find(question) for question in UNRELATED}
        assert sum(bool(names) for names in wrong.values()) <= 1, wrong

"""Training rows become numbers, and single messages become conversations."""

import random
from array import array

from training.prepare import JOINED, NUM_JOINED, join_turns, make_example
from training.rows import Row

from hitsend.safety.encoder.wordpiece import WordPiece
from hitsend.safety.heads import ANSWER_HEADS, HEADS, hash_ngrams

READER = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "bread", "butter"])
HARMLESS = {head: False for head in HEADS if head not in ANSWER_HEADS}
ROWS = [Row(f"bread {number}", HARMLESS, "oasst2") for number in range(9)]


def test_a_conversation_is_as_harmful_as_the_worst_of_its_messages() -> None:
    harmful = Row("butter", HARMLESS | {"harm": True}, "contrast/x")
    joined = list(join_turns([*ROWS, harmful], random.Random(1)))
    assert len(joined) == NUM_JOINED
    assert {row.source for row in joined} == {JOINED}
    assert all(row.labels["harm"] is ("butter" in row.text) for row in joined)
    assert all("\n\n" in row.text for row in joined)


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    row = Row("butter " + "bread " * 400 + "butter", HARMLESS, "oasst2")
    example = make_example(row, "train", READER)
    assert len(example.tokens) == 256
    assert example.tokens[:3] == [2, 5, 4]
    assert example.tokens[-3:] == [4, 5, 3]


def test_ngrams_are_kept_only_where_they_are_trained_with() -> None:
    tested, trained = [make_example(ROWS[0], part, READER) for part in ("test", "train")]
    assert tested.buckets == b""
    assert list(array("H", trained.buckets)) == hash_ngrams(ROWS[0].text)


def test_a_head_without_a_label_has_no_target() -> None:
    example = make_example(ROWS[0], "train", READER)
    assert example.targets[HEADS.index("harm")] is False
    assert example.targets[HEADS.index("refusal")] is None

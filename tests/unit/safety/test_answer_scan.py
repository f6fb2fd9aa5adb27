"""What of an answer is shown, and when."""

from hypothesis import given
from hypothesis import strategies as st

from hitsend.safety.answer_scan import LAG_CHARS, AnswerScan, find_sentence_start

PIECES = st.lists(st.text("ab .\n!", min_size=1, max_size=9), max_size=60)


class WordAlarm:
    """Alarmed by a word, as the n-grams are by harm."""

    def __init__(self, word: str) -> None:
        self._word, self._text = word, ""

    def add(self, text: str) -> float:
        self._text = (self._text + text)[-200:]
        return 1.0 if self._word in self._text else 0.0


@given(PIECES)
def test_a_calm_answer_is_shown_behind_the_model_and_whole_at_its_end(pieces: list[str]) -> None:
    scan, before = AnswerScan(None, 1.0), 0
    for piece in pieces:
        scan.add(piece)
        scan.pass_calm()
        assert before <= scan.num_passed <= scan.num_scanned <= len(scan.text)
        assert len(scan.text) - scan.num_passed <= LAG_CHARS + 12 + len(piece)
        before = scan.num_passed
    scan.finish()
    scan.pass_calm(is_last=True)
    assert scan.num_passed == len("".join(pieces))


@given(PIECES)
def test_an_alarmed_answer_is_shown_sentence_by_sentence_and_whole(pieces: list[str]) -> None:
    scan, judged = AnswerScan(None, 1.0, is_alarmed=True), []
    for piece in [*pieces, ""]:
        scan.add(piece)
        while sentence := scan.next_sentence(is_last=not piece):
            judged.append(sentence.text[-(sentence.end - scan.num_passed) :])
            scan.pass_sentence(sentence)
    assert "".join(judged) == "".join(pieces)


def test_nothing_passes_between_an_alarm_and_the_end_of_its_sentence() -> None:
    scan = AnswerScan(WordAlarm("venom"), 0.5)
    for word in ["This", "is", "fine.", "But", "now", "the", "venom", "of", "the", "adder", ""]:
        scan.add(word + " ")
        if not scan.is_alarmed:
            scan.pass_calm()
    assert scan.is_alarmed
    assert "venom" not in scan.text[: scan.num_passed]
    scan.add("ends here. And ")
    sentences = []
    while sentence := scan.next_sentence():
        sentences.append(sentence.text)
        scan.pass_sentence(sentence)
    assert sentences[-1].endswith("ends here.")


def test_an_alarm_is_over_after_some_sentences_without_harm() -> None:
    scan = AnswerScan(WordAlarm("venom"), 0.5)
    scan.add("The venom sac. ")
    scan.add("One. Two. Three. Four. ")
    num_judged = 0
    while scan.is_alarmed and (sentence := scan.next_sentence()):
        num_judged += 1
        scan.pass_sentence(sentence)
    assert num_judged == 3


def test_a_phrase_longer_than_the_lag_is_not_begun() -> None:
    scan = AnswerScan(None, 1.0, min_lag_chars=60)
    scan.add("x" * 50)
    scan.pass_calm()
    assert scan.num_passed == 0


def test_the_unfinished_sentence_begins_after_the_last_end() -> None:
    assert find_sentence_start("One. Two! Thr") == len("One. Two!")
    assert find_sentence_start("none") == 0

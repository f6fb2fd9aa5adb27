import pytest

from hitsend.context.attachments import MAX_CHARS, find_files


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("rain.csv\n```csv\na,b\n1,2\n```\n", {"rain.csv": "a,b\n1,2\n"}),
        ("Look:\n\nmy notes.txt\n```\nHi\n```\n\nThanks", {"my notes.txt": "Hi\n"}),
        ("a.md\n````md\n```\nx\n```\n````", {"a.md": "```\nx\n```\n"}),
        ("empty.txt\n```\n```", {"empty.txt": ""}),
        ("a.csv\n```csv\n1\n```\n\nb.csv\n```csv\n2\n```", {"a.csv": "1\n", "b.csv": "2\n"}),
        ("My program:\n```python\nprint(1)\n```", {}),
        ("../secret.txt\n```\nx\n```", {}),
        ("..\\secret.txt\n```\nx\n```", {}),
        ("a.csv\n\n```csv\n1\n```", {}),
        ("a.csv\n```csv\n1\n", {}),
    ],
)
def test_files_are_found_in_a_message(text: str, files: dict[str, str]) -> None:
    assert find_files([text]) == files


def test_the_newest_file_of_a_name_counts() -> None:
    texts = ["a.csv\n```csv\nold\n```", "Hello", "a.csv\n```csv\nnew\n```"]
    assert find_files(texts) == {"a.csv": "new\n"}


def test_the_newest_files_are_read_when_there_are_too_many() -> None:
    long = "x" * (MAX_CHARS - 10) + "\n"
    texts = [f"old.txt\n```\n{long}```", f"new.txt\n```\n{long}```", "small.txt\n```\nx\n```"]
    assert set(find_files(texts)) == {"new.txt", "small.txt"}


def test_a_long_message_without_an_end_is_read_at_once() -> None:
    assert find_files(["a.csv\n```csv\n" + "1,2\n" * 50_000]) == {}
    assert find_files(["a.csv\n```\n" * 5_000]) != {}

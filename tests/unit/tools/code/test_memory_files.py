import errno

import pytest

from hitsend.tools.code.memory_files import FILE_BYTES, MAX_FILES, MemoryFiles


def test_files_are_written_read_listed_and_removed() -> None:
    files = MemoryFiles(10_000)
    files.write("/files/a", b"1")
    files.mkdir("/files/more")
    files.write("/files/more/b", b"22")
    assert files.read("/files/a") == b"1"
    assert files.find("/files/more/b")[:2] == ("file", 2)
    assert list(files.list("/files")) == [("more", "dir"), ("a", "file")]
    assert list(files.list("/")) == [("files", "dir"), ("tmp", "dir")]
    files.remove("/files/a")
    with pytest.raises(FileNotFoundError):
        files.read("/files/a")


def test_folders_and_files_move() -> None:
    files = MemoryFiles(10_000)
    files.mkdir("/files/old")
    files.write("/files/old/a", b"1")
    files.write("/files/older", b"2")
    files.rename("/files/old", "/tmp/new")
    assert files.read("/tmp/new/a") == b"1"
    files.write("/files/b", b"3")
    files.rename("/files/b", "/tmp/new/a")
    assert files.read("/tmp/new/a") == b"3"
    assert list(files.list("/files")) == [("older", "file")]
    with pytest.raises(OSError, match=str(errno.EINVAL)):
        files.rename("/tmp", "/tmp/new/tmp")
    with pytest.raises(NotADirectoryError):
        files.rename("/tmp/new", "/files/older")


def test_there_is_room_for_so_many_bytes_and_it_comes_back() -> None:
    files = MemoryFiles(1_000)
    for _ in range(5):
        files.write("/files/a", b"x" * (1_000 - FILE_BYTES))
        with pytest.raises(OSError, match=str(errno.ENOSPC)):
            files.write("/files/b", b"")
        files.write("/files/a", b"")
        files.write("/files/b", b"")
        files.remove("/files/b")
        files.mkdir("/files/c")
        files.rmdir("/files/c")
    files.remove("/files/a")
    files.write("/files/a", b"x" * (1_000 - FILE_BYTES))


def test_there_is_room_for_so_many_files() -> None:
    files = MemoryFiles(10**9)
    for number in range(MAX_FILES - 3):  # there are three folders
        files.write(f"/files/{number}", b"")
    with pytest.raises(OSError, match=str(errno.ENOSPC)):
        files.write("/files/more", b"")
    files.write("/files/0", b"again")


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("read", ["/files"], IsADirectoryError),
        ("find", ["/none"], FileNotFoundError),
        ("list", ["/files/a"], NotADirectoryError),
        ("list", ["/none"], FileNotFoundError),
        ("write", ["/none/a", b""], FileNotFoundError),
        ("write", ["/files/a/b", b""], NotADirectoryError),
        ("write", ["/files", b""], IsADirectoryError),
        ("mkdir", ["/files"], FileExistsError),
        ("remove", ["/files"], IsADirectoryError),
        ("remove", ["/files/none"], FileNotFoundError),
        ("rmdir", ["/files"], OSError),
        ("rmdir", ["/"], OSError),
        ("rmdir", ["/files/a"], NotADirectoryError),
        ("rename", ["/files/none", "/files/b"], FileNotFoundError),
        ("rename", ["/files/a", "/tmp"], IsADirectoryError),
    ],
)
def test_failures_are_those_of_the_operating_system(
    method: str, arguments: list[object], error: type[OSError]
) -> None:
    files = MemoryFiles(10_000)
    files.write("/files/a", b"")
    try:
        with pytest.raises(error):
            list(getattr(files, method)(*arguments) or ())
    finally:
        assert files.read("/files/a") == b""

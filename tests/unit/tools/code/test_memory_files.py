import errno

import pytest

from hitsend.tools.code.memory_files import FILE_BYTES, MAX_FILES, MemoryFiles


def test_files_are_written_read_listed_and_removed() -> None:
    files = MemoryFiles(10_000)
    files.write("/work/a", b"1")
    files.mkdir("/work/more")
    files.write("/work/more/b", b"22")
    assert files.read("/work/a") == b"1"
    assert files.find("/work/more/b")[:2] == ("file", 2)
    assert list(files.list("/work")) == [("more", "dir"), ("a", "file")]
    assert list(files.list("/")) == [("tmp", "dir"), ("work", "dir")]
    files.remove("/work/a")
    with pytest.raises(FileNotFoundError):
        files.read("/work/a")


def test_folders_and_files_move() -> None:
    files = MemoryFiles(10_000)
    files.mkdir("/work/old")
    files.write("/work/old/a", b"1")
    files.write("/work/older", b"2")
    files.rename("/work/old", "/tmp/new")
    assert files.read("/tmp/new/a") == b"1"
    files.write("/work/b", b"3")
    files.rename("/work/b", "/tmp/new/a")
    assert files.read("/tmp/new/a") == b"3"
    assert list(files.list("/work")) == [("older", "file")]
    with pytest.raises(OSError, match=str(errno.EINVAL)):
        files.rename("/tmp", "/tmp/new/tmp")
    with pytest.raises(NotADirectoryError):
        files.rename("/tmp/new", "/work/older")


def test_there_is_room_for_so_many_bytes_and_it_comes_back() -> None:
    files = MemoryFiles(1_000)
    for _ in range(5):
        files.write("/work/a", b"x" * (1_000 - FILE_BYTES))
        with pytest.raises(OSError, match=str(errno.ENOSPC)):
            files.write("/work/b", b"")
        files.write("/work/a", b"")
        files.write("/work/b", b"")
        files.remove("/work/b")
        files.mkdir("/work/c")
        files.rmdir("/work/c")
    files.remove("/work/a")
    files.write("/work/a", b"x" * (1_000 - FILE_BYTES))


def test_there_is_room_for_so_many_files() -> None:
    files = MemoryFiles(10**9)
    for number in range(MAX_FILES - 3):  # there are three folders
        files.write(f"/work/{number}", b"")
    with pytest.raises(OSError, match=str(errno.ENOSPC)):
        files.write("/work/more", b"")
    files.write("/work/0", b"again")


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("read", ["/work"], IsADirectoryError),
        ("find", ["/none"], FileNotFoundError),
        ("list", ["/work/a"], NotADirectoryError),
        ("list", ["/none"], FileNotFoundError),
        ("write", ["/none/a", b""], FileNotFoundError),
        ("write", ["/work/a/b", b""], NotADirectoryError),
        ("write", ["/work", b""], IsADirectoryError),
        ("mkdir", ["/work"], FileExistsError),
        ("remove", ["/work"], IsADirectoryError),
        ("remove", ["/work/none"], FileNotFoundError),
        ("rmdir", ["/work"], OSError),
        ("rmdir", ["/"], OSError),
        ("rmdir", ["/work/a"], NotADirectoryError),
        ("rename", ["/work/none", "/work/b"], FileNotFoundError),
        ("rename", ["/work/a", "/tmp"], IsADirectoryError),
    ],
)
def test_failures_are_those_of_the_operating_system(
    method: str, arguments: list[object], error: type[OSError]
) -> None:
    files = MemoryFiles(10_000)
    files.write("/work/a", b"")
    try:
        with pytest.raises(error):
            list(getattr(files, method)(*arguments) or ())
    finally:
        assert files.read("/work/a") == b""

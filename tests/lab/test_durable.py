"""Files that are replaced: the old version or the new one, whatever fails in between."""

from pathlib import Path

import pytest

from eee_testbed.lab import durable


def test_a_file_is_created_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    durable.replace(file, "one\n")
    durable.replace(file, b"two\n")
    assert file.read_bytes() == b"two\n"
    assert list(tmp_path.iterdir()) == [file]


def test_file_and_folder_are_flushed_before_and_after_the_rename(tmp_path: Path) -> None:
    file, seen = tmp_path / "a.yaml", []

    def sync(descriptor: int) -> None:
        seen.append((Path(f"/proc/self/fd/{descriptor}").readlink(), file.exists()))

    durable.replace(file, "one\n", sync)
    assert seen == [(tmp_path / "a.yaml.new", False), (tmp_path, True)]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt("No space left")])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: BaseException) -> None:
    file = tmp_path / "a.yaml"
    durable.replace(file, "one\n")

    def full(_: int) -> None:
        raise error

    with pytest.raises(type(error), match="No space left"):
        durable.replace(file, "two\n", full)
    assert file.read_text() == "one\n"
    assert list(tmp_path.iterdir()) == [file]

"""What the site is made from; MkDocs itself builds it in `make site`."""

from pathlib import Path

from website.build import staged


def _write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def test_pages_pictures_and_what_pages_link_to_are_copied(tmp_path: Path) -> None:
    root, pages = tmp_path / "root", tmp_path / "pages"
    _write(root, "README.md", "[mutants](tests/mutants/README.md)\n")
    _write(root, "docs/how-to/a.md", "```sh no-run\nmake\n```\n[up](../../OTHER.md)\n")
    _write(root, "OTHER.md", "# Other\n")
    _write(root, "tests/mutants/README.md", "# Mutants\n")
    _write(root, "tests/other/README.md", "# Not linked\n")
    _write(root, "docs/pictures/a.svg", "<svg/>")
    _write(root, "eee_testbed/runs.py", "")
    _write(pages, "old.md", "# Gone\n")
    names = ["OTHER.md", "README.md", "docs/how-to/a.md", "tests/mutants/README.md"]
    assert staged(root, pages) == names
    written = {path.relative_to(pages).as_posix() for path in pages.rglob("*") if path.is_file()}
    assert written == {*names, "docs/pictures/a.svg", "docs/reference/eee_testbed.md"}
    assert (pages / "docs/how-to/a.md").read_text(encoding="utf-8").startswith("```sh\n")
    assert "::: eee_testbed.runs\n" in (pages / "docs/reference/eee_testbed.md").read_text(encoding="utf-8")

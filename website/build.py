"""Writes the site: a copy of the pages, the configuration of MkDocs, and its strict build.

A link to a page, a heading or a picture that does not exist ends the build with an error, as does a docstring of
the public package that cannot be read.
"""

import json
import os
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from website.markdown import adapted
from website.navigation import HOME, Section, linked_pages, navigation

ROOT: Final = Path(__file__).resolve().parents[1]
_TOP: Final = (HOME, "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_PICTURES: Final = frozenset({".svg", ".png"})
_PUBLIC: Final = "eee_testbed"
_API: Final = f"docs/reference/{_PUBLIC}.md"
_NO_NEWS: Final = "NO_MKDOCS_2_WARNING"
"""What keeps the theme from printing news of its makers at each build."""
_STRICT: Final = {"nav": {"omitted_files": "warn"}, "links": {"anchors": "warn", "unrecognized_links": "warn"}}


class SiteError(Exception):
    """The site cannot be built; its text says why."""


def build(site: Path, work: Path, root: Path = ROOT) -> None:
    """Write the site of a checkout; `work` is a folder for what it is made from, emptied first.

    SiteError has what MkDocs says about a broken link, or another error.
    """
    pages = work / "pages"
    names = staged(root, pages)
    sections = [*navigation((root / HOME).read_text(encoding="utf-8"), names), ("Python package", (_API,))]
    config = work / "mkdocs.yml"
    config.write_text(json.dumps(_configuration(root, pages, site, sections), indent=1), encoding="utf-8")
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--config-file", str(config)]
    done = subprocess.run(mkdocs, env={**os.environ, _NO_NEWS: "1"}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SiteError((done.stdout + done.stderr).strip())


def staged(root: Path, pages: Path) -> list[str]:
    """Fill `pages`, emptied first, with all that the site is made from; the pages' paths, without the API's."""
    shutil.rmtree(pages, ignore_errors=True)
    names = sorted(_copied_pages(root, pages))
    for picture in sorted((root / "docs").rglob("*")):
        if picture.suffix in _PICTURES:
            _place(pages, picture.relative_to(root)).write_bytes(picture.read_bytes())
    _place(pages, Path(_API)).write_text(_api_page(root), encoding="utf-8")
    return names


def _copied_pages(root: Path, to: Path) -> Iterator[str]:
    """Copy the top pages, those of docs, and what they link to."""
    waiting = [*_TOP, *(page.relative_to(root).as_posix() for page in (root / "docs").rglob("*.md"))]
    copied: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in copied or not (root / name).is_file():
            continue
        copied.add(name)
        text = (root / name).read_text(encoding="utf-8")
        _place(to, Path(name)).write_text(adapted(text), encoding="utf-8")
        waiting += (_joined(PurePosixPath(name).parent, link) for link in linked_pages(text))
        yield name


def _joined(folder: PurePosixPath, link: str) -> str:
    parts: list[str] = []
    for part in (folder / link).parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _place(pages: Path, name: Path) -> Path:
    place = pages / name
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def _api_page(root: Path) -> str:
    public = (module.name for module in pkgutil.iter_modules([str(root / _PUBLIC)]) if not module.ispkg)
    names = sorted(f"{_PUBLIC}.{name}" for name in public)
    about = f"# The Python package `{_PUBLIC}`\n\n::: {_PUBLIC}\n    options: {{members: false}}\n"
    return about + "".join(f"\n## `{name}`\n\n::: {name}\n" for name in names)


def _configuration(root: Path, pages: Path, site: Path, sections: Sequence[Section]) -> dict[str, Any]:
    """MkDocs' configuration, in JSON and so in YAML; the built pages load nothing from other servers."""
    nav: list[dict[str, Any]] = [{"Home": HOME}]
    nav += ({title: list(linked) if len(linked) > 1 else linked[0]} for title, linked in sections)
    docstrings = {
        "docstring_style": "numpy",
        "show_root_heading": False,
        "show_root_toc_entry": False,
        "show_source": False,
        "separate_signature": True,
        "show_signature_annotations": True,
        "members_order": "source",
        "heading_level": 3,
    }
    return {
        "site_name": "eee-testbed",
        "docs_dir": str(pages),
        "site_dir": str(site),
        "use_directory_urls": False,
        "validation": _STRICT,
        "theme": {"name": "material", "font": False, "features": ["navigation.indexes", "navigation.top"]},
        "nav": nav,
        "markdown_extensions": [
            "tables",
            "toc",
            "pymdownx.highlight",
            "pymdownx.superfences",
        ],
        "plugins": [
            "search",
            {"mkdocstrings": {"handlers": {"python": {"paths": [str(root)], "options": docstrings}}}},
        ],
    }

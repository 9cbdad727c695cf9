"""A file system for a small virtual machine, in memory: programs of this machine with their libraries, kernel modules.

The archive is cpio's "newc" format (Linux, Documentation/driver-api/early-userspace/buffer-format.rst), uncompressed:
an emulated processor takes longer to unpack than to copy.
"""

import lzma
import re
import shutil
import stat
import subprocess
from pathlib import Path

_LIBRARY = re.compile(r"(/\S+) \(0x")


class Archive:
    """Files by their absolute path in the machine; parent folders are created as needed."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._paths: set[str] = set()

    def folder(self, path: str, mode: int = 0o755) -> None:
        """Make a folder, and those above it."""
        self._parents(path)
        self._entry(path, stat.S_IFDIR | mode, b"")

    def file(self, path: str, content: bytes, mode: int = 0o644, modified_s: int = 0) -> None:
        """Make a file; a path that is there already stays as it is. Python trusts compiled files by `modified_s`."""
        self._parents(path)
        self._entry(path, stat.S_IFREG | mode, content, modified_s)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link."""
        self._parents(path)
        self._entry(path, stat.S_IFLNK | 0o777, target.encode())

    def copy(self, source: Path | str) -> None:
        """Copy a file of this machine to the same path."""
        status = Path(source).stat()
        self.file(str(source), Path(source).read_bytes(), stat.S_IMODE(status.st_mode), int(status.st_mtime))

    def program(self, name: str) -> None:
        """Copy a program of this machine and the libraries that its loader names."""
        found = shutil.which(name, path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        if found is None:
            raise FileNotFoundError(f"{name} is not installed: run setup.sh")
        self.copy(found)
        listed = subprocess.run(["ldd", found], capture_output=True, text=True, check=False).stdout
        for library in _LIBRARY.findall(listed):
            self.copy(library)

    def script(self, path: Path, target: str) -> None:
        """Copy a Python script with exactly the modules of the standard library that it imports, and Python."""
        self.program("python3")
        show = (
            f"import runpy, sys; runpy.run_path({str(path)!r}, run_name='listed')\n"
            "for m in list(sys.modules.values()):\n"
            "    for name in (getattr(m, '__file__', None), getattr(m, '__cached__', None)):\n"
            "        if name: print(name)"
        )
        listed = subprocess.run(
            ["/usr/bin/python3", "-I", "-S", "-c", show], capture_output=True, text=True, check=True
        ).stdout
        for name in listed.split():
            if Path(name).exists() and Path(name) != path:
                self.copy(name)
                for library in _libraries(name):
                    self.copy(library)
        self.file(target, path.read_bytes())

    def modules(self, kernel: Path, names: list[str]) -> None:
        """Copy kernel modules and what they depend on to /modules, and write the order to load them to /modules/order.

        A name that the kernel has built in, or not at all, is left out.
        """
        order: list[str] = []
        for name in names:
            self._module(kernel, name, order)
        self.file("/modules/order", "".join(f"{name}\n" for name in order).encode())

    def _module(self, kernel: Path, name: str, order: list[str]) -> None:
        found = [path for path in kernel.rglob(f"{name}.ko*") if path.suffix in {".ko", ".xz"}]
        if not found or name in order:
            return
        content = found[0].read_bytes()
        if found[0].suffix == ".xz":
            content = lzma.decompress(content)
        depends = re.search(rb"\0depends=([^\0]*)\0", content)
        for needed in depends[1].decode().split(",") if depends else []:
            if needed:
                self._module(kernel, needed, order)
        order.append(name)
        self.file(f"/modules/{name}.ko", content)

    def finish(self) -> bytes:
        """The whole archive."""
        return b"".join([*self._chunks, _entry(0, "TRAILER!!!", 0, b"")])

    def _parents(self, path: str) -> None:
        for parent in reversed(Path(path).parents):
            if str(parent) != "/":
                self._entry(str(parent), stat.S_IFDIR | 0o755, b"")

    def _entry(self, path: str, mode: int, content: bytes, modified_s: int = 0) -> None:
        if path not in self._paths:
            self._paths.add(path)
            self._chunks.append(_entry(len(self._paths), path.lstrip("/"), mode, content, modified_s))


def _libraries(path: str) -> list[str]:
    if ".so" not in Path(path).name:
        return []
    return _LIBRARY.findall(subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout)


def _entry(inode: int, name: str, mode: int, content: bytes, modified_s: int = 0) -> bytes:
    fields = (inode, mode, 0, 0, 1, modified_s, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return _padded(head) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)

"""A folder that passes for one of a bucket, for tests."""

from __future__ import annotations

from pathlib import Path


class Bucket:
    """A folder, reached by nothing but the methods of `etils.epath` that buckets have."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: list[str] = []

    def __fspath__(self) -> str:
        return f"gs://food/{self.folder.name}"

    def __truediv__(self, name: str) -> Bucket:
        inside = Bucket(self.folder / name)
        inside.written = self.written
        return inside

    def mkdir(self, parents: bool, exist_ok: bool) -> None:
        self.folder.mkdir(parents=parents, exist_ok=exist_ok)

    def exists(self) -> bool:
        return self.folder.exists()

    def read_bytes(self) -> bytes:
        return self.folder.read_bytes()

    def write_bytes(self, data: bytes) -> None:
        self.written.append(self.folder.name)
        self.folder.write_bytes(data)

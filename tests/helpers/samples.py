"""Reads drawn archives with Python's own zipfile, for tests."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections import Counter
from pathlib import Path

from kfood_tfds.raw.sample import (
    SampleReport,
    SampleSpec,
)

SMALL = SampleSpec(classes=("칼국수", "만두", "짜장면"), per_class=3, sizes=(40, 60))


def read_zip(data: bytes, encoding: str | None = "cp949") -> dict[str, bytes]:
    """All members of all category zips by path, in their order."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(data), metadata_encoding=encoding) as outer:
        for name in outer.namelist():
            with zipfile.ZipFile(io.BytesIO(outer.read(name)), metadata_encoding=encoding) as inner:
                assert inner.testzip() is None
                found.update({member: inner.read(member) for member in inner.namelist()})
    return found


def read_folder(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def digests(files: dict[str, bytes]) -> Counter[str]:
    return Counter(hashlib.sha256(content).hexdigest() for content in files.values())


def expected_digests(report: SampleReport) -> Counter[str]:
    return Counter(file.sha256 for file in report.files)

"""From image bytes and a pending window to pixels."""

from __future__ import annotations

from typing import Any

WINDOW = "window"


def decoded(example: dict[str, Any]) -> dict[str, Any]:
    """Returns the example with ``"image"`` decoded to uint8[h, w, 3] and cut to its window."""
    raise NotImplementedError

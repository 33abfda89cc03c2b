"""The report as a browser on a phone shows it."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from reports import render

# CSS pixels of a common phone.
PHONE_WIDTH = 390


@pytest.fixture
def browser(tmp_path: Path) -> list[str]:
    found = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
    if found is None:
        pytest.skip("no Chromium in PATH: the report isn't looked at in a browser")
    return [
        found,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]


# A frame of a phone width, since a window has a least width of its own; the page is untouched.
PROBE = """<!DOCTYPE html><meta charset="utf-8">
<iframe id="frame" style="border:0;width:WIDTHpx;height:800px" srcdoc="PAGE"></iframe>
<script>document.getElementById("frame").addEventListener("load", event => {
const page = event.target.contentDocument, seen = document.documentElement.dataset;
const images = [...page.images];
seen.images = images.length;
seen.loaded = images.filter(image => image.complete && image.naturalWidth > 0).length;
seen.scroll = page.documentElement.scrollWidth;
seen.client = page.documentElement.clientWidth;
});</script>"""


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["ko", "en"])
def test_a_browser_on_a_phone_shows_the_pictures(
    browser: list[str], tmp_path: Path, lang: str
) -> None:
    html = render(lang=lang)
    page = tmp_path / "report.html"
    page.write_text(html, encoding="utf-8")
    shot = tmp_path / "shot.png"
    run(*browser, f"--window-size={PHONE_WIDTH},8000", f"--screenshot={shot}", page.as_uri())
    with Image.open(shot) as opened:
        seen = np.asarray(opened.convert("RGB")).astype(int)
    assert seen.shape[1] == PHONE_WIDTH
    blue = (np.abs(seen - (0, 0, 200)).sum(-1) < 30).sum()
    assert blue > 7 * 50 * 50  # Seven pictures of some 100 x 75 pixels each.

    probe = tmp_path / "probe.html"
    framed = PROBE.replace("WIDTH", str(PHONE_WIDTH)).replace("PAGE", escape(html, quote=True))
    probe.write_text(framed, encoding="utf-8")
    dom = run(*browser, "--virtual-time-budget=5000", "--dump-dom", probe.as_uri())
    data = dict(re.findall(r'data-(\w+)="(\d+)"', dom[: dom.index("<head>")]))
    assert data["images"] == data["loaded"] == "7"
    assert int(data["scroll"]) == int(data["client"]) == PHONE_WIDTH


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode("utf-8")

"""Runs what the READMEs tell people to type, as it stands there; checks what all pages name.

Fenced blocks are taken from the markdown. They run in a scratch folder in which ``DIR`` is a folder
with a drawn archive, ``photo.jpg`` a drawn photo and ``experiment.json`` the README's JSON block;
``TFDS_DATA_DIR`` makes a folder there TFDS's data folder, so that no line has to be changed.

* ``sh`` lines run each in a process, those in both READMEs once, except for these:
  ``make …`` is only looked at by ``make --dry-run``; ``pip install`` only for the extras it names;
  lines that fetch from the portal (``curl``, ``chmod``, ``./aihubshell``) only for their syntax.
* ``python`` blocks of a README run in one process in the order of the page, as a reader would run
  them; those for torch are left out where torch is not installed. Where both READMEs have the same
  program, apart from comments, it runs once.
"""

from __future__ import annotations

import ast
import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from kfood_tfds.raw.sample import SampleSpec, write_sample

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.ko.md")
PAGES = (*READMES, "CONTRIBUTING.md", "docs/raw_data.md")
PORTAL = ("curl", "chmod", "./aihubshell")
# `inspect` says by 1 that files were left out, and the drawn archive has such files.
EXIT_CODES = {"kfood-tfds inspect": (1,)}
# Messages that TFDS gives.
FOREIGN = ("… does not exist or is empty", "Dataset kfood not found")
# Where a README's program speaks of them, they have to be there.
OPTIONAL = ("torch",)

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<body>.*?)^(?P=indent)```$", re.M | re.S
)
_LINK = re.compile(r"\]\((?!https?://|#)(?P<target>[^)#]+)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a README."""

    language: str
    body: str


def _blocks(readme: str) -> list[Block]:
    text = (ROOT / readme).read_text(encoding="utf-8")
    blocks = []
    for found in _FENCE.finditer(text):
        indent = found["indent"]
        lines = [line.removeprefix(indent) for line in found["body"].splitlines()]
        blocks.append(Block(found["language"], "\n".join(lines) + "\n"))
    return blocks


def _lines(readme: str) -> list[list[str]]:
    """Returns the shell lines as their words, without comments."""
    bodies = [block.body for block in _blocks(readme) if block.language == "sh"]
    lines = [shlex.split(line, comments=True) for body in bodies for line in body.splitlines()]
    return [words for words in lines if words]


def _program(readme: str) -> str:
    """Returns the Python blocks as one program."""
    blocks = [block.body for block in _blocks(readme) if block.language == "python"]
    return "\n".join(body for body in blocks if not _lacks(body))


def _lacks(body: str) -> bool:
    return any(re.search(rf"^import {n}\b", body, re.M) and not find_spec(n) for n in OPTIONAL)


def _is_run(words: list[str]) -> bool:
    return words[0] not in ("make", *PORTAL) and "pip" not in words


def _commands() -> list[list[str]]:
    return [w for w in dict.fromkeys(tuple(w) for r in READMES for w in _lines(r)) if _is_run([*w])]


def _programs() -> dict[str, str]:
    """Returns the programs that differ in more than comments, by the README that has them."""
    by_syntax: dict[str, str] = {}
    for readme in READMES:
        by_syntax.setdefault(ast.dump(ast.parse(_program(readme))), readme)
    return {readme: _program(readme) for readme in by_syntax.values()}


@pytest.fixture(name="place", scope="module")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scratch folder."""
    place = tmp_path_factory.mktemp("readme")
    spec = SampleSpec(
        classes=("불고기", "깍두기", "만두"), per_class=20, faults=True, sizes=(60, 80)
    )
    write_sample(place / "DIR" / "kfood.zip", spec)
    Image.new("RGB", (80, 60), (200, 120, 40)).save(place / "photo.jpg")
    [experiment] = [b.body for b in _blocks("README.md") if b.language == "json"]
    (place / "experiment.json").write_text(experiment, encoding="utf-8")
    return place


def _environment(place: Path) -> Mapping[str, str]:
    scripts = os.path.dirname(sys.executable)
    return {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}",
        "TFDS_DATA_DIR": str(place / "data"),
        "KERAS_HOME": str(place / "keras"),
        "MPLBACKEND": "agg",
    }


def _run(words: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        words, cwd=place, env=_environment(place), capture_output=True, text=True, check=False
    )
    allowed = EXIT_CODES.get(" ".join(words[:2]), (0,))
    assert done.returncode in allowed, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done


@pytest.mark.slow
def test_every_command_and_snippet_runs(place: Path) -> None:
    for tool in ("apache_beam", "mlcroissant", "array_record"):
        pytest.importorskip(tool, reason="the READMEs use all extras")
    commands, programs = _commands(), _programs()
    assert len(commands) >= 4
    assert programs
    # No command waits for another one's result; two at a time keep this under a minute.
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda words: _run([*words], place), commands))
    for readme, program in programs.items():
        script = place / f"{readme}.py"
        script.write_text(program, encoding="utf-8")
        _run([sys.executable, str(script)], place)
    written = ("look/report.html", "look/manifest.csv", "preview.png", "served.keras")
    assert [name for name in written if not (place / name).exists()] == []
    # TFDS keeps the configurations of one's own in a hidden folder beside them.
    folders = (place / "data" / "kfood").glob("[!.]*")
    built = {folder.name for folder in folders}
    assert built == {"320px", "320px-raw", "three"}


@pytest.mark.parametrize("readme", READMES)
def test_targets_of_make_are_there(readme: str) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    targets = [words for words in _lines(readme) if words[0] == "make"]
    assert {words[1] for words in targets} >= {"demo", "test"}
    for words in targets:
        dry = subprocess.run(
            ["make", "--dry-run", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert dry.returncode == 0, dry.stderr


@pytest.mark.parametrize("readme", READMES)
def test_installed_extras_are_there(readme: str) -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    known = set(parser["options.extras_require"])
    installs = [words for words in _lines(readme) if "pip" in words]
    assert installs
    for words in installs:
        assert words[:4] == ["python", "-m", "pip", "install"], words
        for target in words[4:]:
            found = re.fullmatch(r"\.(?:\[([\w,-]+)\])?", target)
            assert found, target
            assert set(filter(None, (found[1] or "").split(","))) <= known, target


@pytest.mark.parametrize("readme", READMES)
def test_lines_for_the_portal_name_the_archive(readme: str) -> None:
    [words] = [words for words in _lines(readme) if words[0] == "./aihubshell"]
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert (options["-mode"], options["-datasetkey"], options["-filekey"]) == ("d", "79", "50036")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    folder = (ROOT / page).parent
    targets = {found["target"] for found in _LINK.finditer(text)}
    assert targets
    assert [target for target in sorted(targets) if not (folder / target).exists()] == []


@pytest.mark.parametrize("page", ["docs/architecture.md", "docs/raw_data.md", "CONTRIBUTING.md"])
def test_files_named_in_the_documentation_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)+\w+\.(?:py|csv|json|md))`", text))
    places = (ROOT, ROOT / "kfood_tfds", ROOT / "kfood_tfds" / "kfood")
    assert named
    assert [n for n in sorted(named) if not any((p / n).exists() for p in places)] == []


@pytest.mark.parametrize("readme", READMES)
def test_every_recipe_is_listed(readme: str) -> None:
    text = (ROOT / readme).read_text(encoding="utf-8")
    recipes = sorted(p.name for p in (ROOT / "examples").iterdir() if p.suffix in (".py", ".ipynb"))
    assert [name for name in recipes if f"(examples/{name})" not in text] == []


@pytest.mark.parametrize("readme", READMES)
def test_quoted_messages_are_ones_the_package_gives(readme: str) -> None:
    sources = " ".join(
        " ".join(re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8")).split())
        for path in sorted((ROOT / "kfood_tfds").rglob("*.py"))
    )
    text = (ROOT / readme).read_text(encoding="utf-8")
    symptoms = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    messages = [found[1] for s in symptoms if (found := re.fullmatch(r"`([^`]* [^`]*)`", s))]
    own = [message for message in messages if not message.startswith(FOREIGN)]
    assert len(own) >= 7
    pieces = [piece.strip() for message in own for piece in message.split("…")]
    assert [piece for piece in pieces if piece not in sources] == []


def test_both_pages_say_the_same() -> None:
    english, korean = (_lines(readme) for readme in READMES)
    assert english == korean
    experiments = [
        [json.loads(b.body) for b in _blocks(readme) if b.language == "json"] for readme in READMES
    ]
    assert experiments[0] == experiments[1]
    texts = [(ROOT / readme).read_text(encoding="utf-8") for readme in READMES]
    assert texts[0].count("\n## ") == texts[1].count("\n## ")

"""Fonts: Hangul where there is a font for it, romanised names where there is none."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import PIL
import pytest
from PIL import ImageFont

from kfood_tfds import fonts
from kfood_tfds.raw.errors import KfoodError


@dataclass(frozen=True)
class Food:
    name: str
    romanized: str


@pytest.fixture
def latin_font(tmp_path: Path) -> Path:
    """A font file without Hangul: the one inside Pillow, written out."""
    face = ImageFont.load_default(12)
    if not isinstance(face, ImageFont.FreeTypeFont):
        pytest.skip("this Pillow has no FreeType")
    path = tmp_path / "NanumGothic.ttf"
    path.write_bytes(face.font_bytes)
    return path


@pytest.fixture
def hangul_font(monkeypatch: pytest.MonkeyPatch) -> fonts.LabelFont:
    monkeypatch.delenv(fonts.FONT_VARIABLE, raising=False)
    found = fonts.find_font()
    if not found.hangul:
        pytest.skip("no Hangul font on this machine")
    return found


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No font folders and no fontconfig."""
    monkeypatch.delenv(fonts.FONT_VARIABLE, raising=False)
    monkeypatch.setattr(fonts, "_font_folders", lambda: ())
    monkeypatch.setattr(fonts, "_FC_LIST", ("kfood-no-such-program",))


def test_latin_font_draws_no_hangul(latin_font: Path) -> None:
    assert not fonts.draws_hangul(latin_font)


def test_what_is_no_font_draws_no_hangul(tmp_path: Path) -> None:
    (tmp_path / "a.ttf").write_bytes(b"no font")
    assert not fonts.draws_hangul(tmp_path / "a.ttf")
    assert not fonts.draws_hangul(tmp_path / "absent.ttf")


def test_without_any_font_pillows_own_is_taken(bare_machine: None) -> None:
    font = fonts.find_font()
    assert font == fonts.LabelFont(None, 0, hangul=False)
    assert font.at(20).getlength("kimchi") > 0


def test_a_promising_name_is_not_enough(
    bare_machine: None, latin_font: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fonts, "_font_folders", lambda: (latin_font.parent,))
    assert not fonts.find_font().hangul


def test_font_in_an_odd_folder_is_found(
    hangul_font: fonts.LabelFont,
    bare_machine: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = tmp_path / "deep" / ("Nanum Gothic" + Path(str(hangul_font.path)).suffix)
    target.parent.mkdir()
    shutil.copy(str(hangul_font.path), target)
    monkeypatch.setattr(fonts, "_font_folders", lambda: (tmp_path,))
    found = fonts.find_font()
    assert (found.path, found.hangul) == (str(target), True)


def test_named_font_comes_first(latin_font: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fonts.FONT_VARIABLE, str(latin_font))
    assert fonts.find_font() == fonts.LabelFont(str(latin_font), 0, hangul=False)


def test_named_file_that_is_no_font_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(fonts.FONT_VARIABLE, str(tmp_path / "nothing.ttf"))
    with pytest.raises(KfoodError, match=r"KFOOD_FONT must name a font file.*nothing\.ttf"):
        fonts.find_font()


def test_extra_fonts_are_tried_before_the_systems(
    hangul_font: fonts.LabelFont, tmp_path: Path
) -> None:
    copy = tmp_path / "mine.ttf"
    shutil.copy(str(hangul_font.path), copy)
    assert fonts.find_font([copy]).path == str(copy)


def test_regular_faces_come_before_heavy_ones(
    bare_machine: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("NanumGothicBold.ttf", "NanumGothic.ttf", "NanumBarunGothic.ttf", "Other.ttf"):
        (tmp_path / name).touch()
    monkeypatch.setattr(fonts, "_font_folders", lambda: (tmp_path,))
    tried: list[str] = []
    monkeypatch.setattr(fonts, "draws_hangul", lambda path, index: tried.append(Path(path).name))
    fonts.find_font()
    assert tried == ["NanumBarunGothic.ttf", "NanumGothic.ttf", "NanumGothicBold.ttf"]


def test_collections_are_tried_at_their_korean_face_first(
    bare_machine: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "NotoSansCJK-Regular.ttc").touch()
    monkeypatch.setattr(fonts, "_font_folders", lambda: (tmp_path,))
    tried: list[int] = []
    monkeypatch.setattr(fonts, "draws_hangul", lambda path, index: tried.append(index))
    fonts.find_font()
    assert tried == [1, 0]


def test_fontconfigs_answer_is_read(
    bare_machine: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer = f"{tmp_path}/a b.ttc\t2\n{tmp_path}/variable.ttf\t65536\n".encode()

    def run(*args: object, **kwargs: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess([], 0, stdout=answer)

    monkeypatch.setattr(fonts.subprocess, "run", run)
    tried: list[tuple[str, int]] = []
    monkeypatch.setattr(fonts, "draws_hangul", lambda path, index: tried.append((path, index)))
    fonts.find_font()
    assert tried == [(f"{tmp_path}/a b.ttc", 2), (f"{tmp_path}/variable.ttf", 0)]


def test_display_name_follows_the_font() -> None:
    food = Food("김치찌개", "kimchi-jjigae")
    assert fonts.display_name(food, fonts.LabelFont("x", 0, hangul=True)) == "김치찌개"
    assert fonts.display_name(food, fonts.LabelFont(None)) == "kimchi-jjigae"


def test_display_name_composes_jamo_and_needs_no_gloss() -> None:
    decomposed = "\u1100\u116e\u110b\u1175"  # 구이 as macOS writes it
    assert fonts.display_name(Food(decomposed, ""), fonts.LabelFont("x", hangul=True)) == "구이"
    assert fonts.display_name(Food("waffle", ""), fonts.LabelFont(None)) == "waffle"


def test_pillow_is_new_enough_for_a_scalable_default() -> None:
    assert tuple(map(int, PIL.__version__.split(".")[:2])) >= (10, 1)

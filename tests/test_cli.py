"""The command line as a user runs it: real processes, exit codes, both languages, LANG=C."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kfood_tfds import cli

ROOT = Path(__file__).parents[1]
# What Python needs to be left without UTF-8: no locale, no UTF-8 mode, no coercion to C.UTF-8.
BARE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def jpeg(seed: int) -> bytes:
    small = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), np.uint8)
    encoded = io.BytesIO()
    Image.fromarray(small).resize((96, 96), Image.Resampling.BICUBIC).save(encoded, "JPEG")
    return encoded.getvalue()


def write_archive(path: Path, extra: dict[str, bytes] | None = None) -> Path:
    """Writes a kfood.zip: a stored zip of category zips."""
    files = {f"구이/갈비구이/Img_000_{n:04}.jpg": jpeg(n) for n in range(5)}
    files["구이/갈비구이/crop_area.properties"] = b"Img_000_0001=10,10,40,50\r\n"
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as category:
        for name, content in {**files, **(extra or {})}.items():
            category.writestr(name, content)
    with zipfile.ZipFile(path, "w") as outer:
        outer.writestr("구이.zip", inner.getvalue())
    return path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "kfood.zip")


@pytest.fixture
def faulty_archive(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "kfood.zip", {"구이/갈비구이/Img_000_0099.jpg": b""})


def run(
    *arguments: object, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("LC_")}
    environ |= {"PYTHONPATH": str(ROOT), "LANG": "en_US.UTF-8", "PYTHONUTF8": "1", **variables}
    return subprocess.run(
        [sys.executable, "-m", "kfood_tfds", *map(os.fspath, map(_path, arguments))],
        capture_output=True,
        timeout=300,
        check=False,
        env=environ,
        cwd=cwd,
    )


def _path(argument: object) -> str | bytes:
    return argument if isinstance(argument, bytes) else str(argument)


def test_help_and_version() -> None:
    done = run("--help")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert "usage: kfood-tfds" in text
    assert all(command in text for command in ("inspect", "sample", "preview"))
    version = run("--version")
    assert version.returncode == 0 and version.stdout.startswith(b"kfood-tfds ")


def test_help_is_korean_in_a_korean_locale() -> None:
    assert "아카이브" in run("inspect", "--help", LANG="ko_KR.UTF-8").stdout.decode()


@pytest.mark.parametrize(("lang", "korean"), [("ko", True), ("en", False)])
def test_the_language_asked_for_overrules_the_locale(
    lang: str,
    korean: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LC_ALL", "en_GB" if korean else "ko_KR")
    with pytest.raises(SystemExit) as done:
        cli.main(["inspect", "--help", "--lang", lang])
    assert done.value.code == 0
    assert ("아카이브" in capsys.readouterr().out) == korean


def test_korean_help_survives_a_terminal_without_hangul() -> None:
    korean = {**BARE, "LC_ALL": "", "LC_CTYPE": "C", "LC_MESSAGES": "ko_KR.UTF-8"}
    done = run("preview", "--help", **korean)
    assert done.returncode == 0, done.stderr.decode()
    assert b"kfood-tfds preview" in done.stdout and b"\\uc544" in done.stdout


@pytest.mark.slow
def test_a_clean_archive_gives_zero_and_both_files(archive: Path, tmp_path: Path) -> None:
    done = run("inspect", archive, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr.decode()
    assert "5 images, 5 accepted, 0 rejected" in done.stdout.decode()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"manifest.csv", "report.html"}
    # The bar goes to the other stream and tells the speed and the time left.
    assert "6/6" in done.stderr.decode() and "/s" in done.stderr.decode()


def test_rejected_files_give_one(
    faulty_archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    assert cli.main(["inspect", str(faulty_archive), "--quiet"]) == 1
    seen = capsys.readouterr()
    assert "이미지 6장, 사용 5장, 제외 1장" in seen.out
    assert "6/" not in seen.err


def test_what_cannot_be_read_gives_two(tmp_path: Path) -> None:
    done = run("inspect", tmp_path / "nowhere.zip")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().startswith("error: ") and "nowhere.zip" in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inspect", "nowhere.zip"], "오류: nowhere.zip: 그런 파일이나 폴더가 없습니다."),
        (["sample", "x.zip", "--classes", "갈비구"], "혹시 '갈비구이'(galbi-gui)입니까?"),
        (["sample", "x.zip", "--per-class", "0"], "오류: 샘플의 클래스당 이미지는"),
    ],
)
def test_errors_are_korean_in_a_korean_locale(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    assert cli.main(arguments) == 2
    assert words in capsys.readouterr().err
    assert cli.main([*arguments, "--lang", "en"]) == 2
    assert words not in capsys.readouterr().err


def test_argparse_speaks_korean_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        cli.main(["inspect", "--lang", "ko", "--workers", "many", "x"])
    assert done.value.code == 2
    seen = capsys.readouterr().err
    assert seen.startswith("사용법: kfood-tfds inspect ")
    assert "오류: 명령줄이 맞지 않습니다(argument --workers" in seen
    with pytest.raises(SystemExit):
        cli.main(["inspect", "--lang", "ko", "--help"])
    page = capsys.readouterr().out
    assert page.startswith("사용법: ") and "\n옵션:\n" in page and "\n인자:\n" in page


@pytest.mark.parametrize(
    "arguments", [(), ("inspect",), ("dance",), ("inspect", "x", "--lang", "de"), ("preview", "x")]
)
def test_senseless_arguments_give_two(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as done:
        cli.main(arguments)
    assert done.value.code == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "english", "korean"),
    [
        (["train-check", "x.json", "--batches", "0"], "at least 1.", "1 이상의 정수"),
        (["train-check", "x.json", "--batches=-1"], "at least 1.", "1 이상의 정수"),
        (["train-check", "x.json", "--batches", "1.5"], "at least 1.", "1 이상의 정수"),
        (["inspect", "x", "--workers", "0"], "from 1 to 1,024.", "1부터 1,024까지"),
        (["inspect", "x", "--workers", "1025"], "from 1 to 1,024.", "1부터 1,024까지"),
        (["preview", "x", "--classes", "0", "--per-class", "0"], "from 1 to 100.", "1부터 100"),
        (["preview", "x", "--classes", "0", "--per-class", "101"], "from 1 to 100.", "1부터 100"),
        (["sample", "x", "--per-class", "a"], "a whole number.", "정수여야 합니다."),
        (["sample", "x", "--seed", "0.5"], "a whole number.", "정수여야 합니다."),
    ],
)
def test_numbers_that_make_no_sense_are_named_in_both_languages(
    arguments: list[str], english: str, korean: str, capsys: pytest.CaptureFixture[str]
) -> None:
    value = arguments[-1].rpartition("=")[2]
    for lang, words, ending in (("en", english, f"Received: '{value}'"), ("ko", korean, "받은 값")):
        with pytest.raises(SystemExit) as done:
            cli.main([*arguments, "--lang", lang])
        assert done.value.code == 2
        seen = capsys.readouterr().err
        assert words in seen and ending in seen and repr(value) in seen


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", ""],
        ["inspect", "x.zip", "--out", ""],
        ["inspect", "x.zip", "--cache", ""],
        ["inspect", "x.zip", "--class-csv", ""],
        ["sample", ""],
        ["preview", "x.zip", "--classes", "0", "--out", ""],
        ["train-check", ""],
    ],
)
def test_an_empty_path_is_not_the_current_folder(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_archive(tmp_path / "x.zip")
    monkeypatch.chdir(tmp_path)
    assert cli.main([*arguments, "--lang", "en"]) == 2
    assert "A path is empty." in capsys.readouterr().err
    assert cli.main([*arguments, "--lang", "ko"]) == 2
    assert "경로가 비어 있습니다." in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "http://a/b"],
        ["inspect", "x.zip", "--out", "http://a/b"],
        ["inspect", "x.zip", "--cache", "http://a/b"],
        ["inspect", "x.zip", "--class-csv", "http://a/b"],
        ["sample", "http://a/b"],
        ["preview", "x.zip", "--classes", "0", "--out", "http://a/b"],
        ["train-check", "http://a/b"],
    ],
)
def test_an_address_is_no_path(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*arguments, "--lang", "en"]) == 2
    seen = capsys.readouterr().err
    assert seen.startswith("error: Only local paths and buckets")
    assert seen.endswith("Received: 'http://a/b'.\n")


@pytest.mark.parametrize(("lang", "words"), [("en", "Interrupted.\n"), ("ko", "중단했습니다.\n")])
def test_ctrl_c_takes_one_line(
    lang: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "inspect_archive", interrupted)
    assert cli.main(["inspect", "x.zip", "--lang", lang]) == 130
    assert capsys.readouterr().err == words


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_went_away_gets_no_words(unbuffered: str, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    arguments = ["sample", str(tmp_path / "a.zip"), "--classes", "1", "--per-class", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "kfood_tfds", *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered},
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("lacking", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_fault(lacking: str, tmp_path: Path) -> None:
    command = f'exec "$0" -m kfood_tfds sample a.zip --classes 1 --per-class 1 {lacking}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable],
        capture_output=True,
        cwd=tmp_path,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "a.zip").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_under_the_output_is_named(unbuffered: str, tmp_path: Path) -> None:
    arguments = ["sample", str(tmp_path / "a.zip"), "--classes", "1", "--per-class", "1"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kfood_tfds", *arguments, "--lang", "en"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: ") and done.stderr.count(b"\n") == 1


def test_sample_names_the_file_that_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["sample", ".", "--classes", "1", "--per-class", "1", "--lang", "en"]) == 0
    assert capsys.readouterr().out == "Written: kfood.zip\n"
    assert (tmp_path / "kfood.zip").exists()


def test_paths_in_hangul_are_told_alike_without_utf8(tmp_path: Path) -> None:
    bare = {**BARE, "LC_MESSAGES": ""}
    done = run("sample", "가.zip", "--classes", "1", "--per-class", "1", cwd=tmp_path, **bare)
    assert done.stdout == b"Written: \\uac00.zip\n"
    assert run("inspect", "나.zip", cwd=tmp_path, **bare).stderr.startswith(b"error: \\ub098.zip ")
    assert run("inspect", "x", "다", **bare).stderr.endswith(b"arguments: \\ub2e4\n")
    assert (tmp_path / "가.zip").exists()


def test_json_is_for_machines(faulty_archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", str(faulty_archive), "--json", "--quiet"]) == 1
    seen = capsys.readouterr().out
    assert json.loads(seen)["rejected_files"] == [
        {"id": "구이/갈비구이/Img_000_0099.jpg", "reason": "empty file"}
    ]
    assert "갈비구이" in seen


def test_a_kept_result_is_taken_up_again(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["inspect", str(archive), "--cache", str(tmp_path / "cache"), "--lang", "en"]
    assert cli.main(arguments) == 0
    assert "Looking at every file" in capsys.readouterr().err
    assert cli.main(arguments) == 0
    assert "Looking at every file" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_report_is_written_without_utf8(faulty_archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("inspect", faulty_archive, "--out", out, "--json", "--lang", "ko", **BARE)
    assert done.returncode == 1, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert json.loads(done.stdout.decode("ascii"))["classes"][0]["name"] == "갈비구이"
    html = (out / "report.html").read_text("utf-8")
    assert "갈비구이" in html and "제외된 파일" in html


@pytest.mark.slow
def test_preview_takes_names_in_every_spelling_without_utf8(archive: Path, tmp_path: Path) -> None:
    names = "갈비구이, galbi-gui,0".encode()
    out = tmp_path / "sheet.png"
    done = run("preview", archive, "--classes", names, "--out", out, "--lang", "ko", **BARE)
    assert done.returncode == 0, done.stderr.decode()
    with Image.open(out) as image:
        assert image.format == "PNG"


def test_preview_says_what_it_shows(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "sheet.png")
    arguments = ["preview", str(archive), "--classes", "0", "--out", out, "--lang", "en"]
    assert cli.main([*arguments, "--per-class", "2"]) == 0
    assert capsys.readouterr().out == f"갈비구이: 2\nWritten: {out}\n"


def test_preview_suggests_what_was_meant(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "preview.png"
    assert cli.main(["preview", str(archive), "--classes", "갈비구", "--out", str(out)]) == 2
    assert "갈비구이" in capsys.readouterr().err
    assert not out.exists()


def test_sample_draws_what_inspect_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "kfood.zip")
    assert cli.main(["sample", out, "--classes", "kimchi-jjigae,72", "--per-class", "3"]) == 0
    assert out in capsys.readouterr().out
    assert cli.main(["inspect", out, "--json", "--quiet"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert {c["name"]: c["found"] for c in plain["classes"] if c["found"]} == {
        "김치찌개": 3,
        "비빔밥": 3,
    }


def test_a_sample_with_faults_shows_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "kfood.zip")
    assert cli.main(["sample", out, "--classes", "4", "--per-class", "6", "--faults"]) == 0
    capsys.readouterr()
    assert cli.main(["inspect", out, "--json", "--quiet"]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert plain["rejected"] > 3 and all(plain["checks"].values())


def test_parts_are_read_however_the_arguments_came() -> None:
    assert cli._parts(" 김치찌개, 49 ,,") == ("김치찌개", "49")
    assert cli._parts("김치".encode().decode("ascii", "surrogateescape")) == ("김치",)


@pytest.mark.slow
def test_train_check_describes_an_experiment(tmp_path: Path, dummy_build: dict[str, Any]) -> None:
    config = {
        "dataset": {"name": "kfood/full", "data_dir": str(dummy_build["data_dir"])},
        "pipeline": {"size": 32},
        "batch_size": 4,
    }
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "kfood_tfds", "train-check", "config.json", "--batches", "2"],
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "images/s" in done.stdout.decode()
    assert (tmp_path / "train_check.png").exists()


def test_train_check_names_the_place_of_a_fault(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"batch_size": "many"}', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "kfood_tfds", "train-check", "config.json"],
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert "batch_size" in done.stderr.decode()

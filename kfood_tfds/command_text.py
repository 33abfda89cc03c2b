"""The words of the command line, Korean and English."""

from __future__ import annotations

from collections.abc import Mapping

_EN = {
    "about": "Looks into AI Hub's Korean food archive (kfood) before and beside its TFDS build.",
    "commands": "commands",
    "lang": "language of messages and report; the locale's if not given",
    "inspect": "check every file of an archive and report what was found",
    "inspect_more": (
        "Exit code: 0 if every image can be used, 1 if files were rejected or parts of the "
        "archive couldn't be read, 2 if the source can't be read at all."
    ),
    "source": (
        "the archive: kfood.zip, the portal's .tar or its part files, the category zips, or the "
        "extracted folders"
    ),
    "out": "folder for manifest.csv and report.html; without it nothing is written",
    "json": "print everything as JSON",
    "cache": "folder in which the result is kept, so that the next look takes seconds",
    "class_csv": "class table of your own (CSV with label, name, category)",
    "two_value_boxes": (
        "what a crop row of two values means: no box (image), or a width and height at 0,0 "
        "(origin); default: %(default)s"
    ),
    "workers": "number of threads; one per core if not given",
    "quiet": "no progress bar",
    "sample": "draw a small archive in the same form, to try everything without a download",
    "sample_out": "file to write, such as kfood.zip",
    "sample_classes": "number of classes, or class names with commas between; default: %(default)s",
    "sample_per_class": "images of each class; default: %(default)s",
    "seed": "another seed draws other images; default: %(default)s",
    "faults": "add one file of each fault that real archives have",
    "train-check": "load an experiment's JSON file, print shapes, class shares and images/s",
    "check_config": "the experiment: a JSON file as described by config.schema.json",
    "check_batches": "batches to read at most; default: %(default)s",
    "preview": "write a picture of some classes with their crop boxes",
    "preview_classes": (
        "classes with commas between, by Korean name, romanised name or number, such as "
        "김치찌개,bibimbap,49"
    ),
    "preview_per_class": "images of each class; default: %(default)s",
    "preview_out": "PNG file to write; default: %(default)s",
    "version": "print the version and exit",
    "error": "error: {message}",
    "interrupted": "Interrupted.",
    "whole": "must be a whole number.",
    "whole_from": "must be a whole number, at least {least}.",
    "whole_within": "must be a whole number from {least} to {most}.",
    "received": "Received: {value}",
    "usage": "usage: ",
    "arguments": "positional arguments",
    "options": "options",
    "help": "show this help message and exit",
    "bad_arguments": "error: {message}",
    "Looking at every file": "Looking at every file",
    "found": "{source} ({layout}): {found} images, {accepted} accepted, {rejected} rejected",
    "classes": "Classes with images: {present} of {number}",
    "side_files": "Side files such as crop tables: {number}",
    "rejected": "Rejected:",
    "line": "  {number:>8}  {name}",
    "splits": "Splits:",
    "crops": "Crop boxes:",
    "flags": "Worth a look:",
    "groups": "Groups of look-alikes: {groups}, of these under two labels: {conflicts}",
    "unbalanced": "These counts do not add up: {names}. Please report this as a bug.",
    "problem": "The archive: {problem}",
    "written": "Written: {path}",
    "shown": "{name}: {number}",
}

_KO = {
    "about": "AI Hub 한국 음식 이미지(kfood) 아카이브를 TFDS로 빌드하기 전이나 후에 들여다봅니다.",
    "commands": "명령",
    "lang": "메시지와 보고서의 언어. 지정하지 않으면 로캘을 따름",
    "inspect": "아카이브의 모든 파일을 검사하고 결과를 보고",
    "inspect_more": (
        "종료 코드: 모든 이미지를 쓸 수 있으면 0, 제외된 파일이 있거나 일부를 읽지 못했으면 1, "
        "원본을 아예 읽을 수 없으면 2."
    ),
    "source": "아카이브: kfood.zip, 포털의 .tar나 part 파일, 대분류별 zip, 또는 압축을 푼 폴더",
    "out": "manifest.csv와 report.html을 쓸 폴더. 지정하지 않으면 아무것도 쓰지 않음",
    "json": "모든 결과를 JSON으로 출력",
    "cache": "결과를 보관할 폴더. 다음 검사는 몇 초면 끝남",
    "class_csv": "직접 만든 클래스 표(label, name, category 열이 있는 CSV)",
    "two_value_boxes": (
        "값이 두 개뿐인 크롭 행의 뜻: 영역 없음(image) 또는 0,0에서 시작하는 너비와 높이(origin). "
        "기본값: %(default)s"
    ),
    "workers": "스레드 수. 지정하지 않으면 코어마다 하나",
    "quiet": "진행 막대를 표시하지 않음",
    "sample": "내려받지 않고도 모든 기능을 써 볼 수 있도록 같은 형식의 작은 아카이브를 그림",
    "sample_out": "쓸 파일. 예: kfood.zip",
    "sample_classes": "클래스 개수, 또는 쉼표로 나눈 클래스 이름. 기본값: %(default)s",
    "sample_per_class": "클래스마다 그릴 이미지 수. 기본값: %(default)s",
    "seed": "시드를 바꾸면 다른 이미지를 그림. 기본값: %(default)s",
    "faults": "실제 아카이브에서 나타나는 결함을 종류마다 한 파일씩 추가",
    "train-check": "실험 JSON 파일을 읽어 텐서 모양, 클래스 비율, 초당 이미지 수를 보여 줍니다",
    "check_config": "실험을 적은 JSON 파일(config.schema.json 형식)",
    "check_batches": "최대로 읽을 배치 수, 기본값: %(default)s",
    "preview": "몇몇 클래스의 이미지와 크롭 영역을 한 장의 그림으로 저장",
    "preview_classes": (
        "쉼표로 나눈 클래스. 한글 이름, 로마자 이름, 번호 모두 가능. 예: 김치찌개,bibimbap,49"
    ),
    "preview_per_class": "클래스마다 보여 줄 이미지 수. 기본값: %(default)s",
    "preview_out": "쓸 PNG 파일. 기본값: %(default)s",
    "version": "버전을 출력하고 끝냄",
    "error": "오류: {message}",
    "interrupted": "중단했습니다.",
    "whole": "정수여야 합니다.",
    "whole_from": "{least} 이상의 정수여야 합니다.",
    "whole_within": "{least}부터 {most}까지의 정수여야 합니다.",
    "received": "받은 값: {value}",
    "usage": "사용법: ",
    "arguments": "인자",
    "options": "옵션",
    "help": "도움말을 출력하고 끝냄",
    "bad_arguments": "오류: 명령줄이 맞지 않습니다({message}). --help로 사용법을 확인하십시오.",
    "Looking at every file": "모든 파일 검사",
    "found": "{source} ({layout}): 이미지 {found}장, 사용 {accepted}장, 제외 {rejected}장",
    "classes": "이미지가 있는 클래스: {number}개 중 {present}개",
    "side_files": "크롭 정보 등 부속 파일: {number}개",
    "rejected": "제외:",
    "line": "  {number:>8}  {name}",
    "splits": "분할:",
    "crops": "크롭 영역:",
    "flags": "확인이 필요한 이미지:",
    "groups": "유사 이미지 그룹: {groups}개, 그중 라벨이 엇갈리는 그룹: {conflicts}개",
    "unbalanced": "합계가 맞지 않습니다: {names}. 버그이므로 알려 주시기 바랍니다.",
    "problem": "아카이브: {problem}",
    "written": "저장함: {path}",
    "shown": "{name}: {number}장",
    "layout_parts": "part 파일",
    "layout_category zips": "대분류별 zip",
    "layout_folders": "폴더",
    "layout_category zips and folders": "대분류별 zip과 폴더",
}

TEXTS: Mapping[str, Mapping[str, str]] = {"en": _EN, "ko": _KO}

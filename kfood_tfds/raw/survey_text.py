"""The words of messages about class tables, surveys, samples and previews, Korean and English."""

from __future__ import annotations

from collections.abc import Mapping

_EN = {
    # The survey.
    "no_class_folder": (
        "No folder in {place} is a class of the class table ({number} files looked at; folders "
        "found: {folders}). Expected class folders such as '구이/갈비구이' or '{example}' with "
        "images in them. Point to AI Hub's kfood download, or give `class_csv` for a data set of "
        "your own."
    ),
    "none": "none",
    "bad_files": (
        "{number} file(s) can't be used, and on_invalid='raise' was asked for:\n{lines}\n"
        "Repair or remove them, or build with on_invalid='skip'."
    ),
    "two_values": "two_value_boxes must be one of {allowed}. Received: {received!r}.",
    "workers": "workers must be at least 1, or None for all cores. Received: {received}.",
    "survey_lost": (
        "The survey in {folder} can't be read back right after it was written. Check the disk, "
        "remove that folder and start again."
    ),
    # The class table.
    "class_kind": "A class is named by a string or its label. Received: {received}.",
    "class_unknown": "There is no class {text!r} in the class table. {hint}",
    "class_near": "Did you mean {name!r} ({other})?",
    "class_spellings": (
        "Give the Korean name, an alias, the romanised name or the label; "
        "kfood_tfds/raw/classes.csv lists them all."
    ),
    "class_label": "Labels run from 0 to {last}. Received: {received}.",
    "table_unreadable": "The class CSV {place!r} can't be read ({error}). Check `class_csv`.",
    "table_encoding": "{place} isn't UTF-8 (byte {at}). Save it as 'CSV UTF-8'.",
    "table_columns": (
        "{place} lacks the column(s) {missing}. The first line must be: {columns}. "
        "Received: {received}."
    ),
    "table_no_csv": (
        "{where} isn't CSV: {error}. Correct the line, or save the table as 'CSV UTF-8' again."
    ),
    "line": "{place}, line {number}",
    "table_label": "{where}: label must be a whole number. Received: {received!r}.",
    "table_folder": (
        "{where}: {column} must be a folder name, not empty and without '/'. "
        "Received: {received!r}."
    ),
    "table_empty": "{place} holds no class. It needs one line per class.",
    "table_labels": (
        "{place}: labels must be 0 to {last}, each once. The first that is out of line is {wrong}."
    ),
    "table_names": (
        "{place}: {text!r} names both label {first} and label {second}. Class names and aliases "
        "must be unique."
    ),
    # Samples and previews.
    "sample_number": "A sample has 1 to {limit} classes. Received: {received}.",
    "sample_no_class": "A sample needs at least one class. Received: none.",
    "sample_per_class": "A sample has 1 to {limit} images a class. Received: {received}.",
    "sample_box_share": "box_share is 0 to 1. Received: {received}.",
    "sample_sizes": (
        "sizes are a least and a greatest side within {least} to {greatest} pixels. "
        "Received: {received}."
    ),
    "sample_faults": (
        "One file of each fault needs at least {least} classes. Received: {received}."
    ),
    "sample_choice": "{name} is one of {allowed}. Received: {received!r}.",
    "sample_there": (
        "'{place}' is there already, and a drawn sample never replaces anything. Remove it first, "
        "or name another file."
    ),
    "preview_nothing": (
        "preview needs at least one class and per_class of at least 1. "
        "Received: classes={classes}, per_class={per_class}"
    ),
    "preview_no_image": (
        "{place} holds no image of {name!r}. Choose among the classes that are there: {present}."
    ),
    "font": (
        "{variable} must name a font file (.ttf, .otf or .ttc) that can be opened; correct the "
        "path or unset the variable. Received: {variable}={path!r} ({error})"
    ),
}

_KO = {
    "no_class_folder": (
        "{place}: 클래스 표에 있는 폴더가 하나도 없습니다(살펴본 파일 {number}개, 발견한 폴더: "
        "{folders}). 이미지가 든 '구이/갈비구이'나 '{example}' 같은 클래스 폴더가 있어야 합니다. "
        "AI Hub에서 받은 kfood의 경로를 지정하거나, 직접 모은 데이터라면 class_csv로 클래스 표를 "
        "주십시오."
    ),
    "none": "없음",
    "bad_files": (
        "쓸 수 없는 파일이 {number}개 있고 on_invalid='raise'로 지정되어 있습니다.\n{lines}\n"
        "고치거나 빼십시오. 건너뛰려면 on_invalid='skip'으로 빌드하십시오."
    ),
    "two_values": "two_value_boxes: {allowed} 중 하나여야 합니다. 받은 값: {received!r}.",
    "workers": "workers는 1 이상이거나, 모든 코어를 뜻하는 None이어야 합니다. 받은 값: {received}.",
    "survey_lost": (
        "{folder}: 방금 저장한 검사 결과를 다시 읽을 수 없습니다. 디스크를 확인하고 이 폴더를 지운 "
        "뒤 다시 시작하십시오."
    ),
    "class_kind": "클래스는 이름(문자열)이나 라벨 번호로 지정합니다. 받은 값: {received}.",
    "class_unknown": "클래스 표에 {text!r} 클래스가 없습니다. {hint}",
    "class_near": "혹시 {name!r}({other})입니까?",
    "class_spellings": (
        "한글 이름, 별칭, 로마자 이름, 라벨 번호 중 하나를 쓰십시오. 전체 목록은 "
        "kfood_tfds/raw/classes.csv에 있습니다."
    ),
    "class_label": "라벨은 0부터 {last}까지입니다. 받은 값: {received}.",
    "table_unreadable": (
        "클래스 CSV {place!r}: 읽을 수 없습니다({error}). class_csv를 확인하십시오."
    ),
    "table_encoding": "{place}: UTF-8이 아닙니다({at}바이트 위치). 'CSV UTF-8'로 저장하십시오.",
    "table_columns": (
        "{place}: 빠진 열이 있습니다: {missing}. 첫 줄은 {columns} 형식이어야 합니다. "
        "받은 값: {received}."
    ),
    "table_no_csv": (
        "{where}: CSV가 아닙니다({error}). 줄을 고치거나 표를 'CSV UTF-8'로 다시 저장하십시오."
    ),
    "line": "{place}, {number}번째 줄",
    "table_label": "{where}: label은 정수여야 합니다. 받은 값: {received!r}.",
    "table_folder": (
        "{where}: {column} 값은 폴더 이름이므로 비어 있거나 '/'가 있으면 안 됩니다. "
        "받은 값: {received!r}."
    ),
    "table_empty": "{place}: 클래스가 없습니다. 클래스마다 한 줄씩 적으십시오.",
    "table_labels": (
        "{place}: 라벨은 0부터 {last}까지 한 번씩 나와야 합니다. 처음 어긋난 라벨: {wrong}."
    ),
    "table_names": (
        "{place}: {text!r}: 라벨 {first}번과 {second}번에 모두 쓰였습니다. 클래스 이름과 별칭은 "
        "겹치지 않아야 합니다."
    ),
    "sample_number": "샘플의 클래스는 1~{limit}개입니다. 받은 값: {received}.",
    "sample_no_class": "샘플에는 클래스가 하나 이상 있어야 합니다. 받은 값: 없음.",
    "sample_per_class": "샘플의 클래스당 이미지는 1~{limit}장입니다. 받은 값: {received}.",
    "sample_box_share": "box_share는 0에서 1 사이입니다. 받은 값: {received}.",
    "sample_sizes": (
        "sizes는 한 변의 최솟값과 최댓값이며 {least}~{greatest}픽셀 안이어야 합니다. "
        "받은 값: {received}."
    ),
    "sample_faults": (
        "결함을 종류마다 한 파일씩 넣으려면 클래스가 {least}개 이상 있어야 합니다. "
        "받은 값: {received}."
    ),
    "sample_choice": "{name}: {allowed} 중 하나여야 합니다. 받은 값: {received!r}.",
    "sample_there": (
        "'{place}': 이미 있습니다. 샘플은 있는 파일을 덮어쓰지 않습니다. 먼저 지우거나 다른 이름을 "
        "지정하십시오."
    ),
    "preview_nothing": (
        "미리보기에는 클래스가 하나 이상, per_class가 1 이상이어야 합니다. "
        "받은 값: classes={classes}, per_class={per_class}"
    ),
    "preview_no_image": (
        "{place}: {name!r} 이미지가 없습니다. 있는 클래스 중에서 고르십시오: {present}."
    ),
    "font": (
        "{variable}에는 열 수 있는 글꼴 파일(.ttf, .otf, .ttc)을 지정해야 합니다. 경로를 고치거나 "
        "변수를 지우십시오. 받은 값: {variable}={path!r}({error})"
    ),
}

TEXTS: Mapping[str, Mapping[str, str]] = {"en": _EN, "ko": _KO}

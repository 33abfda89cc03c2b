"""The words of ``report.html``, Korean and English."""

from __future__ import annotations

from collections.abc import Mapping

_EN = {
    "title": "kfood archive report",
    "drawing": "Drawing the report",
    "lead": "What was found in the archive, what can be used, and what to look at before training.",
    "source": "Source",
    "contents": "Contents",
    "file": "File",
    "files": "Files",
    "reason": "Reason",
    "share": "Share",
    "found": "Found",
    "accepted": "Accepted",
    "rejected": "Rejected",
    "class": "Class",
    "category": "Category",
    "format": "Format by content",
    "split": "Split",
    "code": "Code",
    "total": "Total",
    "unknown_format": "unknown",
    "outside": "outside every known class",
    "none_split": "in no split",
    "nothing": "None.",
    "more": "{number} more",
    "numbers": "Totals",
    "numbers_found": "Images found",
    "numbers_side_files": "Side files (crop tables, system files): {number}",
    "numbers_classes": "Classes with images",
    "numbers_groups": "Groups of look-alikes",
    "numbers_conflicts": "Groups under two labels",
    "check_kinds": "All files = images + side files",
    "check_verdicts": "Images found = accepted + rejected",
    "check_reasons": "Rejected = sum over the reasons",
    "check_classes": "Images found = sum over the classes and the files outside them",
    "check_splits": "Accepted = sum over the splits",
    "check_ids": "Every id occurs once",
    "check_listed": "Files that the archive lists = rows of the manifest",
    "check_ok": "adds up",
    "check_bad": "does not add up",
    "expected": "Expected and found",
    "expected_lead": (
        "The whole archive is known to hold {expected} images in 150 classes, {smallest} to "
        "{largest} in each. How many each single class holds is not public, so what a class lacks "
        "can only be given as a lower bound."
    ),
    "expected_images": "Expected images",
    "expected_found": "Images found",
    "expected_difference": "Difference",
    "expected_short": "Classes with fewer than {smallest} images: {number}",
    "expected_none_short": "No class has fewer than {smallest} images.",
    "expected_lacks": "Missing at least",
    "counts": "The counts in circulation",
    "counts_lead": "Four totals are quoted for this data set. What is known of each:",
    "counts_150610": (
        "A figure that the portal's own text once gave. No archive with so many images is known; "
        "the 103 between it and the archive were never accounted for."
    ),
    "counts_150507": "The image files in the archive itself, whatever their extension.",
    "counts_150087": (
        "150,507 less 420, and about 420 files don't end in “.jpg” (.JPG, .jpeg, .png, .gif, "
        ".bmp). So it fits a count of *.jpg alone; nobody has stated it."
    ),
    "counts_142642": (
        "Published for a copy with 145 classes in 25 categories, taken as 145,000 images, after "
        "files that its users held invalid had been left out. Which ones isn't published."
    ),
    "counts_here": "The same ways of counting, applied to this source:",
    "counts_here_found": "all image files found",
    "counts_here_jpg": "of these, named “.jpg” in small letters",
    "counts_here_accepted": "accepted",
    "counts_here_unique": "accepted, identical copies counted once",
    "counts_here_distinct": "accepted, look-alikes counted once",
    "classes": "Classes",
    "classes_lead": (
        "One column per class, in the order of the codes; the upper edge is {top} images."
    ),
    "classes_each": "Class by class",
    "classes_chart": "Number of files in each of {number} classes, by split",
    "classes_range": "Smallest {smallest}, mean {mean}, largest {largest} accepted images.",
    "categories": "Categories",
    "formats": "File formats",
    "splits": "Splits",
    "crops": "Crop boxes",
    "crops_lead": "How the crop rows of the accepted images could be read.",
    "crop_annotated": "box read as it stands",
    "crop_clipped": "box cut to the image",
    "crop_missing": "no row: whole image",
    "crop_unusable": "unusable row: whole image",
    "crops_notes": "Crop rows that say more than a box, or something else",
    "crops_notes_shown": ("Shown: {shown} of {number}; the manifest's column “crop_note” has all."),
    "rejections": "Rejected files",
    "rejections_lead": "Every refused file with its reason. None of them is in a split.",
    "conflicts": "One picture, two labels",
    "conflicts_lead": (
        "Groups of look-alikes whose files carry different labels. At least one of the labels is "
        "wrong, or the picture shows both dishes."
    ),
    "conflicts_exact": "byte-identical files under different labels",
    "conflicts_near": "look-alikes under different labels",
    "groups": "Look-alikes",
    "groups_lead": (
        "Images that look the same up to encoding, size, brightness, a slight crop or mirroring. "
        "A whole group lies in one split. Largest groups first."
    ),
    "groups_group": "Group {number}",
    "groups_images": "{number} images",
    "groups_identical": "with byte-identical files",
    "groups_shown": "Shown: {shown} of {number} groups; the manifest's column “group” has all.",
    "cuts": "Alike, yet in different groups",
    "cuts_lead": (
        "A group holds what is like its centre, not what is only like something like it. At these "
        "pairs such a chain was cut. Most of them still lie in one split; pairs that may not: "
        "{parted}."
    ),
    "cuts_likeness": "Likeness {likeness}",
    "cuts_parted": "may lie in two splits",
    "cuts_shown": "Shown: {shown} of {number}.",
    "flags": "Flags",
    "flags_lead": "Worth a look, but no ground for refusing a file.",
    "flags_shown": "Shown: {shown} of {number}; the manifest's column “flags” has all.",
    "flag_small_box": "Crop box under 5 % of the image",
    "flag_small_image": "Shorter side under 64 pixels",
    "flag_extreme_aspect": "Longer than 3 : 1",
    "flag_blurred": "Blurred",
    "flag_dark": "Very dark",
    "flag_bright": "Very bright",
    "flag_uniform": "Nearly uniform",
    "flag_few_colours": "Few colours: screenshot or drawing",
    "flag_code_mismatch": "Code in the file name names another class",
    "flag_orphan_rows": "Crop tables with rows for images that aren't there",
    "notes": "Notes on the archive",
    "notes_left_out": "Left out here: {number} more notes.",
    "method": "How look-alikes are found",
    "method_lead": (
        "Perceptual hashes name candidates among all images of all classes; a candidate counts if "
        "its small grey thumbnail and the other's correlate with at least {threshold} over small "
        "shifts, crops and the mirror image. Measured on {images} drawn pictures and known copies "
        "of a tenth of them:"
    ),
    "method_kind": "Copy",
    "method_pair": "found",
    "method_group": "in one group",
    "method_block": "in one split",
    "method_false": "False pairs in a million pairs of different pictures: {number}.",
    "no_picture": "no picture",
    "footer": "Pictures in this page come from the archive; its terms bar passing them on.",
}

_KO = {
    "title": "kfood 아카이브 점검 보고서",
    "drawing": "보고서 작성",
    "lead": (
        "아카이브에서 무엇이 나왔고, 무엇을 쓸 수 있으며, "
        "학습 전에 무엇을 살펴봐야 하는지 정리했습니다."
    ),
    "source": "원본",
    "contents": "차례",
    "file": "파일",
    "files": "파일 수",
    "reason": "사유",
    "share": "비율",
    "found": "발견",
    "accepted": "사용",
    "rejected": "제외",
    "class": "클래스",
    "category": "대분류",
    "format": "실제 형식",
    "split": "분할",
    "code": "코드",
    "total": "합계",
    "unknown_format": "알 수 없음",
    "outside": "알려진 클래스 밖의 파일",
    "none_split": "분할 없음",
    "nothing": "없습니다.",
    "more": "외 {number}장",
    "numbers": "전체 수치",
    "numbers_found": "발견한 이미지",
    "numbers_side_files": "부속 파일(크롭 정보, 시스템 파일): {number}개",
    "numbers_classes": "이미지가 있는 클래스",
    "numbers_groups": "유사 이미지 그룹",
    "numbers_conflicts": "라벨이 엇갈리는 그룹",
    "check_kinds": "전체 파일 = 이미지 + 부속 파일",
    "check_verdicts": "발견한 이미지 = 사용 + 제외",
    "check_reasons": "제외 = 사유별 합계",
    "check_classes": "발견한 이미지 = 클래스별 합계 + 클래스 밖의 파일",
    "check_splits": "사용 = 분할별 합계",
    "check_ids": "id는 모두 한 번씩만 나옴",
    "check_listed": "아카이브의 파일 수 = 매니페스트의 행 수",
    "check_ok": "일치",
    "check_bad": "불일치",
    "expected": "알려진 수와 발견한 수",
    "expected_lead": (
        "전체 아카이브는 150개 클래스, {expected}장이며 클래스마다 {smallest}~{largest}장으로 "
        "알려져 있습니다. 클래스별 정확한 장수는 공개되지 않아, 모자란 수는 하한으로만 적습니다."
    ),
    "expected_images": "알려진 이미지 수",
    "expected_found": "발견한 이미지 수",
    "expected_difference": "차이",
    "expected_short": "{smallest}장보다 적은 클래스: {number}개",
    "expected_none_short": "{smallest}장보다 적은 클래스는 없습니다.",
    "expected_lacks": "최소 부족분",
    "counts": "떠도는 네 가지 이미지 수",
    "counts_lead": (
        "이 데이터셋의 이미지 수로 인용되는 값은 네 가지입니다. 각각 알려진 바는 다음과 같습니다."
    ),
    "counts_150610": (
        "예전에 포털 소개 글에 적혀 있던 값입니다. 이만큼 들어 있는 아카이브는 확인된 적이 없고, "
        "실제 아카이브와 차이 나는 103장에 대한 설명도 없습니다."
    ),
    "counts_150507": "확장자를 가리지 않고 아카이브에 실제로 들어 있는 이미지 파일 수입니다.",
    "counts_150087": (
        "150,507에서 420을 뺀 값입니다. 확장자가 정확히 “.jpg”가 아닌 파일(.JPG, .jpeg, .png, "
        ".gif, .bmp)이 약 420개이므로 *.jpg만 세었을 때의 수와 맞아떨어지지만, "
        "그렇게 밝힌 자료는 없습니다."
    ),
    "counts_142642": (
        "25개 대분류, 145개 클래스만 있는 사본(145,000장으로 계산)에서 유효하지 않다고 판단한 "
        "파일을 뺀 뒤의 수로 공개된 값입니다. 어떤 파일을 뺐는지는 공개되지 않았습니다."
    ),
    "counts_here": "같은 방식으로 이 원본을 세면 다음과 같습니다.",
    "counts_here_found": "발견한 모든 이미지 파일",
    "counts_here_jpg": "그중 확장자가 소문자 “.jpg”인 파일",
    "counts_here_accepted": "사용 가능한 이미지",
    "counts_here_unique": "사용 가능, 동일한 파일은 하나로 셈",
    "counts_here_distinct": "사용 가능, 유사 이미지는 하나로 셈",
    "classes": "클래스",
    "classes_lead": "막대 하나가 클래스 하나이며 코드 순서입니다. 위쪽 끝은 {top}장입니다.",
    "classes_each": "클래스별로 보기",
    "classes_chart": "{number}개 클래스의 분할별 파일 수",
    "classes_range": "사용 가능한 이미지: 최소 {smallest}장, 평균 {mean}장, 최대 {largest}장",
    "categories": "대분류",
    "formats": "파일 형식",
    "splits": "분할",
    "left_out_its class is not among the chosen ones": "선택하지 않은 클래스",
    "left_out_the same picture carries another label too": "같은 사진에 다른 라벨도 있음",
    "left_out_exact duplicate": "동일한 파일",
    "left_out_more than … images of the class": "클래스당 {number}장을 넘는 이미지",
    "crops": "크롭 영역",
    "crops_lead": "사용 가능한 이미지의 크롭 정보를 어떻게 읽었는지 보여 줍니다.",
    "crop_annotated": "적힌 영역 그대로",
    "crop_clipped": "이미지에 맞게 잘라 냄",
    "crop_missing": "정보 없음: 이미지 전체",
    "crop_unusable": "쓸 수 없는 값: 이미지 전체",
    "crops_notes": "영역 말고 다른 내용이 있는 크롭 행",
    "crops_notes_shown": (
        "전체 {number}개 중 {shown}개 표시. 나머지는 매니페스트의 crop_note 열에 있습니다."
    ),
    "rejections": "제외된 파일",
    "rejections_lead": "제외된 모든 파일과 그 사유입니다. 어느 분할에도 들어가지 않습니다.",
    "reason_empty file": "빈 파일",
    "reason_not an image": "이미지가 아님",
    "reason_too large": "너무 큼",
    "reason_no pixels": "픽셀 없음",
    "reason_unreadable": "읽을 수 없음",
    "reason_truncated …": "잘린 {format} 파일",
    "reason_unreadable …": "읽을 수 없는 {format} 파일",
    "reason_hostile …": "디코더에 부담을 주는 {format} 파일",
    "reason_unsupported …": "지원하지 않는 {format} 파일",
    "reason_broken …": "손상된 {format} 파일",
    "reason_hostile tags": "디코더에 부담을 주는 태그",
    "reason_left out by the edited manifest": "편집한 매니페스트에서 제외",
    "reason_unknown class folder": "알 수 없는 클래스 폴더",
    "reason_the archive holds this path twice": "같은 경로가 두 번 있음",
    "conflicts": "같은 사진, 다른 라벨",
    "conflicts_lead": (
        "서로 비슷한 이미지인데 라벨이 다른 그룹입니다. 라벨 중 하나 이상이 틀렸거나, "
        "한 사진에 두 음식이 함께 있는 경우입니다."
    ),
    "conflicts_exact": "라벨이 다른 동일한 파일",
    "conflicts_near": "라벨이 다른 유사 이미지",
    "groups": "유사 이미지",
    "groups_lead": (
        "압축, 크기, 밝기, 약간의 자르기, 좌우 반전을 빼면 같아 보이는 이미지입니다. "
        "한 그룹은 모두 같은 분할에 들어갑니다. 큰 그룹부터 보여 줍니다."
    ),
    "groups_group": "그룹 {number}",
    "groups_images": "{number}장",
    "groups_identical": "동일한 파일 포함",
    "groups_shown": (
        "전체 {number}개 그룹 중 {shown}개 표시. 나머지는 매니페스트의 group 열에 있습니다."
    ),
    "cuts": "비슷하지만 다른 그룹에 든 이미지",
    "cuts_lead": (
        "그룹에는 중심 이미지와 비슷한 이미지만 들어갑니다. "
        "비슷한 것의 비슷한 것으로 이어지는 사슬은 아래 쌍에서 끊었습니다. "
        "대부분은 그래도 같은 분할에 들어가며, "
        "분할이 갈릴 수 있는 쌍은 {parted}개입니다."
    ),
    "cuts_likeness": "유사도 {likeness}",
    "cuts_parted": "분할이 갈릴 수 있음",
    "cuts_shown": "전체 {number}쌍 중 {shown}쌍 표시.",
    "flags": "확인이 필요한 이미지",
    "flags_lead": "살펴볼 만하지만 제외하지는 않은 파일입니다.",
    "flags_shown": "전체 {number}개 중 {shown}개 표시. 나머지는 매니페스트의 flags 열에 있습니다.",
    "flag_small_box": "크롭 영역이 이미지의 5% 미만",
    "flag_small_image": "짧은 변이 64픽셀 미만",
    "flag_extreme_aspect": "가로세로 비율이 3:1 초과",
    "flag_blurred": "흐림",
    "flag_dark": "매우 어두움",
    "flag_bright": "매우 밝음",
    "flag_uniform": "거의 한 가지 색",
    "flag_few_colours": "색이 적음: 화면 캡처나 그림",
    "flag_code_mismatch": "파일 이름의 코드가 폴더의 클래스와 다름",
    "flag_orphan_rows": "없는 이미지의 행이 있는 크롭 정보 파일",
    "notes": "아카이브에 대한 메모",
    "notes_left_out": "여기에 싣지 않은 메모: {number}건",
    "method": "유사 이미지를 찾는 방법",
    "method_lead": (
        "지각 해시로 모든 클래스의 이미지에서 후보를 고른 뒤, 작은 회색조 섬네일을 조금씩 옮기고 "
        "잘라 내고 뒤집어 가며 비교해 상관이 {threshold} 이상이면 유사 이미지로 봅니다. "
        "그린 이미지 {images}장과 그 10분의 1로 만든 사본으로 측정한 결과입니다."
    ),
    "method_kind": "사본",
    "method_pair": "찾음",
    "method_group": "같은 그룹",
    "method_block": "같은 분할",
    "method_false": "서로 다른 이미지 100만 쌍당 잘못 묶은 쌍: {number}개",
    "copy_JPEG 40": "JPEG 품질 40",
    "copy_half size": "절반 크기",
    "copy_5 % off every edge": "네 변에서 5%씩 자름",
    "copy_5 % off one corner": "한쪽 모서리에서 5% 자름",
    "copy_brightness -15 %": "밝기 -15%",
    "copy_brightness +15 %": "밝기 +15%",
    "copy_contrast ±20 %": "대비 ±20%",
    "copy_mirrored": "좌우 반전",
    "copy_two of these": "위의 두 가지를 겹침",
    "no_picture": "이미지 없음",
    "footer": (
        "이 문서의 사진은 아카이브에서 가져온 것으로, 이용 약관에 따라 다시 배포할 수 없습니다."
    ),
}

TEXTS: Mapping[str, Mapping[str, str]] = {"en": _EN, "ko": _KO}

"""The words of messages about archives and the files in them, Korean and English.

Names that begin with `fault_` say in half a sentence why one file isn't read.
"""

from __future__ import annotations

from collections.abc import Mapping

_EN = {
    # Finding the archive.
    "expected": (
        "Looked for kfood.zip, the portal's .tar or its .part files, category zips such as "
        "구이.zip, or folders such as 구이/갈비구이 with images."
    ),
    "not_there": "{place} is not there. {expected} Check the path.",
    "path_empty": (
        "A path is empty. Give that of a file or folder; the current folder is '.'. Received: ''."
    ),
    "path_scheme": (
        "Only local paths and buckets (gs://, s3:// and the like) can be opened. Download what is "
        "there first, and give the path of the copy. Received: {path!r}."
    ),
    "not_reached": (
        "{place} can't be reached ({error}). Check the address and that you may read there, or "
        "download it and give the path of the copy."
    ),
    "no_archive": "{place} holds no kfood archive. {expected} {found}",
    "found_unfinished": (
        "Found an unfinished download: {names}. Let it finish, or start it again."
    ),
    "found_nothing": "Found nothing: the folder is empty. Put the download there as it is.",
    "found_other": "Found {names}. Give the path of the download itself.",
    "and_more": "{shown} and {number:,} more",
    "cannot_list": (
        "{place} can't be listed ({error}). Give the path of AI Hub's kfood download, a file or a "
        "folder that you may read."
    ),
    "too_many_files": (
        "{place} holds more than {limit:,} files (MAX_FILES). Give the folder of the kfood "
        "download, not one far above it."
    ),
    "left_alone": "{place}: left alone beside the {layout}",
    "more_left_alone": "{number:,} more files: left alone",
    # Part files and tars.
    "zips_do_not_open": (
        "{broken} of {number} zips inside can't be opened. {advice} The first: {first}"
    ),
    "check_parts": (
        "The part files may be in the wrong order, of two downloads, or damaged: check that each "
        "has the name and size that the portal gave it, and download again those that haven't."
    ),
    "download_again": "Download the archive again.",
    "tar_without_zip": (
        "{place} is a tar without kfood.zip or its part files in it. Found {names}. Give the tar "
        "that the portal's tool downloaded, as it is."
    ),
    "nothing": "nothing",
    "tar_too_long": (
        "{place} has more than {limit:,} members (MAX_TAR_MEMBERS); the portal's has a few part "
        "files. Give the tar that the portal's tool downloaded, as it is."
    ),
    "tar_cut_off": (
        "{place} is cut off: {name} should reach to byte {stop}, but the tar has {size}. Download "
        "it again."
    ),
    "tar_unreadable": "{place} is no readable tar ({error}). Download it again.",
    "series": "{name} in {place}",
    "the_folder": "the folder",
    "part_numbers": (
        "{series} {what}; found {parts}. Put all part files of one download into one folder, and "
        "nothing else of the kind."
    ),
    "part_twice": "has a part twice",
    "lacks_part": "lacks .part{number}",
    "lacks_parts": "lacks .part{first} to .part{last}",
    "joined": (
        "{error} (Joined from {number} piece(s); a missing last part file, or parts of two "
        "downloads, look like this too.)"
    ),
    # Zips.
    "zip_directory_cut": "{place} is cut off: its directory ends early. Download or copy it again.",
    "zip_too_long": (
        "{place} lists more than {limit} members (MAX_MEMBERS). Give the kfood download itself; "
        "if it is that, download it again."
    ),
    "zip_directory_damaged": (
        "{place} has a damaged directory, at byte {at}. Download or copy it again."
    ),
    "zip_entry_cut": (
        "{place} has a damaged directory: an entry is cut off. Download or copy it again."
    ),
    "zip_empty": "{place} is empty or no zip: {size} bytes. Download or copy it again.",
    "no_zip": "{place} is no zip: it doesn't begin like one. Download or copy it again.",
    "zip_cut_off": (
        "{place} is cut off: a zip ends with the list of its members, and after {size:,} bytes "
        "there is none. The download or copy isn't finished. Download or copy it again."
    ),
    "zip_volume": (
        "{place} is one volume of a zip split over several (.z01, .z02, …). Join them first: "
        "zip -s 0 kfood.zip --out whole.zip"
    ),
    "zip_claims": (
        "{place} claims {count:,} members in {size:,} bytes of directory; the limits are "
        "{members:,} (MAX_MEMBERS) and {bytes:,} (MAX_DIRECTORY_BYTES). Download or copy it again."
    ),
    "nothing_readable": "Nothing in {place} can be read: {fault}.",
    # Files inside.
    "cannot_read": "{place} can't be read: {fault}.",
    "too_large": (
        "{place} is too large: {size:,} bytes, the limit is {limit:,} ({name}). No photo of the "
        "data set comes near: remove the file, or shrink it."
    ),
    "member_cut_off": "{place} is cut off by the end of its zip. Download or copy it again.",
    "checksum": "{place} is damaged: its checksum (CRC) doesn't match. Download or copy it again.",
    "no_member": (
        "{place} is damaged: no member begins at byte {offset} of its zip, where its directory "
        "says one does. Download or copy it again."
    ),
    "two_names": (
        "{place} is damaged: its directory and its place in the zip give it two names, the latter "
        "{name!r}. Download or copy it again."
    ),
    "cannot_unpack": "{place} is damaged, unpacking it fails: {error}. Download or copy it again.",
    "file_unreadable": (
        "{place} can't be read ({error}). Check that {root} is still there, and that you may read "
        "all files in it."
    ),
    "file_changed": (
        "{place} had {size:,} bytes when the folder was listed and has another length now. Let "
        "nothing write to the folder while it is read."
    ),
    "changed": (
        "{place} was changed after it was looked at: {change}. Let nothing write to it while it is "
        "read, and start again."
    ),
    "change_gone": "{place} can't be reached any more ({error})",
    "change_size": "{place} had {size:,} bytes and has {now:,} now",
    "change_time": "{place} was written to",
    "archive_unreadable": (
        "{place} can't be read ({error}). Check that the file is still there, the disk is mounted "
        "and you may read it."
    ),
    "archive_shrank": (
        "{place} ends at byte {stop}, but was longer when the archive was opened. Let nothing "
        "write to it while it is read, then try again."
    ),
    "fault_encrypted": "it is encrypted. Unpack it with its password, and zip it again without one",
    "fault_method": "its compression ({method}) isn't supported. Zip it again, stored or deflated",
    "fault_sizes": (
        "damaged directory: stored, yet {compressed} bytes for {size}. Download or copy it again"
    ),
    "fault_bomb": (
        "zip bomb: {size:,} bytes claimed from {compressed:,}, the limit is {limit} to 1 "
        "(MAX_RATIO). Download it again from the portal"
    ),
    "fault_overlap": (
        "damaged directory: its bytes overlap {where}. Download or copy the zip again"
    ),
    "the_directory": "the directory",
    "another_member": "another member",
    "fault_long_name": (
        "its name has {size:,} bytes, the limit is {limit} (MAX_NAME_BYTES). Give it a shorter one"
    ),
    "fault_nul_name": "its name holds a NUL character. Download or copy the zip again",
    "fault_climbing_name": (
        "its name climbs out of its folder ('..'). Zip it again under a name without '..'"
    ),
    "fault_dead_link": "it is a link to nothing. Remove it, or put the file itself there",
    "fault_link_out": (
        "it is a link out of the archive's folder, which isn't followed. Put the file itself there"
    ),
    "fault_deep": (
        "it is a folder more than {limit} levels deep (MAX_DEPTH). Give the path of a folder "
        "further down"
    ),
}

_KO = {
    "expected": (
        "다음 가운데 하나가 있어야 합니다: kfood.zip, 포털의 .tar나 .part 파일, 구이.zip 같은 "
        "대분류별 zip, 이미지가 든 구이/갈비구이 같은 폴더."
    ),
    "not_there": "{place}: 그런 파일이나 폴더가 없습니다. {expected} 경로를 확인하십시오.",
    "path_empty": (
        "경로가 비어 있습니다. 파일이나 폴더의 경로를 지정하십시오. 현재 폴더는 '.'입니다. "
        "받은 값: ''."
    ),
    "path_scheme": (
        "로컬 경로와 버킷(gs://, s3:// 등)만 열 수 있습니다. 먼저 내려받은 뒤 그 경로를 "
        "지정하십시오. 받은 값: {path!r}."
    ),
    "not_reached": (
        "{place}: 접근할 수 없습니다({error}). 주소와 읽기 권한을 확인하거나, 내려받은 뒤 그 "
        "경로를 지정하십시오."
    ),
    "no_archive": "{place}: kfood 아카이브가 없습니다. {expected} {found}",
    "found_unfinished": (
        "아직 덜 받은 파일이 있습니다: {names}. 내려받기가 끝날 때까지 기다리거나 다시 받으십시오."
    ),
    "found_nothing": "폴더가 비어 있습니다. 내려받은 파일을 그대로 넣으십시오.",
    "found_other": "발견한 파일: {names}. 내려받은 파일이나 폴더의 경로를 직접 지정하십시오.",
    "and_more": "{shown} 외 {number:,}개",
    "cannot_list": (
        "{place}: 목록을 읽을 수 없습니다({error}). AI Hub에서 받은 kfood 파일이나 폴더 가운데 "
        "읽기 권한이 있는 경로를 지정하십시오."
    ),
    "too_many_files": (
        "{place}: 파일이 {limit:,}개를 넘습니다(MAX_FILES). 한참 위의 폴더가 아니라 kfood를 "
        "내려받은 폴더를 지정하십시오."
    ),
    "left_alone": "{place}: 아카이브({layout}) 옆에 있어 무시함",
    "more_left_alone": "그 밖의 파일 {number:,}개: 무시함",
    "zips_do_not_open": (
        "안에 든 zip {number}개 중 {broken}개를 열 수 없습니다. {advice} 첫 번째: {first}"
    ),
    "check_parts": (
        "part 파일의 순서가 틀렸거나, 따로 받은 파일이 섞였거나, 파일이 손상되었을 수 있습니다. "
        "이름과 크기가 포털에 나온 것과 같은지 확인하고 다른 것은 다시 받으십시오."
    ),
    "download_again": "아카이브를 다시 받으십시오.",
    "tar_without_zip": (
        "{place}: tar 안에 kfood.zip이나 part 파일이 없습니다. 발견한 파일: {names}. 포털의 명령줄 "
        "도구로 받은 tar를 그대로 지정하십시오."
    ),
    "nothing": "없음",
    "tar_too_long": (
        "{place}: tar에 든 항목이 {limit:,}개를 넘습니다(MAX_TAR_MEMBERS). 포털의 tar에는 part "
        "파일 몇 개만 있습니다. 포털의 명령줄 도구로 받은 tar를 그대로 지정하십시오."
    ),
    "tar_cut_off": (
        "{place}: 파일이 잘렸습니다. {name} 항목은 {stop}바이트까지 있어야 하는데 tar는 "
        "{size}바이트입니다. 다시 받으십시오."
    ),
    "tar_unreadable": "{place}: tar로 읽을 수 없습니다({error}). 다시 받으십시오.",
    "series": "{place}의 {name}",
    "the_folder": "폴더",
    "part_numbers": (
        "{series}: {what}. 발견한 파일: {parts}. 한 번에 받은 part 파일을 한 폴더에 모두 모으고 "
        "다른 part 파일은 빼십시오."
    ),
    "part_twice": "같은 번호의 part 파일이 두 개 있습니다",
    "lacks_part": ".part{number} 파일이 없습니다",
    "lacks_parts": ".part{first}부터 .part{last}까지 없습니다",
    "joined": (
        "{error} (조각 {number}개를 이어 붙인 것입니다. 마지막 part 파일이 없거나 따로 받은 파일이 "
        "섞여도 이렇게 보입니다.)"
    ),
    "zip_directory_cut": (
        "{place}: 파일이 잘렸습니다. zip의 파일 목록이 중간에 끝납니다. 다시 받거나 다시 "
        "복사하십시오."
    ),
    "zip_too_long": (
        "{place}: zip에 든 항목이 {limit}개를 넘습니다(MAX_MEMBERS). AI Hub에서 받은 kfood 파일을 "
        "지정하십시오. 그 파일이 맞다면 다시 받으십시오."
    ),
    "zip_directory_damaged": (
        "{place}: zip의 파일 목록이 {at}바이트 위치에서 손상되었습니다. 다시 받거나 다시 "
        "복사하십시오."
    ),
    "zip_entry_cut": (
        "{place}: zip의 파일 목록이 손상되었습니다. 항목 하나가 중간에 끝납니다. 다시 받거나 다시 "
        "복사하십시오."
    ),
    "zip_empty": (
        "{place}: 비어 있거나 zip이 아닙니다({size}바이트). 다시 받거나 다시 복사하십시오."
    ),
    "no_zip": (
        "{place}: zip이 아닙니다. 파일의 시작 부분이 zip과 다릅니다. 다시 받거나 다시 복사하십시오."
    ),
    "zip_cut_off": (
        "{place}: 파일이 잘렸습니다. zip은 파일 목록으로 끝나는데 {size:,}바이트 뒤에 목록이 "
        "없습니다. 내려받기나 복사가 끝나지 않은 파일입니다. 다시 받거나 다시 복사하십시오."
    ),
    "zip_volume": (
        "{place}: 여러 볼륨(.z01, .z02, …)으로 나눈 zip의 한 조각입니다. 먼저 합치십시오: "
        "zip -s 0 kfood.zip --out whole.zip"
    ),
    "zip_claims": (
        "{place}: 항목 {count:,}개, 파일 목록 {size:,}바이트라고 적혀 있습니다. 한도는 "
        "{members:,}개(MAX_MEMBERS), {bytes:,}바이트(MAX_DIRECTORY_BYTES)입니다. 다시 받거나 다시 "
        "복사하십시오."
    ),
    "nothing_readable": "{place}: 안에 든 파일을 하나도 읽을 수 없습니다. {fault}.",
    "cannot_read": "{place}: 읽을 수 없습니다. {fault}.",
    "too_large": (
        "{place}: 파일이 너무 큽니다. {size:,}바이트이며 한도는 {limit:,}바이트({name})입니다. 이 "
        "데이터셋에 그만큼 큰 사진은 없습니다. 파일을 빼거나 줄이십시오."
    ),
    "member_cut_off": "{place}: zip이 끝나면서 파일이 잘렸습니다. 다시 받거나 다시 복사하십시오.",
    "checksum": (
        "{place}: 파일이 손상되었습니다. 체크섬(CRC)이 맞지 않습니다. 다시 받거나 다시 "
        "복사하십시오."
    ),
    "no_member": (
        "{place}: 파일이 손상되었습니다. zip의 파일 목록에 적힌 {offset}바이트 위치에 파일이 "
        "없습니다. 다시 받거나 다시 복사하십시오."
    ),
    "two_names": (
        "{place}: 파일이 손상되었습니다. zip의 파일 목록과 실제 위치에 적힌 이름이 다릅니다. 실제 "
        "위치의 이름: {name!r}. 다시 받거나 다시 복사하십시오."
    ),
    "cannot_unpack": (
        "{place}: 파일이 손상되어 압축을 풀 수 없습니다({error}). 다시 받거나 다시 복사하십시오."
    ),
    "file_unreadable": (
        "{place}: 읽을 수 없습니다({error}). {root} 경로가 그대로 있는지, 그 안의 파일에 읽기 "
        "권한이 있는지 확인하십시오."
    ),
    "file_changed": (
        "{place}: 목록을 읽을 때는 {size:,}바이트였는데 지금은 길이가 다릅니다. 읽는 동안에는 "
        "폴더에 아무것도 쓰지 마십시오."
    ),
    "changed": (
        "{place}: 살펴본 뒤에 내용이 바뀌었습니다({change}). 읽는 동안에는 아무것도 쓰지 말고 "
        "처음부터 다시 시작하십시오."
    ),
    "change_gone": "{place}에 더는 접근할 수 없음, {error}",
    "change_size": "{place}: {size:,}바이트였으나 지금은 {now:,}바이트",
    "change_time": "{place}: 수정 시각이 바뀜",
    "archive_unreadable": (
        "{place}: 읽을 수 없습니다({error}). 파일이 그대로 있는지, 디스크가 마운트되어 있는지, "
        "읽기 권한이 있는지 확인하십시오."
    ),
    "archive_shrank": (
        "{place}: {stop}바이트에서 끝납니다. 아카이브를 열 때는 더 길었습니다. 읽는 동안에는 "
        "파일에 쓰지 말고 다시 시도하십시오."
    ),
    "fault_encrypted": "암호가 걸려 있습니다. 암호로 압축을 푼 뒤 암호 없이 다시 압축하십시오",
    "fault_method": (
        "지원하지 않는 압축 방식({method})입니다. 저장(stored)이나 deflate 방식으로 다시 "
        "압축하십시오"
    ),
    "fault_sizes": (
        "zip의 파일 목록이 손상되었습니다. 압축하지 않은 파일인데 {size}바이트가 "
        "{compressed}바이트로 적혀 있습니다. 다시 받거나 다시 복사하십시오"
    ),
    "fault_bomb": (
        "압축 폭탄으로 보입니다. {compressed:,}바이트를 풀면 {size:,}바이트라고 적혀 있으며, "
        "한도는 {limit}배(MAX_RATIO)입니다. 포털에서 다시 받으십시오"
    ),
    "fault_overlap": (
        "zip의 파일 목록이 손상되었습니다. 데이터가 {where}과 겹칩니다. zip을 다시 받거나 다시 "
        "복사하십시오"
    ),
    "the_directory": "파일 목록",
    "another_member": "다른 파일의 영역",
    "fault_long_name": (
        "이름이 {size:,}바이트이며 한도는 {limit}바이트(MAX_NAME_BYTES)입니다. 이름을 줄이십시오"
    ),
    "fault_nul_name": "이름에 NUL 문자가 있습니다. zip을 다시 받거나 다시 복사하십시오",
    "fault_climbing_name": (
        "이름이 자기 폴더 밖을 가리킵니다('..'). '..'이 없는 이름으로 다시 압축하십시오"
    ),
    "fault_dead_link": "없는 파일을 가리키는 링크입니다. 링크를 지우거나 파일 자체를 넣으십시오",
    "fault_link_out": (
        "아카이브 폴더 밖을 가리키는 링크라서 따라가지 않습니다. 파일 자체를 넣으십시오"
    ),
    "fault_deep": (
        "폴더가 {limit}단계보다 깊습니다(MAX_DEPTH). 더 아래에 있는 폴더의 경로를 지정하십시오"
    ),
}

TEXTS: Mapping[str, Mapping[str, str]] = {"en": _EN, "ko": _KO}

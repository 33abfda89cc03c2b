"""The errors, in both languages."""

from __future__ import annotations

import pickle

from kfood_tfds.raw.errors import ArchiveError, KfoodError
from kfood_tfds.raw.messages import say


def test_an_error_reads_english_and_can_be_told_in_korean() -> None:
    error = ArchiveError(say("no_zip", place="구이.zip"))
    assert str(error).startswith("구이.zip is no zip: ")
    assert error.in_language("en") == str(error)
    assert error.in_language("ko").startswith("구이.zip: zip이 아닙니다. ")


def test_an_error_in_english_only_stays_what_it_is() -> None:
    error = KfoodError("seed must be positive. Received: -1.")
    assert str(error) == error.in_language("ko") == "seed must be positive. Received: -1."


def test_errors_travel_between_processes_with_both_languages() -> None:
    inner = say("fault_method", method="LZMA")
    error = pickle.loads(pickle.dumps(ArchiveError(say("cannot_read", place="a", fault=inner))))
    assert isinstance(error, ArchiveError)
    assert "(LZMA) isn't supported" in str(error) and "방식(LZMA)" in error.in_language("ko")

"""The command ``kfood-tfds``: arguments in, calls out; what it does is done elsewhere."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TextIO, cast

from tqdm.auto import tqdm

from kfood_tfds import __version__, command_text
from kfood_tfds.inspection import InspectOptions, describe, inspect_archive
from kfood_tfds.preview import preview
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.found_files import check_path
from kfood_tfds.raw.sample import SampleSpec, write_sample
from kfood_tfds.words import LANGUAGES, Words, language

CLEAN, REJECTED, UNREADABLE = 0, 1, 2
# What a shell says of a process that SIGINT ended, and of one that SIGPIPE did.
INTERRUPTED, UNHEARD = 130, 141
# More threads than any machine has a use for; a sheet of more columns fills the memory.
MAX_WORKERS = 1024
MAX_COLUMNS = 100
_PATHS = ("source", "config", "out", "cache", "class_csv")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; ``argv`` is ``sys.argv[1:]`` if not given.

    Returns:
        The exit code: 0, 1 if files were rejected, 2 if the source can't be read or an argument
        makes no sense, 130 after Ctrl-C, 141 if nobody reads the output any more.
    """
    arguments = sys.argv[1:] if argv is None else argv
    words = Words(_language(arguments), command_text.TEXTS)
    with _streams():
        try:
            try:
                return _run(arguments, words)
            finally:
                sys.stdout.flush()  # Here what goes wrong with it can still be said.
        except BrokenPipeError:
            _drop_output()
            return UNHEARD
        except OSError as error:
            _drop_output()
            _complain(words.say("error", message=error))
            return UNREADABLE
        except KeyboardInterrupt:
            _complain(words.say("interrupted"))
            return INTERRUPTED


def _run(arguments: Sequence[str], words: Words) -> int:
    options = _parser(words).parse_args(arguments)
    try:
        for name in _PATHS:
            if getattr(options, name, None) is not None:
                check_path(getattr(options, name))
        return int(options.run(options, words))
    except KfoodError as error:
        _complain(words.say("error", message=error.in_language(words.lang)))
        return UNREADABLE


class _Parser(argparse.ArgumentParser):
    """Says in the reader's language what argparse would say in the process's."""

    def __init__(self, *, words: Words, **options: Any) -> None:
        super().__init__(add_help=False, **options)
        self._words = words
        self.add_argument("-h", "--help", action="help", help=words.say("help"))
        self._positionals.title = words.say("arguments")
        self._optionals.title = words.say("options")

    def format_usage(self) -> str:
        """Returns how the command is called."""
        return self._in_own_words(super().format_usage())

    def format_help(self) -> str:
        """Returns the whole help."""
        return self._in_own_words(super().format_help())

    def error(self, message: str) -> NoReturn:
        """Ends the process: an argument is missing or makes no sense."""
        text = _legible(self._words.say("bad_arguments", message=message))
        self.exit(UNREADABLE, f"{self.format_usage()}{self.prog}: {text}\n")

    def _in_own_words(self, text: str) -> str:
        return self._words.say("usage") + text.removeprefix("usage: ")


def _inspect(options: argparse.Namespace, words: Words) -> int:
    inspection = inspect_archive(
        options.source,
        out=options.out,
        lang=words.lang,
        options=InspectOptions(
            class_csv=options.class_csv,
            two_value_boxes=options.two_value_boxes,
            cache_dir=options.cache,
            workers=options.workers,
        ),
        progress=_progress(words, options.quiet),
    )
    if options.json:
        # Escapes where the terminal has no Hangul: the output stays valid JSON.
        plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
        json.dump(inspection.to_json(), sys.stdout, ensure_ascii=plain, indent=2)
        sys.stdout.write("\n")
    else:
        _write(describe(inspection, words))
    return CLEAN if inspection.clean else REJECTED


def _sample(options: argparse.Namespace, words: Words) -> int:
    is_number = re.fullmatch(r"[0-9]{1,9}", options.classes)
    classes = int(options.classes) if is_number else _parts(options.classes)
    spec = SampleSpec(
        classes=classes, per_class=options.per_class, seed=options.seed, faults=options.faults
    )
    report = write_sample(options.out, spec)
    _write(words.say("written", path=os.fspath(report.path)) + "\n")
    return CLEAN


def _preview(options: argparse.Namespace, words: Words) -> int:
    made = preview(
        options.source,
        _parts(options.classes),
        options.per_class,
        options.out,
        class_csv=options.class_csv,
        two_value_boxes=options.two_value_boxes,
    )
    for name, number in made.shown:
        _write(words.say("shown", name=name, number=number) + "\n")
    _write(words.say("written", path=made.path) + "\n")
    return CLEAN


def _train_check(options: argparse.Namespace, words: Words) -> int:
    # It loads TensorFlow, which the other commands' help shouldn't.
    from kfood_tfds.training_check import check_training, describe

    check = check_training(options.config, options.out, options.batches)
    _write(describe(check).rstrip("\n") + "\n")
    return CLEAN


def _parser(words: Words) -> argparse.ArgumentParser:
    say = words.say
    parser = _Parser(words=words, prog="kfood-tfds", description=say("about"))
    version = f"kfood-tfds {__version__}"
    parser.add_argument("--version", action="version", help=say("version"), version=version)
    language_option = argparse.ArgumentParser(add_help=False)
    language_option.add_argument("--lang", choices=LANGUAGES, help=say("lang"))
    archive_options = argparse.ArgumentParser(add_help=False)
    archive_options.add_argument("source", metavar="SOURCE", help=say("source"))
    archive_options.add_argument("--class-csv", metavar="CSV", help=say("class_csv"))
    archive_options.add_argument(
        "--two-value-boxes",
        choices=("image", "origin"),
        default="image",
        help=say("two_value_boxes"),
    )
    commands = parser.add_subparsers(
        title=say("commands"),
        metavar="COMMAND",
        required=True,
        # argparse calls it as it would a class.
        parser_class=cast(Any, functools.partial(_Parser, words=words)),
    )
    add = functools.partial(_add_command, commands, words)
    _add_inspect(add("inspect", _inspect, language_option, archive_options), words)
    _add_sample(add("sample", _sample, language_option), words)
    _add_preview(add("preview", _preview, language_option, archive_options), words)
    check = add("train-check", _train_check, language_option)
    check.add_argument("config", metavar="CONFIG", help=say("check_config"))
    check.add_argument("--out", default="train_check.png", metavar="PNG", help=say("preview_out"))
    check.add_argument(
        "--batches", type=_whole(words, 1), default=100, metavar="N", help=say("check_batches")
    )
    return parser


def _add_command(
    commands: Any,
    words: Words,
    name: str,
    run: Callable[[argparse.Namespace, Words], int],
    *parents: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    text = words.say(name)
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text, parents=parents, epilog=words.get(f"{name}_more", "")
    )
    command.set_defaults(run=run)
    return command


def _add_inspect(command: argparse.ArgumentParser, words: Words) -> None:
    command.add_argument("--out", metavar="DIR", help=words.say("out"))
    command.add_argument("--json", action="store_true", help=words.say("json"))
    command.add_argument("--cache", metavar="DIR", help=words.say("cache"))
    workers = _whole(words, 1, MAX_WORKERS)
    command.add_argument("--workers", type=workers, metavar="N", help=words.say("workers"))
    command.add_argument("--quiet", action="store_true", help=words.say("quiet"))


def _add_sample(command: argparse.ArgumentParser, words: Words) -> None:
    command.add_argument("out", metavar="OUT", help=words.say("sample_out"))
    command.add_argument("--classes", default="20", help=words.say("sample_classes"))
    number = _whole(words)  # Of its limits the specification tells.
    command.add_argument(
        "--per-class", type=number, default=60, metavar="N", help=words.say("sample_per_class")
    )
    command.add_argument("--seed", type=number, default=0, metavar="N", help=words.say("seed"))
    command.add_argument("--faults", action="store_true", help=words.say("faults"))


def _add_preview(command: argparse.ArgumentParser, words: Words) -> None:
    command.add_argument("--classes", required=True, help=words.say("preview_classes"))
    number = _whole(words, 1, MAX_COLUMNS)
    command.add_argument(
        "--per-class", type=number, default=5, metavar="N", help=words.say("preview_per_class")
    )
    command.add_argument(
        "--out", default="preview.png", metavar="PNG", help=words.say("preview_out")
    )


def _whole(words: Words, least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """Returns what parses a whole number within limits, and refuses another in one's language."""
    wanted = words.say("whole")
    if most is not None:
        wanted = words.say("whole_within", least=least, most=most)
    elif least is not None:
        wanted = words.say("whole_from", least=least)

    def parse(text: str) -> int:
        with contextlib.suppress(ValueError):
            number = int(text)
            if (least is None or least <= number) and (most is None or number <= most):
                return number
        raise argparse.ArgumentTypeError(f"{wanted} {words.say('received', value=repr(text))}")

    return parse


def _language(arguments: Sequence[str]) -> str:
    """Finds the language before the real parser is built, since its help is written in it."""
    early = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    early.add_argument("--lang", choices=LANGUAGES)
    try:
        return language(early.parse_known_args(arguments)[0].lang)
    except argparse.ArgumentError:
        return language()  # The real parser will say what is wrong with it.


def _progress(words: Words, quiet: bool) -> Callable[..., Any]:
    def bar(*args: Any, desc: str = "", **kwargs: Any) -> Any:
        return tqdm(*args, desc=words.get(desc, desc), disable=quiet, **kwargs)

    return bar


def _parts(text: str) -> tuple[str, ...]:
    """Parts names at the commas."""
    return tuple(part.strip() for part in _legible(text).split(",") if part.strip())


def _legible(text: str) -> str:
    """Returns a text without what Python makes of Hangul in arguments and paths under LANG=C."""
    with contextlib.suppress(UnicodeEncodeError):
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text


def _write(text: str) -> None:
    sys.stdout.write(_legible(text))


def _complain(text: str) -> None:
    with contextlib.suppress(OSError):  # There is no other place to say it.
        sys.stderr.write(_legible(text) + "\n")
        sys.stderr.flush()


@contextlib.contextmanager
def _streams() -> Iterator[None]:
    """Lets whatever is written be written: escaped where the terminal has no such letters."""
    with contextlib.ExitStack() as stack:
        if sys.stdout is None:  # Closed by the shell: `>&-`.
            nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(nowhere))
        if sys.stderr is None:
            nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stderr(nowhere))
        for stream in (sys.stdout, sys.stderr):
            _never_fail_to_write(stream)
        yield


def _never_fail_to_write(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)  # Not there on what tests put in its place.
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Sends what couldn't be written nowhere, where Python would fail at it again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        sys.stdout.flush()

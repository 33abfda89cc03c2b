"""Looks through an archive without building anything: numbers, manifest and report."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from etils import epath
from PIL import Image
from tqdm.auto import tqdm

from kfood_tfds import report, report_numbers, report_text
from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.classes import ClassTable, load_class_table
from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.images import ImageRejected, prepare_image
from kfood_tfds.raw.manifest import ManifestRow, write_manifest
from kfood_tfds.raw.manifest_maker import Manifest, ManifestOptions, make_manifest
from kfood_tfds.raw.messages import Message
from kfood_tfds.raw.survey_store import Survey, survey
from kfood_tfds.report_likeness import CutPair, cut_pairs, load_method
from kfood_tfds.report_parts import kind_name, reason_name
from kfood_tfds.words import Words

MANIFEST_NAME = "manifest.csv"
REPORT_NAME = "report.html"


@dataclass(frozen=True, slots=True)
class InspectOptions:
    """How to look at an archive.

    Attributes:
        class_csv: A class table of one's own; None is that of AI Hub's 150 classes.
        two_value_boxes: What a crop row ``w,h`` means: ``"image"`` is no box, ``"origin"`` a box
            at 0,0.
        cache_dir: Where the survey is kept, so that the next look takes seconds; None keeps none.
        workers: Number of threads; None is one per core.
    """

    class_csv: str | None = None
    two_value_boxes: str = "image"
    cache_dir: str | None = None
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found.

    Attributes:
        source: The archive's path.
        layout: In which form the archive is, such as ``"zip"`` or ``"folders"``.
        rows: The manifest.
        summary: Its numbers.
        cut_pairs: Look-alikes in different groups.
        problems: What is wrong with the archive as a whole, or was left alone beside it.
        written: Paths of the files written.
    """

    source: str
    layout: str
    rows: tuple[ManifestRow, ...]
    summary: report_numbers.Summary
    cut_pairs: tuple[CutPair, ...] = ()
    problems: tuple[Message, ...] = ()
    written: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether every image can be used; a part that can't be read counts as a bad file."""
        return not self.summary.rejected

    def to_json(self) -> dict[str, Any]:
        """Returns everything as plain JSON values."""
        return {
            "source": self.source,
            "layout": self.layout,
            "clean": self.clean,
            "problems": [str(problem) for problem in self.problems],
            **report_numbers.to_json(self.summary),
            "cut_pairs": [
                {
                    "ids": [row.id for row in pair.rows],
                    "similarity": pair.similarity,
                    "parted": pair.parted,
                }
                for pair in self.cut_pairs
            ],
            "written": list(self.written),
        }


@dataclass(frozen=True, slots=True)
class ArchivePictures:
    """Gives the pictures of a surveyed archive by id, upright and in RGB."""

    archive: Archive
    members: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, surveyed: Survey) -> ArchivePictures:
        """Takes the archive and the ids from a survey."""
        members = {file.id: file.member for file in surveyed.planned}
        return cls(surveyed.archive, members)

    def __call__(self, picture_id: str) -> Image.Image | None:
        """Returns the picture, or None where the file holds none that can be used."""
        try:
            content = self.archive.read(self.members[picture_id])
            return Image.fromarray(prepare_image(content).pixels)
        except (ArchiveError, ImageRejected):
            return None


def inspect_archive(
    source: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    lang: str | None = None,
    options: InspectOptions | None = None,
    progress: Callable[..., Any] = tqdm,
) -> Inspection:
    """Looks at every file of an archive; writes ``manifest.csv`` and ``report.html`` if asked to.

    Args:
        source: The archive in any layout, as for the build.
        out: Folder for the two files, made if it isn't there; None writes nothing.
        lang: Language of the report: ``"ko"``, ``"en"`` or None for the locale's.
        options: How to look; None for the defaults.
        progress: A progress bar with tqdm's signature.

    Raises:
        KfoodError: If the source or the class table can't be read, or holds no class.
    """
    options = InspectOptions() if options is None else options
    table = load_class_table(options.class_csv)
    with find_archive(source) as archive:
        surveyed = survey(
            archive,
            table,
            cache_dir=options.cache_dir,
            two_value_boxes=options.two_value_boxes,
            workers=options.workers,
            progress=progress,
        )
        usable = any(row.accepted for row in surveyed.rows)
        manifest = make_manifest(surveyed, table, ManifestOptions()) if usable else None
        found = sum_up(surveyed, manifest, table, readable(source))
        if out is None:
            return found
        written = write_files(out, found, surveyed, table, lang, progress)
        return replace(found, written=written)


def sum_up(surveyed: Survey, manifest: Manifest | None, table: ClassTable, name: str) -> Inspection:
    """Counts what a survey found and what a manifest made of it.

    Args:
        surveyed: The survey; its archive may not be closed yet.
        manifest: Made from the survey; None if no image can be used.
        table: The class table.
        name: What to call the archive.
    """
    archive = surveyed.archive
    rows = tuple(surveyed.rows) if manifest is None else manifest.rows
    summary = report_numbers.summarize(rows, table, listed=len(archive.members()))
    cuts = () if manifest is None else _cuts(surveyed, manifest)
    return Inspection(name, archive.layout, rows, summary, cuts, archive.problems)


def _cuts(surveyed: Survey, manifest: Manifest) -> tuple[CutPair, ...]:
    # Accepted by the survey: an edited manifest takes no image out of the grouping.
    pairs = zip(surveyed.rows, manifest.rows, strict=True)
    return cut_pairs(manifest.grouping, [row for seen, row in pairs if seen.accepted])


def write_files(
    folder: str | os.PathLike[str],
    found: Inspection,
    surveyed: Survey,
    table: ClassTable,
    lang: str | None = None,
    progress: Callable[..., Any] | None = None,
) -> tuple[str, ...]:
    """Writes ``manifest.csv`` and ``report.html``.

    Args:
        folder: Where to; made if it isn't there. Any path that ``etils.epath`` opens.
        found: What to write.
        surveyed: The survey it comes from, whose archive gives the pictures.
        table: The class table.
        lang: Language of the report: ``"ko"``, ``"en"`` or None for the locale's.
        progress: A progress bar with tqdm's signature; None for none.

    Returns:
        The paths of the two files.
    """
    target = epath.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    write_manifest(target / MANIFEST_NAME, found.rows)
    about = report.ReportSource(
        found.source,
        ArchivePictures.of(surveyed),
        notes=found.problems,
        cut_pairs=found.cut_pairs,
        method=load_method(),
    )
    report.write_report(
        target / REPORT_NAME, found.summary, table, about, lang=lang, progress=progress
    )
    return readable(target / MANIFEST_NAME), readable(target / REPORT_NAME)


def readable(path: str | os.PathLike[str]) -> str:
    """Returns a path as text that can be written as UTF-8, whatever bytes are in it."""
    return os.fsencode(path).decode("utf-8", "replace")


def describe(inspection: Inspection, words: Words) -> str:
    """Returns the numbers as lines for a terminal.

    Args:
        inspection: What was found.
        words: The language, with the texts of ``command_text``.
    """
    summary, say = inspection.summary, words.say
    names = Words(words.lang, report_text.TEXTS)
    known = [count for count in summary.classes if count.label is not None]
    lines = [
        say(
            "found",
            source=inspection.source,
            layout=words.get(f"layout_{inspection.layout}", inspection.layout),
            found=summary.found,
            accepted=summary.accepted,
            rejected=len(summary.rejected),
        ),
        say("classes", present=sum(count.found > 0 for count in known), number=len(known)),
        say("side_files", number=len(summary.side_files)),
    ]
    tallies = (
        ("rejected", "reason_", summary.reasons),
        ("splits", "split_", summary.splits),
        ("crops", "crop_", summary.crop_statuses),
        ("flags", "flag_", tuple((flag, len(rows)) for flag, rows in summary.flags)),
    )
    for heading, prefix, tally in tallies:
        if tally:
            lines.append(say(heading))
            lines += [
                say("line", number=number, name=_kind(names, prefix, kind))
                for kind, number in tally
            ]
    lines.append(say("groups", groups=len(summary.groups), conflicts=len(summary.conflicts)))
    if not summary.balanced:
        unmet = [names.say(f"check_{check.name}") for check in summary.checks if not check.holds]
        lines.append(say("unbalanced", names=", ".join(unmet)))
    lines += [
        say("problem", problem=problem.in_language(words.lang)) for problem in inspection.problems
    ]
    lines += [say("written", path=path) for path in inspection.written]
    return "\n".join(lines) + "\n"


def _kind(names: Words, prefix: str, kind: str) -> str:
    """Returns a kind's name: the manifest's own word, in Korean behind what it means."""
    if names.lang == "en" and kind:
        return kind
    name = reason_name(names, kind) if prefix == "reason_" else kind_name(names, prefix, kind)
    return name if name == kind or not kind else f"{name} ({kind})"

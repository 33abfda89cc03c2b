"""Speed, memory and disk of a build, beside the ceiling of the same machine.

    python benchmarks/build.py --work DIR --photos 3000

Draws an archive as AI Hub's download lies (kept in DIR), then measures in turns: reading and
decoding every image once by TensorFlow on all cores (the ceiling), and a whole build through TFDS,
survey included. Each run is a process of its own. The figures are medians of all rounds that DIR
has seen, so that `--rounds 1` can be repeated until there are enough.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from build_data import draw_zip

ARCHIVE_IMAGES = 150_507
ROUNDS = 3
WANTED_RATIO = 0.6
_POLL_SECONDS = 0.5


def read_and_decode(manual: Path) -> int:
    """Reads every image of the archive and decodes it, on all cores; returns how many."""
    import tensorflow as tf

    from kfood_tfds.raw.archive import find_archive
    from kfood_tfds.raw.parallel import map_in_order

    archive = find_archive(manual)
    members = [member for member in archive.members() if member.kind == "image"]

    def decode(read: tuple[object, object]) -> int:
        return int(tf.io.decode_jpeg(read[1], channels=3).shape[0] > 0)

    return sum(map_in_order(decode, archive.iterate(members)))


def build(manual: Path, data_dir: Path, config: str) -> int:
    """Builds a configuration; returns the number of its examples."""
    import tensorflow_datasets as tfds

    import kfood_tfds

    tfds.disable_progress_bar()
    builder = kfood_tfds.Builder(config=config, data_dir=data_dir)
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(manual_dir=str(manual))
    )
    return sum(split.num_examples for split in builder.info.splits.values())


def run_role(role: str, manual: Path, data_dir: Path, config: str) -> dict[str, float]:
    """Does one measurement in this process."""
    import tensorflow as tf

    importlib.import_module("tensorflow_datasets")  # Before the clock starts.

    tf.io.decode_jpeg(tf.io.encode_jpeg(tf.zeros((64, 64, 3), tf.uint8))).numpy()
    loaded = _peak_megabytes()
    start, cpu = time.perf_counter(), time.process_time()
    images = read_and_decode(manual) if role == "ceiling" else build(manual, data_dir, config)
    return {
        "images": images,
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "memory": _peak_megabytes(),
        "memory_added": _peak_megabytes() - loaded,
    }


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


def disk_bytes(folder: Path) -> int:
    """Returns what the files below a folder take; files that vanish meanwhile count nothing."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size
            except FileNotFoundError:
                continue
    return total


def watched(folder: Path, work: Callable[[], Any]) -> tuple[Any, int]:
    """Returns what `work` gives, and the most bytes that a folder took meanwhile."""
    done, most = threading.Event(), [0]

    def watch() -> None:
        while not done.wait(_POLL_SECONDS):
            most[0] = max(most[0], disk_bytes(folder))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return work(), most[0]
    finally:
        done.set()
        watcher.join()


def measure(role: str, manual: Path, work: Path, config: str) -> dict[str, float]:
    """Runs one role in a process of its own; a build into an empty folder."""
    data_dir = work / "data"
    shutil.rmtree(data_dir, ignore_errors=True)
    command = [sys.executable, __file__, "--role", role, "--manual", str(manual)]
    command += ["--work", str(data_dir), "--config", config]

    def run() -> str:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        return done.stdout.splitlines()[-1]

    line, most = watched(data_dir, run)
    result: dict[str, float] = json.loads(line)
    result["disk"] = disk_bytes(data_dir)
    result["temporary"] = max(0, most - disk_bytes(data_dir))
    shutil.rmtree(data_dir, ignore_errors=True)
    return result


def table(rounds: list[dict[str, dict[str, float]]], archive_bytes: int) -> str:
    """Returns the figures as Markdown, with what they mean for the real archive."""

    def median(role: str, name: str) -> float:
        return statistics.median(one[role][name] for one in rounds)

    images = median("build", "images")
    factor = ARCHIVE_IMAGES / images
    ratios = [one["ceiling"]["seconds"] / one["build"]["seconds"] for one in rounds]
    ratio = statistics.median(ratios)
    lines = [
        f"{images:,.0f} images of {archive_bytes / images / 1e3:.0f} KB; {len(rounds)} rounds; "
        f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f}",
        "",
        "| run | images/s | s | CPU ms/image | peak memory, MB | disk, GB | temporary disk, GB |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    for role in ("ceiling", "build"):
        seconds = median(role, "seconds")
        lines.append(
            f"| {role} | {images / seconds:.0f} | {seconds:.0f} "
            f"| {1000 * median(role, 'cpu') / images:.2f} | {median(role, 'memory'):.0f} "
            f"| {median(role, 'disk') / 1e9:.2f} | {median(role, 'temporary') / 1e9:.2f} |"
        )
    lines += [
        "",
        f"Build to ceiling: {ratio:.2f} (wanted {WANTED_RATIO}; "
        f"rounds {', '.join(f'{one:.2f}' for one in ratios)})",
        f"For {ARCHIVE_IMAGES:,} such images: {median('build', 'seconds') * factor / 60:.0f} min, "
        f"{median('build', 'disk') * factor / 1e9:.1f} GB, "
        f"{median('build', 'temporary') * factor / 1e9:.1f} GB more while it runs",
    ]
    return "\n".join(lines)


def main() -> None:
    """Draws, measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="keeps the archive and the rounds")
    parser.add_argument("--photos", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--config", default="full")
    parser.add_argument("--role", choices=["ceiling", "build"], help=argparse.SUPPRESS)
    parser.add_argument("--manual", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.role:
        print(json.dumps(run_role(args.role, args.manual, args.work, args.config)))
        return
    manual = draw_zip(args.work, args.photos)
    kept = args.work / f"rounds-{args.photos}-{args.config}.json"
    rounds = json.loads(kept.read_text()) if kept.exists() else []
    for _ in range(args.rounds):
        rounds.append(
            {role: measure(role, manual, args.work, args.config) for role in ("ceiling", "build")}
        )
        kept.write_text(json.dumps(rounds, indent=1))
    print(table(rounds, (manual / "kfood.zip").stat().st_size))


if __name__ == "__main__":
    main()

"""Speed and memory of the survey, beside plain decoding of the same files by TensorFlow.

    python benchmarks/survey.py --photos 3000

Draws an archive of photo-like JPEGs, then measures in turns, three rounds, medians: reading and
decoding every file by TensorFlow on all cores, and the survey. Each run is a process of its own,
so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import tensorflow as tf
from throughput_data import draw_archive, read_classes
from tqdm.auto import tqdm

from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.raw.parallel import map_in_order
from kfood_tfds.raw.survey_store import survey

ROUNDS = 3
CLASSES_CSV = Path(__file__).parents[1] / "kfood_tfds" / "raw" / "classes.csv"


def decode_all(archive: Archive) -> int:
    """Reads every image of the archive and decodes it, on all cores; returns how many."""
    members = [m for m in archive.members() if m.kind == "image"]

    def decode(read: tuple[object, object]) -> int:
        return int(tf.io.decode_jpeg(read[1], channels=3).shape[0] > 0)

    return sum(map_in_order(decode, archive.iterate(members)))


def survey_all(archive: Archive) -> int:
    """Surveys the archive; returns how many images were accepted."""
    found = survey(archive, load_class_table(), progress=functools.partial(tqdm, disable=True))
    return sum(row.accepted for row in found.rows)


def peak_megabytes() -> float:
    """Returns the process's peak memory so far, in MB of 1e6 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


def run_role(role: str, folder: Path) -> dict[str, float]:
    """Does one measurement in this process."""
    tf.io.decode_jpeg(tf.io.encode_jpeg(tf.zeros((64, 64, 3), tf.uint8))).numpy()
    loaded = peak_megabytes()
    archive = find_archive(folder)
    start = time.perf_counter()
    images = decode_all(archive) if role == "decode" else survey_all(archive)
    seconds = time.perf_counter() - start
    return {"images": images, "seconds": seconds, "memory": peak_megabytes() - loaded}


def measure(role: str, folder: Path) -> dict[str, float]:
    """Runs one role in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--role", role, "--folder", str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Draws, measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--role", choices=["decode", "survey"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help="an archive to use in place of a drawn one")
    args = parser.parse_args()
    if args.role:
        print(json.dumps(run_role(args.role, args.folder)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.folder or Path(scratch)
        if not args.folder:
            draw_archive(folder, read_classes(CLASSES_CSV), args.photos, box_share=0.3)
        runs: dict[str, list[dict[str, float]]] = {"decode": [], "survey": []}
        for _ in range(args.rounds):
            for role, results in runs.items():
                results.append(measure(role, folder))
    print(f"{os.cpu_count()} cores, {platform.machine()}, TensorFlow {tf.__version__}")
    print("| run | images | images/s | memory beyond TensorFlow, MB |")
    print("| --- | --- | --- | --- |")
    rates = {}
    for role, results in runs.items():
        rates[role] = statistics.median(r["images"] / r["seconds"] for r in results)
        memory = statistics.median(r["memory"] for r in results)
        print(f"| {role} | {results[0]['images']:.0f} | {rates[role]:.0f} | {memory:.0f} |")
    print(f"Survey to decoding: {rates['survey'] / rates['decode']:.2f}")


if __name__ == "__main__":
    main()

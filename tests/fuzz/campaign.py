"""The loop that all fuzzers share: mutate for a while, keep what goes wrong."""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """One thing to try.

    Attributes:
        data: What is written down if it is a finding.
        fault_of: Tries it; gives what is wrong, or nothing.
        name: What it is, for the report.
    """

    data: bytes
    fault_of: Callable[[], str]
    name: str


def run(make: Callable[[random.Random], Mutant], seconds: float, seed: int, folder: Path) -> int:
    """Tries mutants for a while; gives the number of findings."""
    found = runs = 0
    seen: set[str] = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        mutant = make(random.Random(f"{seed} {runs}"))
        try:
            fault = mutant.fault_of()
        except Exception:
            fault = "raised:\n" + traceback.format_exc()
        key = fault.splitlines()[-1][:40] if fault else ""
        if fault and key not in seen:
            seen.add(key)
            found += 1
            folder.mkdir(parents=True, exist_ok=True)
            place = folder / f"{mutant.name.replace('/', '_')}_{seed}_{runs}"
            place.with_suffix(".bin").write_bytes(mutant.data)
            place.with_suffix(".txt").write_text(fault, encoding="utf-8")
            sys.stdout.write(f"run {runs}, {mutant.name}: {fault}\n")
        runs += 1
    sys.stdout.write(f"{runs} runs with seed {seed}, {found} findings in {folder}\n")
    return found


def main(description: str, make: Callable[[random.Random], Mutant]) -> None:
    """Parses the command line and runs; the exit code is the number of findings, at most 100."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("fuzz_findings"))
    arguments = parser.parse_args()
    sys.exit(min(100, run(make, arguments.seconds, arguments.seed, arguments.out)))

"""Beam's transforms of one element at a time, with nothing taken from our annotations.

Beam picks coders by a function's annotations, or else by what its code seems to return, each as far
as a release can read them. The coder for ``int`` has 64 bits with a sign: too few for a hash. Told
nothing, it goes by the values themselves, and that always fits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apache_beam as beam
from apache_beam.typehints.decorators import no_annotations


def map_each(function: Callable[..., Any], *args: Any) -> Any:
    """Returns the transform of each element to function(element, *args)."""
    return beam.Map(no_annotations(function), *args).with_output_types(Any)


def flat_map_each(function: Callable[..., Any], *args: Any) -> Any:
    """Returns the transform of each element to all that function(element, *args) gives."""
    return beam.FlatMap(no_annotations(function), *args).with_output_types(Any)

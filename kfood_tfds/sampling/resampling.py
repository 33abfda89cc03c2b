"""Balances a stream: examples are repeated or dropped at their class's rate before any is decoded.

Each example is given whole copies and, by a coin, one more. The coin is keyed by (seed, epoch,
id), so it falls the same on every machine and whatever the order; each epoch tosses anew, so that
what is dropped in one epoch comes in another.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kfood_tfds.sampling import draws
from kfood_tfds.sampling.categories import default_categories
from kfood_tfds.sampling.class_balance import Counts, as_counts, checked_labels, class_counts

BALANCED = "balanced"
BALANCED_CATEGORIES = "balanced_categories"
COPY_MARK = "#"

Rates = NDArray[np.float64]

# Hashes below 2^53 are exact in float64.
_HASH_BUCKETS = 2**53
_CHUNK = 64


def balanced_rates(
    counts: ArrayLike, categories: ArrayLike | None = None, length: int | None = None
) -> Rates:
    """Returns the rate per class that makes all classes equally frequent.

    Args:
        counts: Number of examples of each class, int[classes].
        categories: Category of each class, int[classes]. Then the categories come out equally
            frequent, and within each its classes.
        length: Expected number of examples after resampling; by default as many as before.

    Returns:
        float64[classes]: how often each example of the class comes on average; 0 for classes
        without examples.

    Raises:
        ValueError: If the counts are invalid or the categories don't fit them.
    """
    numbers = as_counts(counts)
    total = int(numbers.sum()) if length is None else draws.check_count("length", length, 1)
    present = numbers > 0
    shares = np.where(present, 1.0, 0.0)
    if categories is not None:
        groups = np.asarray(categories)
        if groups.shape != numbers.shape or groups.dtype.kind not in "iu" or groups.min() < 0:
            raise ValueError(
                "categories must name each class's category by a whole number from 0 on. Received: "
                f"{groups.dtype}{list(groups.shape)} for {len(numbers)} classes"
            )
        shares[present] /= np.bincount(groups[present])[groups[present]]
    shares /= shares.sum()
    rates = np.zeros(len(numbers))
    rates[present] = shares[present] * total / numbers[present]
    return rates


def expected_length(counts: ArrayLike, rates: ArrayLike) -> float:
    """Returns the mean number of examples after resampling: the sum of count times rate.

    Raises:
        ValueError: If either is invalid, or a class with examples has no rate.
    """
    numbers, table = as_counts(counts), _checked_rates(rates)
    if numbers[len(table) :].any():
        raise ValueError(
            "Each class that has examples must have a rate. "
            f"Received: {len(table)} rates, examples of label {int(np.flatnonzero(numbers)[-1])}"
        )
    both = min(len(numbers), len(table))
    return float(np.dot(numbers[:both], table[:both]))


def copies(ids: Any, labels: Any, rates: ArrayLike, seed: int = 0, epoch: Any = 0) -> Any:
    """Returns how often each example comes in an epoch.

    Args:
        ids: Strings, a tensor or a list, of any shape.
        labels: Integers of the same shape.
        rates: Rate of each label, float[classes].
        seed: Seed of the run, from 0 on.
        epoch: Number of the epoch; int or scalar tensor.

    Returns:
        int64 tensor of that shape: the rate's whole part, and one more with the probability of the
        rest.

    Raises:
        tf.errors.InvalidArgumentError: If a label has no rate.
    """
    return _copies(ids, labels, rates, seed, epoch, "")


def _copies(
    ids: Any, labels: Any, rates: ArrayLike, seed: int, epoch: Any, pass_key: Any, coins: Any = True
) -> Any:
    """Returns ``copies`` of a pass over the data; without coins the rates are rounded up."""
    import tensorflow as tf

    table = _checked_rates(rates)
    rate = tf.gather(tf.constant(table, tf.float64), checked_labels(labels, len(table), "rate"))
    key = tf.strings.join([f"resample/{seed}/", tf.strings.as_string(epoch), "/", pass_key])
    # FarmHash of the bytes is the same on every machine.
    hashed = tf.strings.to_hash_bucket_fast(tf.strings.join([key, ids]), _HASH_BUCKETS)
    coin = tf.where(coins, tf.cast(hashed, tf.float64) / _HASH_BUCKETS, -1.0)
    whole = tf.floor(rate)
    more = (rate > whole) & (coin < rate - whole)
    return tf.cast(whole, tf.int64) + tf.cast(more, tf.int64)


def exact_length(ids: Any, labels: Any, rates: ArrayLike, seed: int = 0, epoch: int = 0) -> int:
    """Returns the exact number of examples of one pass over a split without a fixed length.

    Args:
        ids: The ids of all its examples, from the manifest or a source's ``column("id")``.
        labels: Their labels.
        rates: Rate of each label.
        seed: Seed of the run.
        epoch: Number of the epoch.

    Raises:
        tf.errors.InvalidArgumentError: If a label has no rate.
    """
    return int(np.sum(copies(list(ids), np.asarray(labels), rates, seed, epoch).numpy()))


def resample(
    ds: Any,
    rates: str | Mapping[int, float] | ArrayLike,
    seed: int = 0,
    *,
    counts: Any = None,
    split: str | None = None,
    length: int | None = None,
    categories: ArrayLike | None = None,
    epoch: int = 0,
) -> Any:
    """Repeats and drops examples by the rate of their class, in one pass and before any is decoded.

    Where the class counts are known, every epoch has the same number of examples, the expected
    one: a pass in which the coins give more is cut, one that gives less goes on at the beginning,
    with coins of its own.
    ``at_epoch`` of the data set, for ``Pipeline.batches``, gives it with the coins of any epoch;
    other maps lose it, so resample last. Further copies of an example have ``#2``, ``#3`` and so
    on behind their id, so that random ops, keyed by the id, treat them differently.

    Args:
        ds: Example dicts with ``id`` and ``label``, not batched; best with images encoded.
        rates: How often each example of a class comes on average, by label; or ``"balanced"`` for
            equally frequent classes; or ``"balanced_categories"`` for equally frequent categories,
            and within them classes.
        seed: Keys the coins, from 0 on.
        counts: The ``DatasetInfo`` with ``split``, or int[classes]. Where the counts are needed
            and not given, the data set is read once to count.
        split: Name of the split, where ``counts`` is an info.
        length: Examples of an epoch; the balanced rates are made for it. By default as many as the
            data set has, or as the rates give.
        categories: Category of each class for ``"balanced_categories"``, int[classes]; by default
            as AI Hub's table has it, where ``counts`` is an info with its classes, or as the
            examples have it, which are read once for that.
        epoch: Number of the epoch.

    Raises:
        ValueError: If the data set is batched, supervised, or lacks a feature, or an argument is
            invalid.
        tf.errors.InvalidArgumentError: While reading, if a label has no rate, or the data set has
            fewer examples than the counts say, so that an epoch can't be filled.
    """
    _check_elements(ds)
    draws.check_count("seed", seed)
    if hasattr(ds, "unread"):
        more = {"counts": counts, "split": split, "length": length, "categories": categories}
        places = resample(ds.unread.places, rates, seed, epoch=epoch, **more)
        return ds.unread.with_places(places).dataset()
    if counts is None and isinstance(rates, str):
        counts = class_counts(ds)
    known = None if counts is None else as_counts(counts, split)
    by_category = isinstance(rates, str) and rates == BALANCED_CATEGORIES
    if by_category and categories is None and known is not None:
        categories = default_categories(ds, counts, len(known))
    table = _rate_table(rates, known, length, categories)
    stream = _Stream(ds, tuple(table.tolist()), seed, _extent(table, known, length))
    result = stream.at_epoch(epoch)
    result.at_epoch = stream.at_epoch
    return result


@dataclasses.dataclass(frozen=True)
class _Extent:
    """How long an epoch of fixed length is, and how many passes over the data fill it.

    Attributes:
        length: Examples of an epoch.
        tossed: Passes with coins, so many that they fall short about once in a million epochs.
        filled: Passes after them that take every example, so that an epoch is always full.
    """

    length: int
    tossed: int
    filled: int


@dataclasses.dataclass(frozen=True)
class _Stream:
    """What one epoch's data set is made of."""

    ds: Any
    rates: tuple[float, ...]
    seed: int
    extent: _Extent | None

    def at_epoch(self, epoch: Any) -> Any:
        """Returns the data set with the coins of an epoch; the number may be a tensor."""
        import tensorflow as tf

        if self.extent is None:
            return self._pass(epoch, 0)
        length = self.extent.length
        # One number more, at which it shows that the counts are not those of the data.
        passes = tf.data.Dataset.range(self.extent.tossed + self.extent.filled + 1)
        filled = passes.flat_map(lambda number: self._later_pass(epoch, number)).take(length)
        return filled.apply(tf.data.experimental.assert_cardinality(length))

    def _later_pass(self, epoch: Any, number: Any) -> Any:
        import tensorflow as tf

        if self.extent is None:
            return self._pass(epoch, number)
        rule = (
            f"An epoch of {self.extent.length} examples cannot be filled: the data set has fewer "
            "examples, or other classes, than the counts say. Give the counts of just these "
            "examples, of the part of the split that is read, or none. Received: passes over the "
            "data, all of them too short"
        )
        passes = self.extent.tossed + self.extent.filled
        with tf.control_dependencies([tf.debugging.Assert(number < passes, [rule, number])]):
            return self._pass(epoch, tf.identity(number))

    def _pass(self, epoch: Any, number: Any) -> Any:
        import tensorflow as tf

        coins = self.extent is None or number < self.extent.tossed
        # The first pass has the coins of a stream without a fixed length.
        later = tf.strings.join(["pass ", tf.strings.as_string(number), "/"])
        pass_key = tf.where(tf.equal(number, 0), "", later)

        def spread(examples: dict[str, Any]) -> dict[str, Any]:
            labels = tf.cast(examples["label"], tf.int64)
            named = examples["id"], labels
            times = _copies(*named, self.rates, self.seed, epoch, pass_key, coins)
            rows = tf.repeat(tf.range(tf.size(times, tf.int64)), times)
            first = tf.repeat(tf.cumsum(times, exclusive=True), times)
            place = tf.range(tf.size(rows, tf.int64)) - first + tf.cast(number, tf.int64) * most
            result = tf.nest.map_structure(lambda feature: tf.gather(feature, rows), examples)
            return {**result, "id": marked_ids(result["id"], place)}

        most = math.floor(max(self.rates)) + 1
        sizes = tf.nest.map_structure(
            lambda spec: spec.shape.is_fully_defined(), self.ds.element_spec
        )
        # Encoded examples are handled many at a time; decoded images differ in size and can't be.
        together = _CHUNK if all(tf.nest.flatten(sizes)) else 1
        return self.ds.batch(together).map(spread).unbatch()


def marked_ids(ids: Any, places: Any) -> Any:
    """Returns ids that tell the copies of an example apart: ``#2`` behind that of the second.

    Args:
        ids: String tensor.
        places: Integer tensor of the same shape, 0 for the first copy.
    """
    import tensorflow as tf

    later = tf.strings.join([ids, COPY_MARK, tf.strings.as_string(places + 1)])
    return tf.where(places == 0, ids, later)


def _extent(rates: Rates, counts: Counts | None, length: int | None) -> _Extent | None:
    """Returns the extent of an epoch; None where its length follows from the coins alone."""
    if counts is None:
        if length is not None:
            raise ValueError(
                "An epoch of fixed length takes the class counts; give them, or an info and its "
                f"split, as counts. Received: length={length}, counts=None"
            )
        return None
    expected, present = expected_length(counts, rates), np.flatnonzero(counts)
    chosen = round(expected) if length is None else draws.check_count("length", length, 1)
    if expected <= 0 or chosen < 1:
        raise ValueError(
            "These rates drop every example; raise that of a class that has any, or give a length. "
            f"Received: rates={rates[present][:5].tolist()} for the first classes with examples"
        )
    # Sums of coins spread less than a Poisson variable of their mean: this is six deviations off.
    mean = chosen + 6 * math.sqrt(chosen) + 10
    kept = int(counts[present][rates[present] > 0].sum())
    return _Extent(chosen, math.ceil(mean / expected), math.ceil(chosen / kept))


def _rate_table(
    rates: str | Mapping[int, float] | ArrayLike,
    counts: Counts | None,
    length: int | None,
    categories: ArrayLike | None,
) -> Rates:
    if not isinstance(rates, str):
        return _checked_rates(rates)
    if rates not in (BALANCED, BALANCED_CATEGORIES) or counts is None:
        raise ValueError(
            f"rates must be a rate for each label, {BALANCED!r} or {BALANCED_CATEGORIES!r}. "
            f"Received: rates={rates!r}"
        )
    return balanced_rates(counts, None if rates == BALANCED else categories, length)


def _checked_rates(rates: Mapping[int, float] | ArrayLike) -> Rates:
    if isinstance(rates, Mapping):
        if sorted(rates) != list(range(len(rates))):
            raise ValueError(
                "rates must have an entry for each label from 0 on. "
                f"Received: rates for {sorted(rates)[:5]}"
            )
        rates = [rates[label] for label in range(len(rates))]
    array = np.asarray(rates, dtype=np.float64)
    valid = array.ndim == 1 and array.size and np.all(np.isfinite(array)) and np.all(array >= 0)
    if not valid or not array.any():
        raise ValueError(
            "rates must be finite numbers from 0 on, one of them above 0. "
            f"Received: rates={array.ravel()[:5].tolist()}"
        )
    return array


def _check_elements(ds: Any) -> None:
    spec = ds.element_spec
    if not isinstance(spec, Mapping) or not {"id", "label"} <= set(spec):
        raise ValueError(
            "resample works on example dicts with the features id and label; load the data set "
            f"without as_supervised=True and leave them in. Received: elements {spec}"
        )
    if spec["label"].shape.rank != 0:
        raise ValueError(
            "resample works on single examples with integer labels, so call it before batches(). "
            f"Received: labels of shape {spec['label'].shape}"
        )

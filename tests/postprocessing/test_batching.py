"""Batches: order, epochs, resumption, workers; every example where it belongs."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing import batching

NUMBER = 23
PLAIN = pp.Pipeline((pp.RandomSquare(), pp.Resize(8)))
FULL = pp.train_pipeline(16, "resized", augment=(pp.ColorJitter(0.3, 0.3, 0.3, 0.1), pp.MixUp()))

CONTENT = """
import hashlib, sys
from kfood_tfds import postprocessing as pp
pipeline = pp.train_pipeline(16, "resized", augment=(pp.ColorJitter(0.3), pp.MixUp()))
digest = hashlib.sha256()
batches = pipeline.batches(pp.fake_examples(23), 5, seed=3, epochs=2, num_parallel_calls=3)
for images, labels in batches:
    digest.update(images.numpy().tobytes() + labels.numpy().tobytes())
print(digest.hexdigest())
"""


@pytest.fixture(name="ds", scope="module")
def _ds() -> Any:
    return pp.fake_examples(NUMBER, sides=(16, 40))


def ids(batches: Any) -> list[list[str]]:
    return [[name.decode() for name in batch[-1].numpy()] for batch in batches]


def flat(lists: Any) -> list[Any]:
    return list(itertools.chain.from_iterable(lists))


def arrays(batches: Any) -> list[np.ndarray]:
    return [batch[0].numpy() for batch in batches]


def same(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    return len(first) == len(second) and all(map(np.array_equal, first, second))


@pytest.mark.parametrize("batch_size", [1, 5, 23, 40])
@pytest.mark.parametrize("shuffle", [True, False])
def test_every_example_once_an_epoch(ds: Any, batch_size: int, shuffle: bool) -> None:
    batches = PLAIN.batches(ds, batch_size, shuffle=shuffle, with_ids=True)
    expected = [example["id"].numpy().decode() for example in ds]
    for _ in range(2):
        found = ids(batches)
        assert len(found) == int(batches.cardinality()) == -(-NUMBER // batch_size)
        assert all(len(batch) == batch_size for batch in found[:-1])
        names = flat(found)
        assert sorted(names) == sorted(expected)
        assert (names == expected) == (not shuffle)


def test_dropped_remainder_has_static_shapes(ds: Any) -> None:
    batches = PLAIN.batches(ds, 5, drop_remainder=True, epochs=3, with_ids=True)
    assert batches.element_spec[0].shape == (5, 8, 8, 3)
    assert int(batches.cardinality()) == 12
    found = ids(batches)
    assert [len(batch) for batch in found] == [5] * 12
    for epoch in range(3):
        assert len(set(flat(found[epoch * 4 : epoch * 4 + 4]))) == 20


def test_even_batches_have_static_shapes() -> None:
    batches = PLAIN.batches(pp.fake_examples(6), 3)
    assert batches.element_spec[0].shape == (3, 8, 8, 3)
    assert PLAIN.batches(pp.fake_examples(7), 3).element_spec[0].shape == (None, 8, 8, 3)


@pytest.mark.slow
def test_the_rest_of_an_epoch_has_static_shapes_without_a_remainder(ds: Any) -> None:
    pipeline, total = pp.train_pipeline(16), len(ds)
    size = next(size for size in (3, 4, 5) if (total - 1) // size)
    rest = pipeline.batches(ds, size, start_example=1, drop_remainder=True, epochs=1)
    assert rest.element_spec[0].shape == (size, 16, 16, 3)
    assert {len(images) for images, _ in rest} == {size}
    whole = pipeline.batches(ds, size, start_example=1, epochs=1)
    assert whole.element_spec[0].shape == (None, 16, 16, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda image: tf.image.rgb_to_grayscale(image), r"uint8 and shape \(None, None, 1\)"),
        (lambda image: tf.cast(image, tf.uint16), "uint16"),
        (lambda image: tf.cast(image, tf.float32), "float32"),
    ],
)
def test_images_not_as_decoded_are_refused(change: Any, message: str) -> None:
    ds = pp.fake_examples(3, encoded=False, sides=(16, 24))
    other = ds.map(lambda example: example | {"image": change(example["image"])})
    with pytest.raises(ValueError, match=f"decoded as uint8.*Received: .*{message}"):
        pp.eval_pipeline(8).batches(other, 2)


def test_order_changes_with_epoch_and_seed(ds: Any) -> None:
    orders = {
        tuple(ids(PLAIN.batches(ds, 23, seed=seed, epochs=2, with_ids=True))[epoch])
        for seed in (0, 1, 2)
        for epoch in (0, 1)
    }
    assert len(orders) == 6


def test_order_does_not_depend_on_the_global_seed(ds: Any) -> None:
    results = []
    for seed in (1, 2):
        tf.random.set_seed(seed)
        results.append(ids(PLAIN.batches(ds, 5, with_ids=True)))
    assert results[0] == results[1]


@pytest.mark.slow
def test_iterations_are_the_epochs_of_one_long_data_set(ds: Any) -> None:
    long = arrays(FULL.batches(ds, 5, epochs=3))
    batches = FULL.batches(ds, 5)
    assert same(flat(arrays(batches) for _ in range(3)), long)
    assert int(FULL.batches(ds, 5, epochs=3).cardinality()) == len(long) == 15


def test_epochs_differ_in_order_and_pixels(ds: Any) -> None:
    batches = PLAIN.batches(ds, 1, with_ids=True)
    epochs = [{batch[1].numpy()[0]: batch[0].numpy() for batch in batches} for _ in range(2)]
    changed = sum(not np.array_equal(epochs[0][name], epochs[1][name]) for name in epochs[0])
    assert changed > NUMBER // 2


def test_a_broken_off_iteration_begins_again(ds: Any) -> None:
    batches, expected = PLAIN.batches(ds, 5), arrays(PLAIN.batches(ds, 5, epochs=2))
    for taken in (1, 4):
        assert same(arrays(batches.take(taken)), expected[:taken])
    assert same(arrays(batches), expected[:5])
    assert same(arrays(batches), expected[5:])


@pytest.mark.slow
@pytest.mark.parametrize("calls", [1, 8])
def test_parallelism_changes_nothing(ds: Any, calls: int) -> None:
    expected = arrays(FULL.batches(ds, 5, epochs=2))
    assert same(arrays(FULL.batches(ds, 5, epochs=2, num_parallel_calls=calls)), expected)


@pytest.mark.slow
def test_two_processes_give_the_same_pixels() -> None:
    def run(hash_seed: str) -> str:
        env = {
            "PYTHONHASHSEED": hash_seed,
            "PYTHONPATH": ":".join(sys.path),
            "CUDA_VISIBLE_DEVICES": "-1",
        }
        command = [sys.executable, "-c", CONTENT]
        return subprocess.run(command, env=env, capture_output=True, check=True).stdout.decode()

    first = run("1")
    assert len(first.strip()) == 64
    assert first == run("2")


def test_pixels_do_not_depend_on_order(ds: Any) -> None:
    def by_id(source: Any, shuffle: bool) -> dict[bytes, bytes]:
        batches = PLAIN.batches(source, 4, shuffle=shuffle, with_ids=True)
        return {
            name: image.tobytes()
            for images, _, names in batches
            for name, image in zip(names.numpy(), images.numpy(), strict=True)
        }

    expected = by_id(ds, False)
    assert by_id(ds, True) == expected
    assert by_id(ds.take(11).concatenate(ds.skip(11)), True) == expected


@pytest.mark.slow
def test_decoded_and_encoded_examples_give_the_same(ds: Any) -> None:
    pixels = pp.fake_examples(NUMBER, encoded=False, sides=(16, 40))
    assert same(arrays(FULL.batches(ds, 5)), arrays(FULL.batches(pixels, 5)))


@pytest.mark.parametrize("start", [1, 4, 5, 7, 14])
def test_resuming_goes_on_as_if_never_stopped(ds: Any, start: int) -> None:
    expected = arrays(PLAIN.batches(ds, 5, epochs=3))
    resumed = PLAIN.batches(ds, 5, epochs=3, start_step=start)
    assert int(resumed.cardinality()) == 15 - start
    assert same(arrays(resumed), expected[start:])


def test_resuming_iterations(ds: Any) -> None:
    expected = arrays(PLAIN.batches(ds, 5, epochs=4))
    resumed = PLAIN.batches(ds, 5, start_step=7)
    assert int(resumed.cardinality()) == 5
    assert same(arrays(resumed), expected[7:12])
    assert same(arrays(resumed), expected[12:17])


@pytest.mark.slow
def test_resuming_without_chance(ds: Any) -> None:
    pipeline = pp.eval_pipeline(8)
    expected = arrays(pipeline.batches(ds, 5))
    assert same(arrays(pipeline.batches(ds, 5, start_step=5)), expected)
    assert same(arrays(pipeline.batches(ds, 5, epochs=2, start_step=3)), expected[3:] + expected)


def test_skipped_examples_are_not_decoded() -> None:
    broken = pp.fake_examples(8).map(
        lambda example: example | {"image": tf.constant(b"\xff\xd8 no image")}
    )
    ds = broken.concatenate(pp.fake_examples(8))
    pipeline = pp.eval_pipeline(8)
    assert len(arrays(pipeline.batches(ds, 4, epochs=1, start_step=2))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        arrays(pipeline.batches(ds, 4))


@pytest.mark.slow
def test_a_hundred_thousand_shuffled_records_are_skipped_undecoded() -> None:
    one = next(iter(pp.fake_examples(1, sides=(100, 100))))
    ds = tf.data.Dataset.range(100_100).map(
        lambda index: {**one, "id": tf.strings.as_string(index)}
    )
    pipeline = pp.train_pipeline(8)
    (batch,) = ids(pipeline.batches(ds, 100, epochs=1, start_step=1000, with_ids=True))
    # As long as the image, because the shuffle buffer is measured in bytes.
    no_image = bytes(len(one["image"].numpy()))
    broken = ds.map(
        lambda example: (
            example
            | {
                "image": tf.where(
                    tf.reduce_any(example["id"] == tf.constant(batch)), one["image"], no_image
                )
            }
        )
    )
    assert ids(pipeline.batches(broken, 100, epochs=1, start_step=1000, with_ids=True)) == [batch]
    whole = pipeline.batches(ds, 100, epochs=2, start_step=1000, with_ids=True)
    assert ids(whole.take(1)) == [batch]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("batch_size", [2, 5, 8])
@pytest.mark.parametrize("number", [21, 23, 24])
def test_workers_share_the_examples(workers: int, batch_size: int, number: int) -> None:
    ds = pp.fake_examples(number, sides=(8, 16))
    parts = [
        PLAIN.batches(
            ds,
            batch_size,
            epochs=2,
            with_ids=True,
            num_input_pipelines=workers,
            input_pipeline_id=worker,
        )
        for worker in range(workers)
    ]
    found = [ids(part) for part in parts]
    steps = {len(batches) for batches in found}
    assert steps == {int(parts[0].cardinality())}
    half = steps.pop() // 2
    for epoch in (slice(None, half), slice(half, None)):
        names = Counter(name for batches in found for batch in batches[epoch] for name in batch)
        assert len(names) == number and set(names.values()) == {1}


@pytest.mark.slow
def test_a_worker_resumes(ds: Any) -> None:
    def run(**start: int) -> list[np.ndarray]:
        workers = {"num_input_pipelines": 3, "input_pipeline_id": 1}
        return arrays(PLAIN.batches(ds, 3, epochs=3, **workers, **start))

    expected = run()
    for step in range(1, len(expected)):
        assert same(run(start_step=step), expected[step:])


@pytest.mark.slow
def test_another_number_of_workers_covers_the_rest_once(ds: Any) -> None:
    def run(workers: int, **start: int) -> list[list[list[str]]]:
        return [
            ids(
                PLAIN.batches(
                    ds,
                    2,
                    epochs=2,
                    with_ids=True,
                    num_input_pipelines=workers,
                    input_pipeline_id=worker,
                    **start,
                )
            )
            for worker in range(workers)
        ]

    before = [name for batches in run(2) for batch in batches[:3] for name in batch]
    # Three steps of two workers with two examples each are twelve.
    after = [name for batches in run(3, start_example=12) for batch in batches for name in batch]
    counts = Counter(before + after)
    assert len(counts) == NUMBER and set(counts.values()) == {2}


def test_unknown_and_infinite_lengths_are_refused(ds: Any) -> None:
    with pytest.raises(ValueError, match="unknown cardinality"):
        PLAIN.batches(ds.filter(lambda example: True), 4)
    with pytest.raises(ValueError, match="infinite cardinality"):
        PLAIN.batches(ds.repeat(), 4)
    with pytest.raises(ValueError, match="an empty data set"):
        PLAIN.batches(ds.take(0), 4)
    kept = ds.filter(lambda example: example["label"] < 4)
    known = kept.apply(tf.data.experimental.assert_cardinality(4))
    assert len(arrays(PLAIN.batches(known, 4))) == 1


def test_batched_data_sets_are_refused(ds: Any) -> None:
    for batched in (ds.batch(4), ds.batch(4, drop_remainder=True)):
        with pytest.raises(ValueError, match=r"leave out batch\(\).*Received: image of shape \("):
            PLAIN.batches(batched, 2)


def test_ids_that_are_no_strings_are_refused(ds: Any) -> None:
    numbered = ds.enumerate().map(lambda index, example: example | {"id": index})
    with pytest.raises(ValueError, match="as_string. Received: id of dtype int64"):
        PLAIN.batches(numbered, 2)
    (_, _, names) = next(iter(pp.eval_pipeline(8).batches(numbered, 4, with_ids=True)))
    assert names.numpy().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["several windows", "nested box"])
def test_shapes_that_would_pass_for_several_examples_are_left_alone(kind: str) -> None:
    ds = pp.fake_examples(10, sides=(40, 40))
    if kind == "several windows":
        ds = ds.map(lambda example: pp.MultiCrop(0.6)(example))
        pipeline = pp.Pipeline((pp.RandomSquare(0.5), pp.Resize(12)))
    else:
        ds = ds.map(lambda example: example | {"crop": example["crop"][None]})
        pipeline = pp.Pipeline((pp.CropToBox(), pp.CentralSquare(), pp.Resize(12)))
    alone = {example["id"].numpy(): pipeline(example, seed=3)["image"].numpy() for example in ds}
    for images, _, names in pipeline.batches(ds, 5, seed=3, epochs=1, with_ids=True):
        for image, name in zip(images, names, strict=True):
            np.testing.assert_array_equal(image, alone[name.numpy()])


def test_supervised_data_sets_are_refused(ds: Any) -> None:
    with pytest.raises(ValueError, match="without as_supervised=True"):
        PLAIN.batches(ds.map(lambda example: (example["image"], example["label"])), 4)


def test_start_beyond_the_end_is_refused(ds: Any) -> None:
    with pytest.raises(ValueError, match="start_step must be below .* 15. Received: start_step=15"):
        PLAIN.batches(ds, 5, epochs=3, start_step=15)
    with pytest.raises(ValueError, match="start_example=69"):
        PLAIN.batches(ds, 5, epochs=3, start_example=69)


def test_files_shuffled_by_chance_are_noticed(ds: Any) -> None:
    options = tf.data.Options()
    # What TFDS sets for shuffle_files=True without a seed.
    options.deterministic = False
    with pytest.warns(UserWarning, match="shuffle_seed"):
        PLAIN.batches(ds.with_options(options), 5)
    with pytest.raises(ValueError, match="shuffle_seed.*start_step=2"):
        PLAIN.batches(ds.with_options(options), 5, start_step=2)


def test_the_buffer_is_bounded_in_bytes(ds: Any) -> None:
    sizes = [len(example["image"].numpy()) for example in ds]
    # Room for three images of mean size: example i can't come before place i - 2.
    batches = PLAIN.batches(
        ds, 23, shuffle_buffer_bytes=3 * sum(sizes) // len(sizes) + 3, with_ids=True
    )
    (found,) = ids(batches)
    places = [int(name[-8:-4]) for name in found]
    assert places != list(range(NUMBER))
    assert all(number <= place + 2 for place, number in enumerate(places))


def test_pipeline_reads_what_tfds_wrote(dummy_build: dict[str, Any]) -> None:
    ds = dummy_build["builder"].as_dataset(split="train", decoders=pp.SKIP_DECODING)
    images, labels = next(iter(pp.train_pipeline(32).batches(ds, 4)))
    assert images.shape == (4, 32, 32, 3) and labels.shape == (4, 150)
    assert 0.05 < float(tf.reduce_mean(images)) < 0.95


PEAK = """
import resource, sys
import tensorflow as tf
from kfood_tfds import postprocessing as pp
one = next(iter(pp.fake_examples(1, sides=(300, 300))))
ds = tf.data.Dataset.range(3000).map(lambda i: {**one, "id": tf.strings.as_string(i)})
pipeline = pp.train_pipeline(96)
for _ in pipeline.batches(ds, 32, epochs=int(sys.argv[1]), shuffle_buffer_bytes=2**24):
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_epochs(tmp_path: Path) -> None:
    def peak(epochs: int) -> int:
        env = {"PYTHONPATH": ":".join(sys.path), "CUDA_VISIBLE_DEVICES": "-1"}
        command = [sys.executable, "-c", PEAK, str(epochs)]
        return int(subprocess.run(command, env=env, capture_output=True, check=True).stdout)

    assert peak(3) < 1.05 * peak(1)


@pytest.mark.parametrize(
    ("batch_size", "expected"), [(1, 1), (5, 5), (32, 32), (37, 1), (48, 24), (64, 32), (100, 25)]
)
def test_windows_are_found_for_a_divisor_of_the_batch(
    ds: Any, batch_size: int, expected: int
) -> None:
    assert batching.windows_at_once(ds.element_spec, batch_size) == expected


def str_of(name: bytes) -> bytes:
    return name


def odd_examples(kind: str) -> Any:
    """Returns examples that can't be put together before they are decoded, or must be looked at."""
    ds = pp.fake_examples(NUMBER, encoded=kind != "decoded", sides=(16, 40))
    if kind == "without sides":
        keys = set(ds.element_spec) - {"height", "width"}
        return ds.map(lambda example: {key: example[key] for key in keys})
    if kind == "of any length":
        return ds.map(lambda example: example | {"more": tf.range(example["height"])})
    if kind == "empty":
        return ds.map(lambda example: example | {"more": tf.zeros([0, 3])})
    if kind == "large":
        return ds.map(lambda example: example | {"more": tf.zeros([16, 17])})
    if kind == "quantized":
        return ds.map(lambda e: e | {"more": tf.bitcast(tf.constant([1], tf.int16), tf.qint16)})
    if kind == "of unknown shape":
        return ds.map(lambda e: e | {"id": tf.numpy_function(str_of, [e["id"]], tf.string)})
    if kind == "ragged":
        return ds.map(lambda example: example | {"more": tf.ragged.constant([[1], [2, 3]])})
    return ds


@pytest.mark.parametrize(
    "kind",
    [
        *("decoded", "without sides", "of any length", "ragged"),
        *("empty", "large", "quantized", "of unknown shape"),
    ],
)
def test_examples_that_cannot_be_put_together_give_the_same(ds: Any, kind: str) -> None:
    odd = odd_examples(kind)
    assert batching.windows_at_once(odd.element_spec, 5) == 1
    assert same(arrays(PLAIN.batches(odd, 5, epochs=1)), arrays(PLAIN.batches(ds, 5, epochs=1)))


def test_a_batch_holds_what_the_pipeline_makes_of_each_example(ds: Any) -> None:
    pipeline = pp.train_pipeline(16, crop="resized", dtype="uint8")
    by_id = {example["id"].numpy(): example for example in ds}
    for step, batch in enumerate(pipeline.batches(ds, 6, seed=2, epochs=2, with_ids=True)):
        for image, label, name in zip(*batch, strict=True):
            expected = pipeline(by_id[name.numpy()], seed=2, epoch=step // 4)
            np.testing.assert_array_equal(image, expected["image"])
            np.testing.assert_array_equal(label, expected["label"])

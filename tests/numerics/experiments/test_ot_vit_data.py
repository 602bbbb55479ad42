"""The datasets of Section 9's experiment: files in the published formats, generated here, and all refusals."""

import gzip
import hashlib
import io
import tarfile
import urllib.request
from pathlib import Path

import numpy as np
import pytest
import torch

from numerics.experiments import datasets

GENERATOR = np.random.default_rng(0)
IMAGES = {"train": GENERATOR.integers(0, 256, (5, 28, 28), np.uint8), "t10k": GENERATOR.integers(0, 256, (3, 28, 28), np.uint8)}
LABELS = {"train": np.array([3, 9, 0, 0, 1], np.uint8), "t10k": np.array([2, 2, 7], np.uint8)}


def idx(array: np.ndarray) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape) + array.tobytes()


def fashion(folder: Path, *, packed: bool) -> None:
    for part in IMAGES:
        for name, array in ((f"{part}-images-idx3-ubyte", IMAGES[part]), (f"{part}-labels-idx1-ubyte", LABELS[part])):
            content = idx(array)
            (folder / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(content) if packed else content)


def cifar_files(labels: int, images: int = 2) -> dict[str, bytes]:
    """The binary batches, each with ``images`` rows; the fine label is the number of the file."""
    train = [f"data_batch_{k}.bin" for k in range(1, 6)] if labels == 1 else ["train.bin"]
    files = [*train, "test_batch.bin" if labels == 1 else "test.bin"]
    pixels = np.arange(images * 3072, dtype=np.int64).reshape(images, 3072) % 251
    return {
        file: b"".join(bytes([99] * (labels - 1) + [number]) + row.astype(np.uint8).tobytes() for row in pixels)
        for number, file in enumerate(files)
    }


def archive(files: dict[str, bytes], inner: str) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{inner}/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return written.getvalue()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(url: str, timeout: float) -> None:
        raise OSError("no network")

    monkeypatch.setattr(urllib.request, "urlopen", refused)


def test_digits() -> None:
    data = datasets.load("digits", Path("nowhere"))
    assert data.train_images.shape == (898, 1, 8, 8)
    assert data.test_images.shape == (899, 1, 8, 8)
    assert int(data.train_images.max()) == 16
    assert sorted(data.test_labels.unique().tolist()) == list(range(10))
    assert data.sha256 == datasets.load("digits", Path()).sha256


def test_every_pixel_and_label_counts_in_the_checksum(tmp_path: Path) -> None:
    fashion(tmp_path, packed=False)
    data = datasets.load("fashion-mnist", tmp_path)
    before = data.sha256
    data.test_images[-1, 0, -1, -1] ^= 1
    assert data.sha256 != before
    data.test_images[-1, 0, -1, -1] ^= 1
    assert data.sha256 == before
    data.train_labels[0] += 1
    assert data.sha256 != before


@pytest.mark.parametrize("packed", [True, False])
def test_fashion_mnist(tmp_path: Path, packed: bool) -> None:
    fashion(tmp_path, packed=packed)
    data = datasets.load("fashion-mnist", tmp_path)
    assert torch.equal(data.train_images[:, 0], torch.from_numpy(IMAGES["train"]))
    assert torch.equal(data.test_images[:, 0], torch.from_numpy(IMAGES["t10k"]))
    assert data.train_labels.tolist() == LABELS["train"].tolist()
    assert data.test_labels.tolist() == LABELS["t10k"].tolist()
    assert data.classes == 10


@pytest.mark.parametrize(
    ("name", "labels", "inner"), [("cifar10", 1, "cifar-10-batches-bin"), ("cifar100", 2, "cifar-100-binary")]
)
@pytest.mark.parametrize("location", ["flat", "unpacked", "archive"])
def test_cifar(tmp_path: Path, name: str, labels: int, inner: str, location: str) -> None:
    files = cifar_files(labels)
    if location == "archive":
        (tmp_path / datasets.SOURCES[name][0].name).write_bytes(archive(files, inner))
    else:
        folder = tmp_path if location == "flat" else tmp_path / inner
        folder.mkdir(exist_ok=True)
        for file, content in files.items():
            (folder / file).write_bytes(content)
    data = datasets.load(name, tmp_path)
    numbers = list(range(len(files)))
    assert data.train_labels.tolist() == [number for number in numbers[:-1] for _ in range(2)]
    assert data.test_labels.tolist() == [numbers[-1]] * 2
    assert data.train_images.shape[1:] == (3, 32, 32)
    assert data.train_images[1, 2, 5, 7] == (3072 + 2 * 1024 + 5 * 32 + 7) % 251  # plane, row, column
    assert data.classes == (10 if labels == 1 else 100)


@pytest.mark.parametrize(("name", "pickled"), [(name, file) for name, files in datasets.PICKLED.items() for file in files])
def test_pickles_are_refused(tmp_path: Path, no_network: None, name: str, pickled: str) -> None:
    (tmp_path / pickled).write_bytes(b"\x80\x04.")
    with pytest.raises(ValueError, match=f"{name}: expected the binary version.*pickled") as error:
        datasets.load(name, tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", list(datasets.SOURCES))
def test_missing_files_without_a_network(tmp_path: Path, no_network: None, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: .* cannot be downloaded \\(no network\\); put .* into the folder"):
        datasets.load(name, tmp_path)
    with pytest.raises(ValueError, match=f"{name}: expected its files in .*, which is not a folder"):
        datasets.load(name, tmp_path / "missing")
    assert not list(tmp_path.iterdir())


def test_a_download_needs_the_published_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = archive(cifar_files(1), "cifar-10-batches-bin")
    monkeypatch.setattr(urllib.request, "urlopen", lambda url, timeout: io.BytesIO(content))
    with pytest.raises(ValueError, match=r"cifar10: expected the MD5 .* of https://.*, got "):
        datasets.load("cifar10", tmp_path)
    assert not list(tmp_path.iterdir())
    published = datasets.Source("cifar-10-binary.tar.gz", "https://host/file", hashlib.md5(content).hexdigest())
    monkeypatch.setitem(datasets.SOURCES, "cifar10", (published,))
    assert len(datasets.load("cifar10", tmp_path).test_images) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["cifar-10-binary.tar.gz"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "idx file of unsigned bytes"),
        (b"\0\0\x0d\x01" + bytes(8), "idx file of unsigned bytes"),
        (b"\x80\x04}q\0.", "idx file of unsigned bytes"),
        (idx(np.zeros((2, 3), np.uint8))[:-1], r"\(2, 3\) unsigned bytes, got 5"),
        (b"\0\0\x08\x03\0\0", "unsigned bytes, got 0"),
    ],
)
def test_files_in_another_format_are_refused(content: bytes, named: str) -> None:
    with pytest.raises(ValueError, match=f"some-file: expected .*{named}"):
        datasets.read_idx("some-file", content)


def test_a_file_that_is_no_gzip_is_refused(tmp_path: Path) -> None:
    fashion(tmp_path, packed=True)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(b"not packed")
    with pytest.raises(ValueError, match=r"t10k-labels-idx1-ubyte.gz: expected a gzip file"):
        datasets.load("fashion-mnist", tmp_path)


def test_images_and_labels_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    fashion(tmp_path, packed=False)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(LABELS["t10k"]))
    with pytest.raises(ValueError, match="fashion-mnist: expected images"):
        datasets.load("fashion-mnist", tmp_path)


@pytest.mark.parametrize("content", [b"", bytes(3072), bytes(3074)])
def test_a_batch_of_another_size_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=f"batch: expected rows of 3073 bytes, got {len(content)} bytes"):
        datasets.read_cifar("batch", content, 1)


def test_an_invalid_label_is_refused(tmp_path: Path) -> None:
    for file, content in cifar_files(1).items():
        (tmp_path / file).write_bytes(bytes([10]) + content[1:])
    with pytest.raises(ValueError, match="cifar10: expected labels below 10, got 10"):
        datasets.load("cifar10", tmp_path)


def test_an_archive_without_its_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cifar-100-binary.tar.gz").write_bytes(archive({"train.bin": bytes(3074)}, "cifar-100-binary"))
    with pytest.raises(ValueError, match=r"cifar-100-binary.tar.gz: expected an archive with cifar-100-binary/test.bin"):
        datasets.load("cifar100", tmp_path)
    (tmp_path / "cifar-100-binary.tar.gz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"cifar-100-binary.tar.gz: expected an archive"):
        datasets.load("cifar100", tmp_path)


def test_a_missing_batch_is_named(tmp_path: Path) -> None:
    for file, content in cifar_files(1).items():
        (tmp_path / file).write_bytes(content)
    (tmp_path / "data_batch_4.bin").unlink()
    with pytest.raises(ValueError, match=r"data_batch_4.bin: No such file"):
        datasets.load("cifar10", tmp_path)


def test_another_dataset_is_refused() -> None:
    with pytest.raises(ValueError, match="dataset: expected one of digits, fashion-mnist, cifar10, cifar100, got 'mnist'"):
        datasets.load("mnist", Path())

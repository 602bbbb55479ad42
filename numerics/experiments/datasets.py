"""The datasets: scikit-learn's digits, and three that are read from their published files.

Nothing is unpickled: the pickled version of CIFAR is refused, its binary version is read.  What is not in the folder is
downloaded where there is a network, and kept only if its checksum is the published one.
"""

import gzip
import hashlib
import tarfile
import urllib.request
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from numerics.experiments.output import atomic_write

UNSIGNED_BYTE = 8  # the code of its type in an idx file
SIDE, CHANNELS = 32, 3  # of CIFAR


@dataclass(frozen=True)
class Dataset:
    """Images and labels of a classification task.

    Attributes:
        name: of the dataset.
        train_images, test_images: uint8, (N, channels, side, side).
        train_labels, test_labels: int64, (N,).
        classes: how many.
    """

    name: str
    train_images: Tensor
    train_labels: Tensor
    test_images: Tensor
    test_labels: Tensor
    classes: int

    @property
    def sha256(self) -> str:
        """Of all images and labels."""
        digest = hashlib.sha256()
        for part in (self.train_images, self.train_labels, self.test_images, self.test_labels):
            digest.update(f"{tuple(part.shape)}".encode())
            digest.update(part.contiguous().numpy().tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Source:
    """A published file: its name, where it comes from, its MD5 as published."""

    name: str
    url: str
    md5: str


_FASHION = "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/"

SOURCES = {
    "fashion-mnist": tuple(
        Source(name, _FASHION + name, md5)
        for name, md5 in (
            ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
            ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
            ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
            ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
        )
    ),
    "cifar10": (Source("cifar-10-binary.tar.gz", f"{_CIFAR}cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"),),
    "cifar100": (Source("cifar-100-binary.tar.gz", f"{_CIFAR}cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"),),
}
NAMES = ("digits", *SOURCES)

PICKLED = {
    "cifar10": ("cifar-10-batches-py", "cifar-10-python.tar.gz", "data_batch_1"),
    "cifar100": ("cifar-100-python", "cifar-100-python.tar.gz", "train"),
}


def load(name: str, folder: Path) -> Dataset:
    """Return a dataset.

    Args:
        name: one of `NAMES`.
        folder: where its published files are, unpacked or not, or are downloaded to; digits need none.

    Raises:
        ValueError: for another name; for files that are missing and cannot be downloaded, are pickled, or are not what
            their format says.
    """
    if name not in NAMES:
        raise ValueError(f"dataset: expected one of {', '.join(NAMES)}, got {name!r}")
    if name == "digits":
        return _digits()
    return _fashion(folder) if name == "fashion-mnist" else _cifar(name, folder)


def _digits() -> Dataset:
    """The second half is tested on, as in scikit-learn's own example: other people wrote it."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]

    digits = load_digits()
    images = torch.from_numpy(digits.images.astype(np.uint8)).unsqueeze(1)
    labels = torch.from_numpy(digits.target.astype(np.int64))
    half = len(images) // 2
    return Dataset("digits", images[:half], labels[:half], images[half:], labels[half:], 10)


def _fashion(folder: Path) -> Dataset:
    arrays = []
    for source in SOURCES["fashion-mnist"]:
        plain = folder / source.name.removesuffix(".gz")
        packed = folder / source.name
        if plain.exists():
            arrays.append(read_idx(plain.name, plain.read_bytes()))
        else:
            _fetch("fashion-mnist", source, folder)
            arrays.append(read_idx(packed.name, _unpacked(packed)))
    images, labels = arrays[::2], arrays[1::2]
    for part, kinds in zip(images, labels, strict=True):
        if part.ndim != 3 or kinds.ndim != 1 or len(part) != len(kinds):
            raise ValueError(f"fashion-mnist: expected images (N, side, side) and labels (N,), got {part.shape}, {kinds.shape}")
    return _dataset("fashion-mnist", [part[:, None] for part in images], labels, 10)


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path.name}: expected a gzip file, got {error}") from None


def read_idx(name: str, content: bytes) -> np.ndarray:
    """Return the array of an idx file of unsigned bytes; raises ValueError, with the file's name, if it is none."""
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != UNSIGNED_BYTE:
        raise ValueError(f"{name}: expected an idx file of unsigned bytes, got one that starts with {content[:4].hex()!r}")
    start = 4 + 4 * content[3]
    shape = tuple(int.from_bytes(content[offset : offset + 4], "big") for offset in range(4, start, 4))
    if len(content) - start != int(np.prod(shape)):
        raise ValueError(f"{name}: expected {shape} unsigned bytes, got {max(0, len(content) - start)} of them")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _cifar(name: str, folder: Path) -> Dataset:
    ten = name == "cifar10"
    classes, labels = (10, 1) if ten else (100, 2)
    train = [f"data_batch_{k}.bin" for k in range(1, 6)] if ten else ["train.bin"]
    read = _reader(name, folder)
    parts = [
        [read_cifar(file, read(file), labels) for file in files] for files in (train, ["test_batch.bin" if ten else "test.bin"])
    ]
    images = [np.concatenate([image for image, _ in part]) for part in parts]
    kinds = [np.concatenate([kind for _, kind in part]) for part in parts]
    return _dataset(name, images, kinds, classes)


def _reader(name: str, folder: Path) -> Callable[[str], bytes]:
    """Return a reader of CIFAR's files: from the folder, the folder it unpacks to, or the archive."""
    (source,) = SOURCES[name]
    inner = "cifar-10-batches-bin" if name == "cifar10" else "cifar-100-binary"
    first = "data_batch_1.bin" if name == "cifar10" else "train.bin"
    for unpacked in (folder, folder / inner):
        if (unpacked / first).exists():
            return lambda file: _whole_file(unpacked / file)
    pickled = [file_name for file_name in PICKLED[name] if (folder / file_name).exists()]
    if pickled and not (folder / source.name).exists():
        raise ValueError(
            f"{name}: expected the binary version, {source.name} or what it unpacks to, got the pickled one "
            f"({folder / pickled[0]}): unpickling a file runs whatever it says"
        )
    _fetch(name, source, folder)
    return lambda file: _member(folder / source.name, f"{inner}/{file}")


def _whole_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}; all files of the binary version are expected") from None


def _member(archive: Path, name: str) -> bytes:
    try:
        with tarfile.open(archive) as opened:
            file = opened.extractfile(name)
            if file is None:
                raise KeyError(name)
            return file.read()
    except (KeyError, EOFError, OSError, tarfile.TarError, zlib.error) as error:
        raise ValueError(f"{archive.name}: expected an archive with {name} in it, got {error}") from None


def read_cifar(name: str, content: bytes, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images (N, 3, 32, 32) and the last of the labels (N,) of a binary batch, ``labels`` of them before each image.

    Raises:
        ValueError: with the file's name, for a size that is no multiple of a row's.
    """
    width = labels + CHANNELS * SIDE**2
    if not content or len(content) % width:
        raise ValueError(f"{name}: expected rows of {width} bytes, got {len(content)} bytes")
    rows = np.frombuffer(content, np.uint8).reshape(-1, width)
    return rows[:, labels:].reshape(-1, CHANNELS, SIDE, SIDE), rows[:, labels - 1]


def _dataset(name: str, images: list[np.ndarray], labels: list[np.ndarray], classes: int) -> Dataset:
    if not all(len(part) for part in labels):
        raise ValueError(f"{name}: expected images to train on and to test on, got {len(labels[0])} and {len(labels[1])}")
    largest = max(int(part.max()) for part in labels)
    if largest >= classes:
        raise ValueError(f"{name}: expected labels below {classes}, got {largest}")
    train, test = (torch.from_numpy(part.copy()) for part in images)
    train_labels, test_labels = (torch.from_numpy(part.astype(np.int64)) for part in labels)
    return Dataset(name, train, train_labels, test, test_labels, classes)


def _fetch(name: str, source: Source, folder: Path) -> None:
    """Download a file that is not there; raises ValueError if that is not possible or it is not the published one."""
    path = folder / source.name
    if path.exists():
        return
    advice = f"put {source.name} from {source.url} into the folder"
    if not folder.is_dir():
        raise ValueError(f"{name}: expected its files in {folder}, which is not a folder; make it and {advice}")
    try:
        with urllib.request.urlopen(source.url, timeout=60) as response:
            content = response.read()
    except (OSError, HTTPException) as error:
        raise ValueError(f"{name}: {source.name} is not in {folder} and cannot be downloaded ({error}); {advice}") from None
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if digest != source.md5:
        raise ValueError(f"{name}: expected the MD5 {source.md5} of {source.url}, got {digest}; {advice}")
    with atomic_write(path) as written:
        written.write_bytes(content)

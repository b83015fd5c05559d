"""Pictures on their way from the disk: fewer bytes come sooner, and have to be decoded.

Which way is faster depends on how fast the disk is: `break_even` says from which rate on the larger file wins.
"""

import bz2
import io
import lzma
import zlib

import numpy as np


def ways(images, levels=255):
    """{name: (bytes of the file, function of these bytes that returns float32 images)}.

    images: float32, each k / levels with a whole k from 0 to levels <= 255, as `data.mnist5k` (255) and `data.digits`
    (16) have them. All ways give the images to the bit, but float16, which rounds.
    """
    codes = np.rint(images * levels)
    if not (1 <= levels <= 255 and codes.min() >= 0 and codes.max() <= levels) or not np.array_equal(
        (codes.astype(np.uint8) / np.float32(levels)).astype(np.float32), images
    ):
        raise ValueError(f"images: expected float32 numbers k / {levels} with whole k from 0 to {levels}.")
    codes = codes.astype(np.uint8)

    def file(array):
        stream = io.BytesIO()
        np.save(stream, array)
        return stream.getvalue()

    def floats(content):
        return np.load(io.BytesIO(content)).astype(np.float32, copy=False)

    def from_codes(content):
        return np.load(io.BytesIO(content)) / np.float32(levels)

    small = file(codes)
    return {
        "float32": (file(images), floats),
        "float16": (file(images.astype(np.float16)), floats),
        "uint8": (small, from_codes),
        "float32, zlib": (zlib.compress(file(images), 6), lambda content: floats(zlib.decompress(content))),
        "uint8, zlib": (zlib.compress(small, 6), lambda content: from_codes(zlib.decompress(content))),
        "uint8, bz2": (bz2.compress(small), lambda content: from_codes(bz2.decompress(content))),
        "uint8, lzma": (lzma.compress(small), lambda content: from_codes(lzma.decompress(content))),
    }


def break_even(large, small):
    """Bytes a second of a disk from which on the larger file is there sooner. Each: (bytes, seconds to decode).
    Infinite where the smaller file is decoded as fast."""
    (more, quick), (fewer, slow) = large, small
    if more < fewer:
        raise ValueError(f"large has {more} bytes and small {fewer}; expected the larger file first.")
    return (more - fewer) / (slow - quick) if slow > quick else float("inf")

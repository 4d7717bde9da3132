"""Criteria on images."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.reading import (
    UnusableError,
    clean,
    cut,
    failing,
    need_whole,
    read_bytes,
)

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 64_000_000
_MAX_SSIM_PIXELS = 16_000_000
_WINDOW = 8
_STEP = 4
# No formats that are programs, as PostScript is.
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "ICO", "TGA", "AVIF", "JPEG2000", "PCX", "DDS", "ICNS")


@failing(False)
def image_size_equals(workspace: Path, path: str, width: int, height: int) -> Finding:
    """Whether an image has a width and a height in pixels.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    need_whole("width", width, 0)
    need_whole("height", height, 0)
    with _open(workspace, path, "image_size_equals") as image:
        found = image.size
    wanted = "" if found == (width, height) else f", not {width} by {height}"
    return Finding(not wanted, f"{path} is {found[0]} by {found[1]} pixels{wanted}")


@failing(0.0)
def image_similarity(workspace: Path, path1: str, path2: str) -> Finding:
    """The share of pixels that are equal in red, green, blue and opacity; 0.0 for images of different sizes.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    first, second = (_pixels(workspace, path, "image_similarity", MAX_PIXELS) for path in (path1, path2))
    if first.size != second.size:
        return Finding(0.0, _sizes(path1, first, path2, second))
    from PIL import ImageChops

    bands = ImageChops.difference(first, second).split()
    worst = bands[0]
    for band in bands[1:]:
        worst = ImageChops.lighter(worst, band)
    total = first.width * first.height
    equal = worst.histogram()[0]
    return Finding(equal / total, f"{equal} of {total} pixels of {path1} and {path2} are equal")


@failing(0.0)
def image_ssim(workspace: Path, path1: str, path2: str) -> Finding:
    """Structural similarity (Wang et al. 2004) in [0, 1]: 1.0 for equal images, 0.0 for ones of different sizes.

    The mean over red, green and blue of 8 by 8 windows, one every 4 pixels, with K1 = 0.01 and K2 = 0.03. What is
    transparent is put on white.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    first, second = (_pixels(workspace, path, "image_ssim", _MAX_SSIM_PIXELS) for path in (path1, path2))
    if first.size != second.size:
        return Finding(0.0, _sizes(path1, first, path2, second))
    bands = zip(_on_white(first).split()[:3], _on_white(second).split()[:3], strict=True)
    value = sum(_ssim(one, two) for one, two in bands) / 3
    return Finding(min(1.0, max(0.0, value)), f"structural similarity of {path1} and {path2}: {value:.4f}")


def _ssim(first: Image, second: Image) -> float:
    """Mean structural similarity of two images of one band."""
    x, y = first.convert("F"), second.convert("F")
    products = {"x": x, "y": y, "xx": _times(x, x), "yy": _times(y, y), "xy": _times(x, y)}
    total, windows = 0.0, 0
    for left in _offsets(x.width):
        for top in _offsets(x.height):
            box = (left, top, left + _whole(x.width - left), top + _whole(x.height - top))
            means = {name: image.crop(box).reduce(_WINDOW) for name, image in products.items()}
            similarity = _formula(means)
            values = similarity.tobytes("raw", "F;32NF")
            total += sum(memoryview(values).cast("f"))
            windows += similarity.width * similarity.height
    return total / windows


def _formula(means: dict[str, Image]) -> Image:
    """(2 mx my + c1) (2 cov + c2) / ((mx^2 + my^2 + c1) (vx + vy + c2)) of every window."""
    from PIL import ImageMath

    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2

    def similarity(args: dict[str, Any]) -> Any:
        x, y = args["x"], args["y"]
        spread = args["xx"] - x * x + args["yy"] - y * y
        shared = args["xy"] - x * y
        return (x * y * 2 + c1) * (shared * 2 + c2) / ((x * x + y * y + c1) * (spread + c2))

    return ImageMath.lambda_eval(similarity, **means)  # type: ignore[no-any-return]


def _times(first: Image, second: Image) -> Image:
    from PIL import ImageMath

    return ImageMath.lambda_eval(lambda args: args["x"] * args["y"], x=first, y=second)  # type: ignore[no-any-return]


def _offsets(length: int) -> list[int]:
    """Where windows begin, so that they reach both edges."""
    if length <= _WINDOW:
        return [0]
    return sorted({0, _STEP % (length - _WINDOW + 1), length % _WINDOW})


def _whole(length: int) -> int:
    """As much of a length as whole windows fill; all of one that is shorter than a window."""
    return length // _WINDOW * _WINDOW or length


def _on_white(image: Image) -> Image:
    from PIL import Image as module

    return module.alpha_composite(module.new("RGBA", image.size, "white"), image)


def _pixels(workspace: Path, path: str, criterion: str, most: int) -> Image:
    with _open(workspace, path, criterion) as image:
        if image.width * image.height > most:
            raise UnusableError(f"{path} is {image.width} by {image.height} pixels, which is too large to compare")
        try:
            return image.convert("RGBA")
        except Exception as error:  # whatever a decoder does with a hostile file
            raise _unreadable(path, error) from None


def _open(workspace: Path, path: str, criterion: str) -> Image:
    try:
        from PIL import Image as module
    except ImportError:
        raise MissingExtraError(f"{criterion} needs Pillow: pip install 'adjudge[image]'") from None
    data = read_bytes(workspace, path)
    module.init()
    try:
        return module.open(io.BytesIO(data), formats=[name for name in _FORMATS if name in module.OPEN])
    except Exception as error:  # whatever a decoder does with a hostile file
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> UnusableError:
    detail = "" if type(error).__name__ == "UnidentifiedImageError" else f": {cut(clean(str(error)), 150)}"
    return UnusableError(f"{path} cannot be read as an image{detail}")


def _sizes(path1: str, first: Image, path2: str, second: Image) -> str:
    return f"{path1} is {first.width} by {first.height} pixels and {path2} is {second.width} by {second.height}"

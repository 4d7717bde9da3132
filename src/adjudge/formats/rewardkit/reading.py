"""What readers of this dialect share: one file and its problems, rules of scoring tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adjudge.domain import Aggregation, RewardRule
from adjudge.formats.convert import Converter, nearest
from adjudge.formats.rewardkit.schema import Number, RewardTable, ScoringTable
from adjudge.located import Located

AGGREGATIONS = {how.value: how for how in Aggregation}
_EMPTY = Located({}, 1, 1)


class TomlFile:
    """A TOML file, read: its tree with positions, and a converter that collects its problems."""

    def __init__(self, path: Path, shown: str, root: Located) -> None:
        self.path = path
        self.root = root
        self.converter = Converter(shown)

    @property
    def stem(self) -> str:
        return self.path.stem

    def place(self, *keys: str | int) -> tuple[int, int]:
        """Where a key stands, or the nearest one around it that is written down."""
        node, place = self.root, (1, 1)
        for key in keys:
            if isinstance(key, int) and isinstance(node.value, list) and key < len(node.value):
                node = node.value[key]
                place = (node.line, node.column)
            elif isinstance(key, str) and isinstance(node.value, dict) and key in node.value:
                place, node = node.keys[key], node.value[key]
            else:
                break
        return place

    def holds(self, *keys: str | int) -> bool:
        """Whether something is written down under a key."""
        node = self.root
        for key in keys:
            inner: Any = node.value
            if not (key in inner if isinstance(inner, dict) else isinstance(inner, list) and int(key) < len(inner)):
                return False
            node = inner[key]
        return True

    def error(self, keys: Sequence[str | int], message: str, *, hint: str = "") -> None:
        """A problem at a key; `keys` lead to it."""
        self.converter.add_at(self.place(*keys), _dotted(keys), message, hint=hint)

    def warn(self, keys: Sequence[str | int], message: str) -> None:
        self.converter.add_at(self.place(*keys), _dotted(keys), message, warning=True)

    def one_of(self, keys: Sequence[str | int], value: str, known: Sequence[str]) -> bool:
        """Whether a value is one of those known; an error at its key when it is not."""
        if value in known:
            return True
        self.error(keys, f"{value!r} is none of {', '.join(known)}", hint=nearest(value, known))
        return False


def read_rule(file: TomlFile, keys: Sequence[str | int], table: ScoringTable | RewardTable) -> RewardRule:
    """The rule that a table states; underscores do for hyphens in the name of an aggregation."""
    name = table.aggregation.replace("_", "-")
    how = Aggregation.WEIGHTED_MEAN
    if file.one_of([*keys, "aggregation"], name, list(AGGREGATIONS)):
        how = AGGREGATIONS[name]
    if not math.isfinite(table.threshold):
        file.error([*keys, "threshold"], "must be a finite number")
    clamp = None
    if table.clamp is not None:
        if len(table.clamp) == 2 and table.clamp[0] < table.clamp[1]:
            clamp = float(table.clamp[0]), float(table.clamp[1])
        else:
            file.error([*keys, "clamp"], "expected [low, high] with low < high")
    return RewardRule(aggregation=how, threshold=float(table.threshold), clamp=clamp)


def check_weight(file: TomlFile, keys: Sequence[str | int], weight: Number, rule: RewardRule) -> None:
    """A weight is finite, and negative only where it is a penalty."""
    if not math.isfinite(weight):
        file.error(keys, "a weight must be a finite number")
    elif weight < 0 and rule.aggregation is not Aggregation.WEIGHTED_SUM:
        file.error(keys, f"a negative weight needs aggregation weighted-sum, not {rule.aggregation.value}")


def _dotted(keys: Sequence[str | int]) -> str:
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text

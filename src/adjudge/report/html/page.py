"""What every page is made with: its templates, which show text as text, and the digests of its policy."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from adjudge.report.html.payload import cut, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_LONGEST = 2_000


def environment_of() -> Environment:
    """Templates whose texts are escaped, cut, and shown with whatever cannot be seen."""
    from jinja2 import Environment

    def shown(value: Any) -> Any:
        if isinstance(value, str) and not hasattr(value, "__html__"):
            return visible(cut(value, _LONGEST))
        return value

    return Environment(autoescape=True, finalize=shown, trim_blocks=True, lstrip_blocks=True)


def resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """A script or style as a Content-Security-Policy names it."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()

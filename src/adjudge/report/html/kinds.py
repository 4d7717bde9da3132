"""How an output is shown: by what its suite declares, else by the end of its name."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

KINDS = ("code", "graph", "image", "json", "markdown", "metrics", "text")
_CODE = (
    "bash c cc cpp cs css diff go h hpp htm html ini java js jsx kt lua patch php pl py r rb rs scala sh sql svg swift "
    "toml ts tsx xml yaml yml"
)
_BY_SUFFIX = {
    **dict.fromkeys(_CODE.split(), "code"),
    **dict.fromkeys(("gif", "jpeg", "jpg", "png", "webp"), "image"),
    **dict.fromkeys(("markdown", "md"), "markdown"),
    "json": "json",
}


def kind_of(name: str, types: Mapping[str, str]) -> str:
    """One of `KINDS`. `types` are file names or globs -> kind, over the whole path or its last part; a name that is
    written out goes before a glob, and a kind that is not known is left out."""
    base = name.rsplit("/", 1)[-1]
    declared = types.get(name) or types.get(base)
    if declared not in KINDS:
        fits = (kind for glob, kind in types.items() if fnmatchcase(name, glob) or fnmatchcase(base, glob))
        declared = next((kind for kind in fits if kind in KINDS), None)
    return declared or _BY_SUFFIX.get(base.rsplit(".", 1)[-1].lower() if "." in base else "", "text")

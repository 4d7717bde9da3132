"""`runner.settings` of Codex become its `-c` flags, in TOML."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adjudge.agents import Ask, Task, agent_of
from adjudge.domain import AgentSpec

PLAIN = st.booleans() | st.integers(-(2**40), 2**40) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


def flags(settings: dict[str, Any]) -> list[str]:
    spec = AgentSpec(name="codex")
    ask = Ask(spec=spec, prompt="p", cwd=Path(), home=Path("home"), confined=True, task=Task(options=settings))
    argv = agent_of(spec).launch(ask).argv
    return [word for before, word in itertools.pairwise(argv) if before == "-c"]


def test_mappings_have_dotted_names_and_null_is_left_out() -> None:
    found = flags({"model_verbosity": "low", "tools": {"web_search": True, "view_image": None}, "n": [1, 2]})
    assert found == ['model_verbosity="low"', "tools.web_search=true", "n=[1,2]"]


@given(
    st.dictionaries(NAMES, PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(NAMES, PLAIN, max_size=3), max_size=4)
)
def test_every_flag_is_toml_that_says_what_was_said(settings: dict[str, Any]) -> None:
    read: dict[str, Any] = {}
    for flag in flags(settings):
        name, _, value = flag.partition("=")
        place = read
        *folders, last = name.split(".")
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = tomllib.loads(f"x = {value}")["x"]
    assert read == {name: value for name, value in settings.items() if value != {}}

"""The keys of a judge TOML: what each is by default, what it may hold, and what is said where it may not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import AgentJudge, Aggregation, Binary, Guard, Levels, Likert, LLMJudge, Mode, Numeric, Reduce
from adjudge.formats.rewardkit import Overrides
from adjudge.located import Located, parse_toml
from tests.support.judge_folders import GOOD, HEAD, answers, criteria, judged, llm, loaded, refused


def test_what_a_judge_is_when_nothing_is_said(tmp_path: Path) -> None:
    """2: the default of every key of [judge] and [[criterion]]."""
    judge = llm(tmp_path, '[[criterion]]\ndescription = "Is it good?"\n')
    assert (judge.model, judge.mode, judge.timeout_s, judge.effort, judge.samples, judge.guard, judge.reduce) == (
        "anthropic/claude-opus-5-5",
        Mode.BATCHED,
        300.0,
        "medium",
        1,
        Guard.OFF,
        Reduce.MEDIAN_LOW,
    )
    assert (judge.files, judge.reference, judge.trajectory, judge.instructions) == ((), "", "", "")
    (criterion,) = judge.criteria
    assert (criterion.scale, criterion.weight, criterion.negate, criterion.optional) == (Binary(), 1.0, False, False)
    assert (criterion.name, criterion.id, criterion.files) == ("is_it_good", "", ())


def test_what_a_rule_is_when_nothing_is_said(tmp_path: Path) -> None:
    """2: [scoring]."""
    (leaf,) = loaded(tmp_path, GOOD).rewards[0].inputs
    assert leaf.rule is not None
    assert (leaf.rule.aggregation, leaf.rule.threshold, leaf.weight) == (Aggregation.WEIGHTED_MEAN, 0.5, 1.0)


def test_every_key_of_an_llm_judge_is_read(tmp_path: Path) -> None:
    """2: [judge]."""
    text = """
[judge]
judge = "openai/gpt-5.2"
files = ["a.py", "/app/b.py"]
mode = "individual"
timeout = 7
reasoning_effort = "high"
reference = "ref.py"
atif-trajectory = "t.json"
weight = 2.5
samples = 3
guard = "flag"
[[criterion]]
description = "Is it?"
id = "1.2"
files = ["c.py"]
weight = 3
"""
    suite = loaded(tmp_path, text)
    (judge,) = suite.judges
    assert isinstance(judge, LLMJudge)
    assert (judge.model, judge.files, judge.mode, judge.timeout_s) == (
        "openai/gpt-5.2",
        ("a.py", "/app/b.py"),
        Mode.INDIVIDUAL,
        7.0,
    )
    assert (judge.effort, judge.reference, judge.trajectory, judge.samples, judge.guard) == (
        "high",
        "ref.py",
        "t.json",
        3,
        Guard.FLAG,
    )
    assert (judge.criteria[0].id, judge.criteria[0].files, judge.criteria[0].weight) == ("1.2", ("c.py",), 3.0)
    assert suite.rewards[0].inputs[0].weight == 2.5


@pytest.mark.parametrize(
    ("keys", "scale"),
    [
        ('type = "binary"', Binary()),
        ('type = "binary"\npoints = 1\nlevels = ["one"]', Binary()),
        ('type = "likert"', Likert(5)),
        ('type = "likert"\npoints = 2', Likert(2)),
        ('type = "numeric"', Numeric(0, 1)),
        ('type = "numeric"\nmin = -1\nmax = 2.5', Numeric(-1, 2.5)),
        ('type = "rubric"\nlevels = ["bad", "good"]', Levels(("bad", "good"))),
    ],
)
def test_types_and_their_keys(tmp_path: Path, keys: str, scale: object) -> None:
    """2: [[criterion]]; keys of another type do nothing."""
    assert llm(tmp_path, GOOD + keys).criteria[0].scale == scale


JUDGE_ERRORS = [
    ('mode = "batch"', "judge.mode", "'batch' is none of batched, individual"),
    ('guard = "penalise"', "judge.guard", "'penalise' is none of"),
    ('reasoning_effort = "huge"', "judge.reasoning_effort", "'huge' is none of none, minimal, low"),
    ("timeout = -5", "judge.timeout", "above 0"),
    ("timeout = 0", "judge.timeout", "above 0"),
    ("timeout = 1.5", "judge.timeout", "expected a whole number"),
    ('timeout = "5"', "judge.timeout", "expected a whole number"),
    ("samples = 0", "judge.samples", "expected 1 or more"),
    ("samples = true", "judge.samples", "expected a whole number"),
    ('files = "a.py"', "judge.files", "expected a list of text"),
    ("files = [1]", "judge.files[0]", "expected text"),
    ("reference = [1]", "judge.reference", "expected text"),
    ('weight = "1"', "judge.weight", "expected a number"),
    ("weight = nan", "judge.weight", "finite"),
    ("weight = inf", "judge.weight", "finite"),
    ('isolated = "no"', "judge.isolated", "expected true or false"),
    ('version = "latest"', "judge.version", "is no version"),
    ('prompt_template = "gone.md"', "judge.prompt_template", "cannot be read"),
    ('prompt_template = "quality.toml"', "judge.prompt_template", ".txt or .md"),
    ('atif_trajectory = "a"\natif-trajectory = "b"', "judge.atif_trajectory", "give one of them"),
    ('html = "raw"', "judge.html", "none of text, source"),
    ('mcp_servers = [{name = "a", transport = "carrier-pigeon"}]', "judge.mcp_servers[0].transport", "none of stdio"),
]


@pytest.mark.parametrize(("line", "key", "message"), JUDGE_ERRORS)
def test_a_wrong_value_of_judge_is_one_error_at_its_place(tmp_path: Path, line: str, key: str, message: str) -> None:
    """2: [judge]."""
    (problem,) = refused(tmp_path, f"# a comment\n[judge]\n{line}\n{GOOD}")
    assert (problem.key, Path(problem.file).name) == (key, "quality.toml")
    assert message in problem.message
    assert problem.line == (4 if line.startswith("atif_") and key.endswith("atif-trajectory") else 3)
    assert problem.column >= 1


CRITERION_ERRORS = [
    ('description = "x"\ntype = "boolean"', "criterion[0].type", "none of binary, likert"),
    ('description = "x"\ntype = "likert"\npoints = 1', "criterion[0].points", "2 or more points"),
    ('description = "x"\ntype = "likert"\npoints = 2.5', "criterion[0].points", "expected a whole number"),
    ('description = "x"\ntype = "numeric"\nmax = 0', "criterion[0].max", "min < max"),
    ('description = "x"\ntype = "numeric"\nmin = -inf', "criterion[0].max", "finite bounds"),
    ('description = "x"\ntype = "rubric"', "criterion[0].levels", "2 to 10 levels, got 0"),
    ('description = "x"\ntype = "rubric"\nlevels = ["a"]', "criterion[0].levels", "2 to 10 levels, got 1"),
    ('description = "x"\ntype = "rubric"\nlevels = ["a", " "]', "criterion[0].levels", "non-blank"),
    (f'description = "x"\ntype = "rubric"\nlevels = {[str(k) for k in range(11)]}', "criterion[0].levels", "got 11"),
    ('description = "x"\nname = "no blanks"', "criterion[0].name", "letters, digits, _ and -"),
    ('description = "x"\nname = ""', "criterion[0].name", "letters, digits, _ and -"),
    (f'description = "x"\nname = "{"n" * 65}"', "criterion[0].name", "1 to 64"),
    ('description = "x"\nfiles = ["a"]', "criterion[0].files", 'mode = "individual"'),
    ('description = "x"\nweight = nan', "criterion[0].weight", "finite"),
    ('description = "x"\nweight = -1', "criterion[0].weight", "needs aggregation weighted-sum"),
    ('description = "x"\nnegate = "yes"', "criterion[0].negate", "expected true or false"),
    ('description = "x"\noptional = 1', "criterion[0].optional", "expected true or false"),
    ('description = "x"\nid = 1.2', "criterion[0].id", "expected text"),
    ("description = 1", "criterion[0].description", "expected text"),
    ('type = "binary"', "criterion[0]", "'description' is missing"),
]


@pytest.mark.parametrize(("lines", "key", "message"), CRITERION_ERRORS)
def test_a_wrong_value_of_a_criterion_is_one_error(tmp_path: Path, lines: str, key: str, message: str) -> None:
    """2: [[criterion]]."""
    (problem,) = refused(tmp_path, f"[[criterion]]\n{lines}\n")
    assert problem.key == key
    assert message in problem.message
    assert Path(problem.file).name == "quality.toml"
    last = key.rpartition(".")[2]
    named = [n for n, line in enumerate(lines.splitlines(), 2) if line.startswith(f"{last} =")]
    assert problem.line == (named[0] if named else 1)


@pytest.mark.parametrize(
    ("lines", "key", "message"),
    [
        ('aggregation = "mean"', "scoring.aggregation", "'mean' is none of weighted-mean"),
        ("threshold = nan", "scoring.threshold", "finite"),
        ('threshold = "0.5"', "scoring.threshold", "expected a number"),
        ("clamp = [1, 0]", "scoring.clamp", "low < high"),
        ("limit = 1", "scoring.limit", "unknown key 'limit'"),
    ],
)
def test_a_wrong_value_of_scoring_is_one_error(tmp_path: Path, lines: str, key: str, message: str) -> None:
    """2: [scoring]."""
    (problem,) = refused(tmp_path, f"{GOOD}[scoring]\n{lines}\n")
    assert (problem.key, problem.line, problem.column) == (key, 5, 1)
    assert message in problem.message


@pytest.mark.parametrize("name", [how.value for how in Aggregation])
def test_aggregations_by_hyphen_and_by_underscore(tmp_path: Path, name: str) -> None:
    """0, 2: underscores do for hyphens."""
    for index, spelled in enumerate((name, name.replace("-", "_"))):
        suite = loaded(tmp_path / str(index), f'{GOOD}[scoring]\naggregation = "{spelled}"\n')
        rule = suite.rewards[0].inputs[0].rule
        assert rule is not None
        assert rule.aggregation.value == name


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        (f"[judge]\nfile = []\n{GOOD}", "judge.file", "files"),
        (f"[judge]\nreasoning_efort = 'low'\n{GOOD}", "judge.reasoning_efort", "reasoning_effort"),
        (f"{GOOD}negated = true\n", "criterion[0].negated", "negate"),
        (f"{GOOD}[scorng]\n", "scorng", "scoring"),
        (
            "[[judge.mcp_servers]]\nname = 'a'\nurl = 'http://x'\nheadrs = {}\n" + GOOD,
            "judge.mcp_servers[0].headrs",
            "",
        ),
    ],
)
def test_unknown_keys_are_refused_with_the_nearest(tmp_path: Path, text: str, key: str, hint: str) -> None:
    """2: unknown keys."""
    (problem,) = refused(tmp_path, text)
    assert problem.key == key
    assert "unknown key" in problem.message
    assert hint in problem.hint


def test_annotations_hold_anything(tmp_path: Path) -> None:
    """2: unknown keys are refused everywhere else."""
    assert llm(tmp_path, f"{GOOD}[criterion.annotations]\nwho = 'me'\ndeep = {{a = [1]}}\n").criteria


@pytest.mark.parametrize(
    ("lines", "negate", "optional"),
    [
        ('annotations = {type = "negative hurdle"}', True, False),
        ('annotations = {type = "Negative"}', True, False),
        ('annotations = {importance = "optional"}', False, True),
        ('annotations = {type = "negative", importance = "optional"}\nnegate = false\noptional = false', False, False),
        ('annotations = {type = "positive", importance = "must have"}', False, False),
    ],
)
def test_annotations_negate_and_exempt(tmp_path: Path, lines: str, negate: bool, optional: bool) -> None:
    """2: an explicit key wins."""
    criterion = llm(tmp_path, f"{GOOD}{lines}\n").criteria[0]
    assert (criterion.negate, criterion.optional) == (negate, optional)


def test_all_errors_of_a_folder_come_at_once_in_order(tmp_path: Path) -> None:
    """2: validation happens before any judge call."""
    problems = refused(
        tmp_path,
        {
            "a.toml": '[judge]\nmode = "x"\nsamples = 0\n',
            "b.toml": '[[criterion]]\ndescription = "x"\ntype = "y"\nweight = inf\n',
            "c.toml": "[judge\n",
            "sub/d.toml": f"[judge]\ntimeout = -1\n{GOOD}",
        },
    )
    assert [(Path(p.file).name, p.key, p.line) for p in problems] == [
        ("a.toml", "criterion", 1),
        ("a.toml", "judge.mode", 2),
        ("a.toml", "judge.samples", 3),
        ("b.toml", "criterion[0].type", 3),
        ("b.toml", "criterion[0].weight", 4),
        ("c.toml", "", 1),
        ("d.toml", "judge.timeout", 2),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[judge\n", 1),
        ('[judge]\njudge = "a\n', 2),
        ("[judge]\nsamples = 1\nsamples = 2\n", 3),
        ('[judge]\n\n\nx = """\nopen', 5),
        ("[judge]\nfiles = [\n  'a'\n  'b'\n]\n", 4),
    ],
)
def test_broken_toml_is_said_with_its_line_and_file(tmp_path: Path, text: str, line: int) -> None:
    """2: errors."""
    (problem,) = refused(tmp_path, text)
    assert (problem.line, Path(problem.file).name) == (line, "quality.toml")
    assert problem.message.startswith("not valid TOML")


def test_the_column_is_that_of_the_key(tmp_path: Path) -> None:
    problems = refused(tmp_path, f"  [judge]\n    samples = 0\n{GOOD}")
    assert [(p.line, p.column) for p in problems] == [(2, 5)]


def _find(root: Located, *path: str | int) -> tuple[int, int]:
    node, place = root, (1, 1)
    for key in path:
        if isinstance(key, str):
            place, node = node.keys[key], node.value[key]
        else:
            node = node.value[key]
            place = (node.line, node.column)
    return place


DOCUMENT = '''a.b."c.d" = 1
text = """
[not.a.table]
key = "\\""""" # two quotes before the end
raw = \'\'\'
[[nor.this]] # nor a comment \'\'\'
list = [ # comment ]
  "]", \'[\',
  {x = 1, y = [2]},
]
inline = {a = {b = "}"}}
[judge]
judge = "#"
[judge.deep."x y"]
z = 1
[[criterion]]
description = "one"
[[criterion]]
annotations.type = "n"
[[criterion.sub]]
q = 1
[[criterion.sub]]
 q = 2
[criterion.table]
r = 1
[ [ "spaced" ] ]
'''.replace("[ [", "[[").replace("] ]", "]]")


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("a",), (1, 1)),
        (("a", "b", "c.d"), (1, 1)),
        (("text",), (2, 1)),
        (("raw",), (5, 1)),
        (("list",), (7, 1)),
        (("list", 2, "x"), (7, 1)),
        (("inline",), (11, 1)),
        (("inline", "a", "b"), (11, 1)),
        (("judge",), (12, 1)),
        (("judge", "judge"), (13, 1)),
        (("judge", "deep", "x y"), (14, 1)),
        (("judge", "deep", "x y", "z"), (15, 1)),
        (("criterion",), (16, 1)),
        (("criterion", 0), (16, 1)),
        (("criterion", 0, "description"), (17, 1)),
        (("criterion", 1), (18, 1)),
        (("criterion", 1, "annotations", "type"), (19, 1)),
        (("criterion", 1, "sub", 0, "q"), (21, 1)),
        (("criterion", 1, "sub", 1), (22, 1)),
        (("criterion", 1, "sub", 1, "q"), (23, 2)),
        (("criterion", 1, "table", "r"), (25, 1)),
        (("spaced", 0), (26, 1)),
    ],
)
def test_where_keys_stand(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    """2: positions, with dotted keys, multi-line strings and arrays of tables."""
    root, problems = parse_toml(DOCUMENT, "x.toml")
    assert root is not None
    assert not problems
    assert root.plain() == tomllib.loads(DOCUMENT)
    assert _find(root, *path) == place


_KEYS = st.text("abcXYZ-_ .é\"'#[", min_size=1, max_size=6)
_TEXTS = st.text("ab\n\"'#[]{}=\\ ", max_size=12)
_VALUES = st.recursive(
    st.integers(-9, 9) | st.booleans() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=6,
)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _spelled(value: Any, *, inline: bool = False) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if "\n" in value and not inline:
            return '"""\n' + value.replace("\\", "\\\\").replace('"', '\\"') + '"""'
        return _quoted(value)
    if isinstance(value, list):
        gap = " " if inline else "\n  # ] note\n"
        return "[" + ",".join(gap + _spelled(item, inline=inline) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(k)} = {_spelled(v, inline=True)}" for k, v in value.items()) + "}"
    return str(value)


@given(st.lists(st.dictionaries(_KEYS, _VALUES, max_size=4), min_size=1, max_size=4), st.booleans())
def test_every_key_of_any_document_is_found_where_it_was_written(tables: list[dict[str, Any]], repeated: bool) -> None:
    """2: positions, of documents of any form."""
    lines = ""
    expected: dict[tuple[str | int, ...], int] = {}
    for index, table in enumerate(tables):
        path: tuple[str | int, ...] = ("t", index) if repeated else ("t", str(index))
        expected[path] = lines.count("\n") + 1
        lines += "[[t]]\n" if repeated else f"[t.{index}] # ]\n"
        for key, value in table.items():
            expected[*path, key] = lines.count("\n") + 1
            lines += f"{_quoted(key)} = {_spelled(value)} # = [\n"
    root, problems = parse_toml(lines, "x")
    assert root is not None, problems
    assert root.plain() == tomllib.loads(lines)
    for path, line in expected.items():
        assert _find(root, *path) == (line, 1), (lines, path)


@pytest.mark.parametrize("text", ["", "#", "\n\n", "a=1", "[a]", "a = 1\r\n[b]\r\nc = 2\r\n", "a = '''x''''\nb = 1\n"])
def test_documents_at_their_edges(text: str) -> None:
    root, _ = parse_toml(text, "x")
    assert root is not None
    assert root.plain() == tomllib.loads(text)


def test_names_are_slugs_of_descriptions(tmp_path: Path) -> None:
    """2: a name from the first 40 characters."""
    judge = llm(
        tmp_path, '[[criterion]]\ndescription = "Does the CLI: print `--help` -- and nothing more than that?"\n'
    )
    assert judge.criteria[0].name == "does_the_cli_print_help_and_noth"


def test_a_broken_criterion_does_not_move_the_errors_of_those_after_it(tmp_path: Path) -> None:
    """2: each problem at its place."""
    text = '[[criterion]]\ntype = "binary"\n[[criterion]]\ndescription = 1\n[[criterion]]\ndescription = ""\ntype = "x"'
    problems = refused(tmp_path, text)
    assert [(p.key, p.line) for p in problems] == [
        ("criterion[0]", 1),
        ("criterion[1].description", 4),
        ("criterion[2].type", 7),
    ]


def test_two_criteria_with_one_name_are_refused(tmp_path: Path) -> None:
    """2: names."""
    (problem,) = refused(tmp_path, GOOD + GOOD)
    assert (problem.key, problem.line) == ("criterion[1].name", 6)


def test_guard_is_no_name_while_the_judge_is_guarded(tmp_path: Path) -> None:
    """2: the name guard is reserved when guard is on."""
    assert llm(tmp_path / "off", criteria("guard")).criteria[0].name == "guard"
    (problem,) = refused(tmp_path, '[judge]\nguard = "flag"\n' + criteria("guard"))
    assert problem.key == "criterion[0].name"


def test_a_description_may_be_empty(tmp_path: Path) -> None:
    """2: required, may be empty."""
    done = judged(tmp_path, HEAD + '[[criterion]]\ndescription = ""\n', answers({"criterion_0": True}))
    assert (done.reward, done.row("criterion_0")["raw"]) == (1.0, "yes")


@pytest.mark.parametrize("agent", ["claude-code", "codex", "fx"])
def test_agents_are_named_as_judges(tmp_path: Path, agent: str) -> None:
    judge = loaded(tmp_path, {"a.toml": f'[judge]\njudge = "{agent}"\nmodel = "m"\n{GOOD}'}).judges[0]
    assert isinstance(judge, AgentJudge)
    assert (judge.agent.name, judge.model, judge.isolated) == (agent, "m", False)


def test_keys_of_agents_and_the_effort_of_fx_are_known(tmp_path: Path) -> None:
    """2: an agent's file is judged by a model when the run says so."""
    text = (
        '[judge]\njudge = "fx"\nmodel = "openai/m"\nversion = "v1.2.3"\nreasoning_effort = "auto"\nisolated = true\n'
        'cwd = "/app"\n[[judge.mcp_servers]]\nname = "a"\ntransport = "stdio"\ncommand = "npx"\n' + GOOD
    )
    judge = llm(tmp_path, text, overrides=Overrides(judge="openai/gpt-5.2", effort="low"))
    assert (judge.model, judge.effort) == ("openai/gpt-5.2", "low")


def test_overrides_stand_over_every_file(tmp_path: Path) -> None:
    """2: --judge and --reasoning-effort."""
    files = {"a.toml": HEAD + GOOD, "b/c.toml": '[judge]\njudge = "codex"\nreasoning_effort = "low"\n' + GOOD}
    suite = loaded(tmp_path, files, overrides=Overrides(judge="openai/other", effort="high"))
    assert [(j.model, j.effort) for j in suite.judges if isinstance(j, LLMJudge)] == [("openai/other", "high")] * 2


def test_overrides_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2, 8: REWARDKIT_JUDGE, REWARDKIT_REASONING_EFFORT, REWARDKIT_MODEL."""
    monkeypatch.setenv("REWARDKIT_JUDGE", "openai/from-env")
    monkeypatch.setenv("REWARDKIT_REASONING_EFFORT", "minimal")
    judge = llm(tmp_path / "llm", HEAD + GOOD, overrides=None)
    assert (judge.model, judge.effort) == ("openai/from-env", "minimal")
    monkeypatch.setenv("REWARDKIT_JUDGE", "jev")
    monkeypatch.setenv("REWARDKIT_MODEL", "typesafe-ai/jev")
    (decision,) = loaded(tmp_path / "jev", f'[judge]\nfiles = ["a.txt"]\n{GOOD}', overrides=None).judges
    assert getattr(decision, "model", "") == "typesafe-ai/jev"


def test_what_an_llm_judge_does_not_use_is_a_warning(tmp_path: Path) -> None:
    """2: model is for agents and JEV."""
    suite = loaded(tmp_path, f'[judge]\nmodel = "m"\nisolated = true\n{GOOD}')
    assert [(w.key, w.line) for w in suite.warnings] == [("judge.model", 2), ("judge.isolated", 3)]


@pytest.mark.parametrize(("score", "reward"), [(2, 1.0), (1, 0.0)])
def test_required_pass_takes_any_value_above_0(tmp_path: Path, score: int, reward: float) -> None:
    """0: value > 0."""
    text = (
        HEAD + criteria("a", keys='type = "likert"') + criteria("b", keys="optional = true")
    ) + '[scoring]\naggregation = "required-pass"\n'
    assert judged(tmp_path, text, answers({"a": score, "b": False})).reward == reward


def test_required_pass_without_a_required_criterion_warns_and_scores_0(tmp_path: Path) -> None:
    """0: warns and scores 0.0."""
    text = HEAD + criteria("a", keys="optional = true") + '[scoring]\naggregation = "required-pass"\n'
    done = judged(tmp_path, text, answers({"a": True}))
    assert done.reward == 0.0
    assert "every criterion is optional" in done.warnings


@pytest.mark.parametrize(
    ("rule", "keys", "values", "reward"),
    [
        ("weighted-mean", "", {"a": True, "b": False}, 0.5),
        ("all-pass", "", {"a": True, "b": False}, 0.0),
        ("any-pass", "", {"a": True, "b": False}, 1.0),
        ("threshold", "", {"a": True, "b": False}, 1.0),
        ("weighted-sum", "weight = -1", {"a": True, "b": True}, -2.0),
        ("weighted-sum", "weight = 2", {"a": True, "b": True}, 4.0),
        ("weighted-mean", "weight = 0", {"a": True, "b": True}, 0.0),
    ],
)
def test_aggregations(tmp_path: Path, rule: str, keys: str, values: dict[str, bool], reward: float) -> None:
    """6: a weighted sum may leave [0, 1]."""
    text = HEAD + criteria("a", "b", keys=keys) + f'[scoring]\naggregation = "{rule}"\n'
    assert judged(tmp_path, text, answers(values)).reward == reward

"""How LLM judges of a tests folder are asked, how their answers count, and what happens when there is none."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import OnError
from adjudge.formats.rewardkit import Overrides
from tests.support.judge_folders import GOOD, HEAD, MODEL, Judged, Script, answers, criteria, in_turn, judged, refused
from tests.support.replies import Empty, HttpError, Refusal, Reply, Stall, Text, Truncated, Usage, Verdict
from tests.support.request import Request

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def material(tmp_path: Path, files: dict[str, str | bytes], *named: str, keys: str = "") -> Judged:
    """One judge that is shown these files of the workspace."""
    text = f"{HEAD}files = {json.dumps(list(named))}\n{keys}\n{GOOD}"
    return judged(tmp_path, text, workspace=files)


def images(request: Request) -> int:
    return json.dumps(request.body).count('"image_url": {')


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-5-5", "openai/gpt-5.2", "claude-sonnet-5-5"])
def test_a_judge_without_files_is_asked_on_every_wire(tmp_path: Path, model: str) -> None:
    """3: Anthropic takes no request without a user's message."""
    done = judged(tmp_path, f'[judge]\njudge = "{model}"\n{GOOD}')
    (request,) = done.requests
    assert done.reward == 1.0
    assert request.wire == ("openai" if "openai" in model else "anthropic")
    assert request.prompt.strip()
    assert "Is it good?" in request.system


def test_a_batched_judge_is_one_request_with_every_criterion(tmp_path: Path) -> None:
    """2, 3: mode."""
    text = HEAD + criteria("a", "b") + criteria("c", keys='type = "rubric"\nlevels = ["poor", "rich"]')
    (request,) = judged(tmp_path, text, answers({"a": True, "b": True, "c": "rich"})).requests
    assert request.schema is not None
    assert list(request.schema["properties"]) == ["a", "b", "c"]
    for said in ("Ask a.", "Ask b.", "Ask c.", "poor", "rich"):
        assert said in request.system


def test_an_individual_judge_is_one_request_a_criterion_with_its_own_files(tmp_path: Path) -> None:
    """2: criteria without files fall back to those of the judge."""
    text = (
        f'{HEAD}mode = "individual"\nfiles = ["common.txt"]\n'
        + criteria("a", keys='files = ["own.txt"]')
        + criteria("b", "c")
    )
    done = judged(
        tmp_path,
        text,
        answers({"a": True, "b": False, "c": True}),
        workspace={"common.txt": "COMMON", "own.txt": "OWN"},
    )
    seen = {name: r.prompt for r in done.requests for name in "abc" if f"Ask {name}." in r.system}
    assert len(done.requests) == 3
    assert ("OWN" in seen["a"], "COMMON" in seen["a"]) == (True, False)
    assert ("OWN" in seen["b"], "COMMON" in seen["b"], "COMMON" in seen["c"]) == (False, True, True)
    assert [row["value"] for row in done.leaf["criteria"]] == [1.0, 0.0, 1.0]
    assert done.leaf["judge"]["mode"] == "individual"


@pytest.mark.parametrize("cap", [1, 4, 8])
def test_no_more_requests_are_under_way_than_allowed(tmp_path: Path, cap: int) -> None:
    """8, 11.4: the limit counts requests, over criteria, samples and files."""
    text = f'{HEAD}mode = "individual"\nsamples = 2\n' + criteria(*(f"c{k}" for k in range(12)))
    files = {"one.toml": text, "two.toml": text.replace("Ask", "Say")}
    done = judged(tmp_path, files, latency=0.03, max_concurrency=cap)
    assert len(done.requests) == 48
    assert done.max_in_flight <= cap
    assert done.reward == 1.0


@pytest.mark.parametrize(
    ("keys", "said", "raw", "value"),
    [
        ("", True, "yes", 1.0),
        ("", False, "no", 0.0),
        ('type = "likert"', 1, 1, 0.0),
        ('type = "likert"', 4, 4, 0.75),
        ('type = "likert"\npoints = 3', 2, 2, 0.5),
        ('type = "numeric"\nmin = 0\nmax = 100', 30, 30, 0.3),
        ('type = "numeric"\nmin = -1', 0.5, 0.5, 0.75),
        ('type = "rubric"\nlevels = ["x", "y", "z"]', "y", 1, 0.5),
        ('type = "rubric"\nlevels = ["x", "y", "z"]', "z", 2, 1.0),
        ("negate = true", True, "yes", 0.0),
        ('type = "likert"\nnegate = true', 4, 4, 0.25),
        ('type = "rubric"\nlevels = ["x", "y", "z"]\nnegate = true', "x", 0, 1.0),
    ],
)
def test_answers_are_normalised_and_kept_as_they_were(
    tmp_path: Path, keys: str, said: Any, raw: Any, value: float
) -> None:
    """3, 7: yes and no, the number of a level."""
    row = judged(tmp_path, HEAD + criteria("a", keys=keys), answers({"a": said})).row("a")
    assert (row["raw"], row["value"], row["reasoning"]) == (raw, value, "because")
    assert row.get("negate", False) is ("negate" in keys)
    assert "error" not in row


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("", "yes"),
        ("", "Yes, mostly"),
        ("", 1),
        ('type = "likert"', 9999),
        ('type = "likert"', 0),
        ('type = "likert"', 2.5),
        ('type = "likert"', "4"),
        ('type = "likert"', True),
        ('type = "numeric"', 1.01),
        ('type = "numeric"', -0.01),
        ('type = "rubric"\nlevels = ["x", "y"]', 1),
        ('type = "rubric"\nlevels = ["x", "y"]', "nearly y"),
        ("", None),
    ],
)
def test_an_answer_off_its_scale_is_no_score(tmp_path: Path, keys: str, said: Any) -> None:
    """11.8: neither clamped nor guessed; asked three times."""
    done = judged(tmp_path, HEAD + criteria("a", keys=keys), answers({"a": said}))
    assert len(done.requests) == 3
    assert done.reward is None
    row = done.row("a")
    assert (row["value"], row["raw"]) == (0.0, None)
    assert row["unscored"] in ("unparseable", "off_scale")
    assert done.leaf["score"] is None
    assert done.leaf["error"]


def test_an_answer_is_asked_for_again_with_what_was_wrong(tmp_path: Path) -> None:
    """3: three attempts."""
    done = judged(tmp_path, HEAD + criteria("a", keys='type = "likert"'), in_turn({"a": 7}, {"a": 3}))
    assert (done.reward, len(done.requests)) == (0.5, 2)
    assert "7 is not a whole number from 1 to 5" in json.dumps(done.requests[1].body)


def test_what_one_answer_leaves_open_another_fills_in(tmp_path: Path) -> None:
    """11.1: a paid criterion is not lost with its neighbour."""
    text = HEAD + criteria("a") + criteria("b", keys='type = "likert"')
    done = judged(tmp_path, text, in_turn({"a": True, "b": 8}, {"a": False, "b": 9}))
    assert done.row("a")["raw"] == "yes"
    assert done.row("b")["unscored"] == "off_scale"


def test_details_carry_ids_weights_and_descriptions(tmp_path: Path) -> None:
    """7: criteria."""
    text = HEAD + criteria("a", keys='id = "1.1"\nweight = 2.5') + criteria("b", keys="optional = true")
    done = judged(tmp_path, text, answers({"a": True, "b": False}))
    assert done.leaf["criteria"] == [
        {
            "id": "1.1",
            "name": "a",
            "value": 1.0,
            "raw": "yes",
            "weight": 2.5,
            "description": "Ask a.",
            "reasoning": "because",
        },
        {
            "name": "b",
            "value": 0.0,
            "raw": "no",
            "weight": 1.0,
            "description": "Ask b.",
            "reasoning": "because",
            "optional": True,
        },
    ]


def test_details_carry_the_settings_of_the_judge(tmp_path: Path) -> None:
    """7: judge."""
    text = f'{HEAD}files = ["a.txt"]\nreference = "r.txt"\ntimeout = 9\nreasoning_effort = "low"\n{GOOD}'
    done = judged(tmp_path, text, workspace={"a.txt": "A", "r.txt": "R"})
    assert done.leaf["kind"] == "llm"
    assert done.leaf["judge"] == {
        "model": MODEL,
        "reasoning_effort": "low",
        "timeout": 9,
        "files": ["a.txt"],
        "atif_trajectory": None,
        "reference": "r.txt",
        "mode": "batched",
        "samples": 1,
        "guard": "off",
    }
    assert json.loads(done.leaf["judge_output"]) == {"good": {"score": "yes", "reasoning": "ok"}}
    assert "guard" not in done.leaf


def test_a_template_takes_the_place_of_the_prompt(tmp_path: Path) -> None:
    """2: every {criteria} in it is replaced."""
    files = {
        "quality.toml": f'{HEAD}prompt_template = "lib/t.md"\nfiles = ["a.txt"]\n' + criteria("a", "b"),
        "lib/t.md": "MINE {criteria} AND {criteria} {other} { }\n",
    }
    (request,) = judged(tmp_path, files, workspace={"a.txt": "WORK"}).requests
    assert request.system.startswith("MINE ")
    assert request.system.count("Ask a.") == request.system.count("Ask b.") == 2
    assert "{other} { }" in request.system
    assert "You judge the work" not in request.system
    assert "WORK" in request.prompt


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.md", "no place", "must contain {criteria}"),
        ("t.md", "{ criteria }", "must contain {criteria}"),
        ("t.md", b"\xff{criteria}", "not UTF-8"),
        ("t.py", "{criteria}", ".txt or .md"),
    ],
)
def test_a_template_that_cannot_be_used(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    """2: prompt_template."""
    (problem,) = refused(tmp_path, {"quality.toml": f'[judge]\nprompt_template = "{name}"\n{GOOD}', name: content})
    assert (problem.key, problem.line) == ("judge.prompt_template", 2)
    assert message in problem.message


def test_relative_files_are_found_in_the_workspace_and_then_here(tmp_path: Path) -> None:
    """0: paths of the workspace."""
    (tmp_path / "both.txt").write_text("HERE")
    (tmp_path / "here.txt").write_text("ONLY-HERE")
    done = material(tmp_path, {"both.txt": "APP", "sub/x.txt": "DEEP"}, "both.txt", "here.txt", "sub/x.txt")
    prompt = done.requests[0].prompt
    assert "APP" in prompt
    assert "ONLY-HERE" in prompt
    assert "DEEP" in prompt
    assert "HERE\n" in prompt
    assert prompt.count("HERE") == 1
    assert done.warnings == "here.txt: found in the current directory, not in the workspace"


def test_absolute_files_are_shown_under_their_path(tmp_path: Path) -> None:
    done = material(tmp_path, {"a.txt": "ALPHA"}, str(tmp_path / "app" / "a.txt"))
    assert "ALPHA" in done.requests[0].prompt
    assert str(tmp_path / "app" / "a.txt") in done.requests[0].prompt


def test_a_reference_is_shown_as_what_it_is(tmp_path: Path) -> None:
    """3: reference."""
    done = material(tmp_path, {"a.txt": "WORK", "r.txt": "MODEL-ANSWER"}, "a.txt", keys='reference = "r.txt"')
    prompt = done.requests[0].prompt
    assert prompt.index("WORK") < prompt.index("## Reference solution") < prompt.index("MODEL-ANSWER")


def test_a_folder_is_shown_with_all_below_it(tmp_path: Path) -> None:
    """11.7: recursive, and what is left out is said."""
    files: dict[str, str | bytes] = {
        "d/b.txt": "BETA",
        "d/a.txt": "ALPHA",
        "d/deep/er/c.txt": "GAMMA",
        "d/.env": "SECRET",
    }
    done = material(tmp_path, files, "d")
    prompt = done.requests[0].prompt
    assert prompt.index("ALPHA") < prompt.index("BETA") < prompt.index("GAMMA")
    assert "SECRET" not in prompt
    assert "d/.env: not shown: hidden" in done.warnings


def test_a_file_that_is_named_twice_is_shown_once(tmp_path: Path) -> None:
    """3: files."""
    done = material(tmp_path, {"d/a.txt": "ALPHA"}, "d/a.txt", "d", "d/a.txt")
    assert done.requests[0].prompt.count("ALPHA") == 1


def test_a_hidden_file_that_is_named_is_shown(tmp_path: Path) -> None:
    """3: dropped without a marker there."""
    assert "ALPHA" in material(tmp_path, {".config": "ALPHA"}, ".config").requests[0].prompt


@pytest.mark.parametrize(
    ("files", "named", "note"),
    [
        ({}, "gone.txt", "gone.txt: not found"),
        ({"l.txt": "caf\u00e9".encode("latin-1")}, "l.txt", "not UTF-8"),
        ({"b.bin": b"\x00\x01\x02\xff"}, "b.bin", "binary"),
        ({"big.txt": "x" * 1_200_000}, "big.txt", "cut to"),
        ({"empty.txt": ""}, "empty.txt", "empty"),
        ({"bad.xlsx": b"PK\x03\x04\xff\xfebroken"}, "bad.xlsx", "bad.xlsx: unreadable"),
        ({"empty.png": b""}, "empty.png", "empty"),
    ],
    ids=["missing", "latin-1", "binary", "large", "empty", "document", "image"],
)
def test_what_is_not_shown_as_it_is_is_said(
    tmp_path: Path, files: dict[str, str | bytes], named: str, note: str
) -> None:
    """11.7: warnings, in the details and to the model; the judge is asked all the same."""
    done = material(tmp_path, files, named)
    assert done.reward == 1.0
    assert note in done.warnings
    assert named in done.requests[0].prompt


def test_latin_1_text_is_readable(tmp_path: Path) -> None:
    """11.1: one byte of it ends a run there."""
    done = material(tmp_path, {"l.txt": "un caf\u00e9 noir".encode("latin-1")}, "l.txt")
    assert "un café noir" in done.requests[0].prompt


def test_images_are_shown_to_models_of_any_name(tmp_path: Path) -> None:
    """11.6: also where no table knows the model."""
    text = f'[judge]\njudge = "openai/my-own-model"\nfiles = ["p.png", "a.txt"]\n{GOOD}'
    done = judged(tmp_path, text, workspace={"p.png": PNG, "a.txt": "ALPHA"})
    assert done.reward == 1.0
    assert images(done.requests[0]) == 1
    assert "ALPHA" in done.requests[0].prompt


def test_documents_are_shown_as_text(tmp_path: Path) -> None:
    """3: documents."""
    pytest.importorskip("markitdown")
    openpyxl: Any = pytest.importorskip("openpyxl")

    book = openpyxl.Workbook()
    book.active["A1"] = "CELL-CONTENT"
    book.save(tmp_path / "b.xlsx")
    done = material(tmp_path, {"b.xlsx": (tmp_path / "b.xlsx").read_bytes()}, "b.xlsx")
    assert "CELL-CONTENT" in done.requests[0].prompt


@pytest.mark.parametrize(("keys", "shown"), [("", False), ('html = "source"', True)])
def test_html_as_text_or_as_source(tmp_path: Path, keys: str, shown: bool) -> None:
    """3: HTML source cannot be judged as source there."""
    page = "<html><body class='k'><p>WORDS</p></body></html>"
    prompt = material(tmp_path, {"p.html": page}, "p.html", keys=keys).requests[0].prompt
    assert "WORDS" in prompt
    assert ("class='k'" in prompt) is shown


def test_a_time_out_counts_as_0_with_an_error_and_a_warning(tmp_path: Path) -> None:
    """3: value 0.0, raw null, full weight; the other criteria keep theirs."""
    text = f'{HEAD}mode = "individual"\ntimeout = 1\n' + criteria("a", "b", keys="weight = 2")
    script: Callable[[Request], Reply] = lambda r: Stall() if "Ask a." in r.system else answers({"b": True})(r)  # noqa: E731
    done = judged(tmp_path, text, script)
    assert done.reward == 0.5
    row = done.row("a")
    assert (row["value"], row["raw"], row["weight"], row["unscored"]) == (0.0, None, 2.0, "timeout")
    assert row["error"]
    assert "counted as 0" in done.warnings
    assert "a" in done.warnings


def test_a_time_out_counts_as_0_for_a_negated_criterion_too(tmp_path: Path) -> None:
    """6: negated too."""
    done = judged(tmp_path, f"{HEAD}timeout = 1\n" + criteria("a", keys="negate = true"), [Stall()])
    assert done.reward == 0.0
    assert done.row("a")["value"] == 0.0


FAILURES: dict[str, Script] = {
    "overloaded for ever": [HttpError(429)],
    "broken for ever": [HttpError(500)],
    "not allowed": [HttpError(401)],
    "refused": [Refusal("I would rather not.")],
    "no JSON": [Text("I think that it is good.")],
    "cut": [Truncated({"rationale": "long", "passed": True})],
    "nothing": [Empty()],
    "null": [Verdict({"rationale": "x", "passed": None})],
}


@pytest.mark.parametrize("policy", [OnError.FAIL, OnError.ZERO])
@pytest.mark.parametrize("script", FAILURES.values(), ids=FAILURES)
def test_a_failure_is_no_score_and_costs_no_other_input(tmp_path: Path, script: list[Reply], policy: OnError) -> None:
    """11.1: the reward has no value, or the criterion counts as 0 where the user says so."""
    files = {"bad.toml": HEAD + criteria("a"), "fine.toml": HEAD.replace("gpt-5.2", "gpt-5.1") + criteria("b")}
    done = judged(
        tmp_path,
        files,
        lambda r: answers({"b": True})(r) if r.model == "gpt-5.1" else script[0],
        on_error=policy,
    )
    bad, fine = (component["detail"] for component in done.details["reward"]["components"])
    assert fine["score"] == 1.0
    assert bad["criteria"][0]["error"]
    assert bad["criteria"][0]["unscored"] != "timeout"
    if policy is OnError.FAIL:
        assert (done.reward, bad["score"]) == (None, None)
        assert done.details["reward"]["error"].startswith("bad: ")
    else:
        assert (done.reward, bad["score"]) == (0.5, 0.0)
        assert "counted as 0" in bad["warnings"][0]


def test_an_overload_is_tried_again(tmp_path: Path) -> None:
    """11.2: on both wires."""
    for model in ("anthropic/claude-sonnet-5-5", MODEL):
        script = [HttpError(429), HttpError(529), HttpError(500), Verdict({"rationale": "x", "passed": True})]
        done = judged(tmp_path / model, f'[judge]\njudge = "{model}"\n{GOOD}', script)
        assert (done.reward, len(done.requests)) == (1.0, 4)


@pytest.mark.parametrize(
    ("model", "usage", "expected"),
    [
        (
            "claude-sonnet-5-5",
            Usage(input=10, output=30, cache_read=7, cache_write=5, reasoning=20),
            {
                "input_tokens": 22,
                "cache_creation_input_tokens": 5,
                "cache_read_input_tokens": 7,
                "output_tokens": 30,
                "reasoning_output_tokens": 20,
                "total_tokens": 52,
            },
        ),
        (
            "openai/gpt-5.2",
            Usage(input=10, output=30, cache_read=7, reasoning=20),
            {
                "input_tokens": 17,
                "cache_read_input_tokens": 7,
                "output_tokens": 30,
                "reasoning_output_tokens": 20,
                "total_tokens": 47,
            },
        ),
    ],
)
def test_usage_is_spelled_out(tmp_path: Path, model: str, usage: Usage, expected: dict[str, int]) -> None:
    """7: usage, by model too."""
    done = judged(tmp_path, f'[judge]\njudge = "{model}"\n{GOOD}', answers({"good": True}, usage=usage))
    said = done.leaf["usage"]
    assert {key: said[key] for key in said if key.endswith("_tokens")} == expected
    (by_model,) = said["models"].values()
    assert {key: by_model[key] for key in expected} == expected


def test_usage_has_a_cost_where_the_price_is_known_and_none_where_not(tmp_path: Path) -> None:
    """7: cost_usd is omitted if any part is unpriced."""
    priced = judged(tmp_path / "a", f'[judge]\njudge = "openai/gpt-5"\n{GOOD}').leaf["usage"]
    assert priced["cost_usd"] > 0
    assert priced["cost_source"]
    unpriced = judged(tmp_path / "b", f'[judge]\njudge = "openai/my-own-model"\n{GOOD}').leaf["usage"]
    assert "cost_usd" not in unpriced
    assert "cost_source" not in unpriced


def test_usage_of_several_calls_is_added_up(tmp_path: Path) -> None:
    """7: one usage a judge; what a call cost counts once for all its criteria."""
    text = f"{HEAD}samples = 3\n" + criteria("a", "b")
    usage = judged(tmp_path, text, answers({"a": True, "b": True}, usage=Usage(input=100, output=10))).leaf["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (300, 30, 330)


def test_the_run_asks_the_model_that_it_was_told_to(tmp_path: Path) -> None:
    """8: --judge."""
    files = {"a.toml": HEAD + GOOD, "b.toml": '[judge]\njudge = "codex"\n' + GOOD}
    done = judged(tmp_path, files, overrides=Overrides(judge="anthropic/claude-sonnet-5-5", effort="none"))
    assert {request.model for request in done.requests} == {"claude-sonnet-5-5"}

"""Where Reward Kit is weak, by the numbers of the inventory's section 11; gates are its tenth."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import ConfigError
from tests.support.judge_folders import GOOD, HEAD, MODEL, answers, criteria, judged, llm, loaded, put, refused
from tests.support.llm import QUICK, call, environment
from tests.support.provider import LoopbackProvider, default_reply
from tests.support.replies import Empty, HttpError, Reply, Stall, Text, Verdict
from tests.support.request import Request

PYTHON = "import rewardkit as rk\n"
GATE = '[[reward]]\nname = "reward"\ngate = "checks"\n'


def test_a_crash_costs_neither_the_other_criteria_nor_a_paid_judge(tmp_path: Path) -> None:
    """11.1."""
    files = {
        "checks.py": f'{PYTHON}rk.file_exists("a.txt")\n@rk.criterion\ndef boom(ws):\n    raise KeyError("why")\n',
        "quality.toml": HEAD + GOOD,
    }
    done = judged(tmp_path, files, workspace={"a.txt": "x"})
    checks, quality = (c["detail"] for c in done.details["reward"]["components"])
    assert done.reward is None
    assert (quality["score"], checks["score"]) == (1.0, None)
    assert [row["value"] for row in checks["criteria"]] == [1.0, 0.0]
    assert "why" in checks["criteria"][1]["error"]


def test_one_byte_of_a_submission_ends_nothing(tmp_path: Path) -> None:
    """11.1: a file that is not UTF-8, on disk and on a command's output."""
    files = {
        "checks.py": f"{PYTHON}rk.file_contains('l.txt', 'caf')\nrk.command_succeeds('cat l.txt')\n",
        "quality.toml": f'{HEAD}files = ["l.txt"]\n{GOOD}',
    }
    assert judged(tmp_path, files, workspace={"l.txt": "caf\u00e9".encode("latin-1")}).reward == 1.0


@pytest.mark.parametrize("status", [429, 500, 529])
@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-5-5", MODEL])
def test_one_failed_call_is_tried_again_on_every_wire(tmp_path: Path, model: str, status: int) -> None:
    """11.2."""
    text = f'[judge]\njudge = "{model}"\n{GOOD}'
    done = judged(tmp_path, text, lambda r: HttpError(status) if r.index == 0 else default_reply(r))
    assert (done.reward, len(done.requests)) == (1.0, 2)


def test_a_time_out_can_be_told_from_bad_work(tmp_path: Path) -> None:
    """11.3: the value is the same, nothing else is."""
    slow = judged(tmp_path / "slow", f"{HEAD}timeout = 1\n{GOOD}", [Stall()])
    poor = judged(tmp_path / "poor", HEAD + GOOD, answers({"good": False}))
    assert slow.reward == poor.reward == 0.0
    assert slow.row("good")["unscored"] == "timeout"
    assert not {"error", "unscored"} & set(poor.row("good"))
    assert slow.result.summary("quality").unscored == 1
    assert poor.result.summary("quality").unscored == 0


def test_the_flag_bounds_individual_mode(tmp_path: Path) -> None:
    """11.4: 8 requests under way by default, whatever a file asks for."""
    text = f'{HEAD}mode = "individual"\n' + criteria(*(f"c{k}" for k in range(40)))
    tests, home = put(tmp_path / "tests", {"quality.toml": text}), put(tmp_path / "app", {})
    output = tmp_path / "out" / "reward.json"
    with LoopbackProvider(latency=0.02) as provider:
        env = environment(tmp_path, provider)
        ran = call("rewardkit", tests, "--workspace", home, "--output", output, cwd=tmp_path, env=env)
        assert provider.max_in_flight <= 8
        assert len(provider.requests) == 40
    assert ran.returncode == 0, ran.stderr
    assert json.loads(output.read_text()) == {"reward": 1.0}


@pytest.mark.parametrize("keys", ["", 'reasoning_effort = "none"'])
@pytest.mark.parametrize("model", ["openai/gpt-4o", "openai/gpt-4.1", "openai/my-own-model"])
def test_models_that_take_no_effort_are_asked_without(tmp_path: Path, model: str, keys: str) -> None:
    """11.5."""

    def script(request: Request) -> Reply:
        if "reasoning_effort" in request.body:
            return HttpError(400, message="Unrecognized request argument supplied: reasoning_effort")
        return default_reply(request)

    done = judged(tmp_path, f'[judge]\njudge = "{model}"\n{keys}\n{GOOD}', script)
    assert done.reward == 1.0


def test_a_model_of_any_name_is_shown_images_and_trajectories(tmp_path: Path) -> None:
    """11.6."""
    text = f'[judge]\njudge = "openai/my-own"\nfiles = ["p.png"]\natif-trajectory = "t.json"\n{GOOD}'
    files: dict[str, str | bytes] = {"p.png": b"\x89PNG", "t.json": '{"steps": [{"message": "DID-IT"}]}'}
    done = judged(tmp_path, text, workspace=files)
    assert done.reward == 1.0
    assert "DID-IT" in done.requests[0].prompt
    assert '"image_url"' in json.dumps(done.requests[0].body)


def test_a_large_file_is_shown_from_both_ends(tmp_path: Path) -> None:
    """11.7: skipped above 1 MiB there."""
    work = "FIRST " + "x" * 1_300_000 + " LAST"
    text = f'[judge]\njudge = "claude-sonnet-5-5"\nfiles = ["a.txt"]\n{GOOD}'
    done = judged(tmp_path, text, workspace={"a.txt": work})
    assert "FIRST" in done.requests[0].prompt
    assert "LAST" in done.requests[0].prompt
    assert "a.txt: cut to" in done.warnings


def test_the_number_of_images_has_a_limit_that_is_said(tmp_path: Path) -> None:
    """11.7: none there."""
    files = {f"d/{k:02}.png": b"\x89PNG" + bytes([k]) for k in range(23)}
    done = judged(tmp_path, f'{HEAD}files = ["d"]\n{GOOD}', workspace=files)
    assert json.dumps(done.requests[0].body).count('"image_url": {') == 20
    assert done.warnings.count("more than 20 images") == 3


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", MODEL])
def test_reasons_come_before_scores_and_the_schema_has_the_range(tmp_path: Path, model: str) -> None:
    """11.8."""
    text = (
        f'[judge]\njudge = "{model}"\n'
        + criteria("a", keys='type = "likert"\npoints = 7')
        + criteria("b", keys='type = "numeric"\nmin = -1\nmax = 2.5')
        + criteria("c", keys='type = "rubric"\nlevels = ["x", "y"]')
    )
    (request,) = judged(tmp_path, text).requests
    fields = {name: schema["properties"] for name, schema in (request.schema or {})["properties"].items()}
    assert all(next(iter(field)) == "rationale" and len(field) == 2 for field in fields.values())
    a, b, c = (field["score"] for field in fields.values())
    assert (a["type"], a["minimum"], a["maximum"]) == ("integer", 1, 7)
    assert (b["minimum"], b["maximum"]) == (-1, 2.5)
    assert c["enum"] == ["x", "y"]


FENCE = "it prints ```json\n{}\n``` as asked"
SAID = json.dumps({"rationale": "fine", "passed": True})


@pytest.mark.parametrize(
    "reply",
    [
        Verdict({"rationale": FENCE, "passed": True}),
        Text(json.dumps({"rationale": FENCE, "passed": True})),
        Text(f"The file has a {{brace}} and more.\n\n{SAID}"),
        Text(f"```json\n{SAID}\n```"),
    ],
)
def test_a_verdict_is_read_among_fences_and_braces(tmp_path: Path, reply: Reply) -> None:
    """11.9."""
    done = judged(tmp_path, HEAD + GOOD, [reply])
    assert (done.reward, len(done.requests)) == (1.0, 1)


@pytest.mark.parametrize("reply", [Empty(), Verdict({"rationale": "x", "passed": None})])
def test_nothing_in_the_place_of_an_answer_is_asked_for_again(tmp_path: Path, reply: Reply) -> None:
    """11.9: one attempt there."""
    done = judged(tmp_path, HEAD + GOOD, lambda r: reply if r.index == 0 else default_reply(r))
    assert (done.reward, len(done.requests)) == (1.0, 2)


@pytest.mark.parametrize(("exists", "reward", "asked"), [(False, 0.0, 0), (True, 0.75, 1)])
def test_a_gate_that_fails_is_0_and_asks_no_judge_below_it(
    tmp_path: Path, exists: bool, reward: float, asked: int
) -> None:
    """11.10: a binary gate zeroes a weighted mean."""
    files = {
        "reward.toml": GATE,
        "checks.py": f'{PYTHON}rk.file_exists("a.txt")\n',
        "quality.toml": HEAD + criteria("a", "b"),
    }
    workspace = {"a.txt": "x"} if exists else {}
    done = judged(tmp_path, files, answers({"a": True, "b": False}), workspace=workspace)
    assert (done.reward, len(done.requests)) == (reward, asked)
    if not exists:
        assert done.details["reward"]["gate"] == "checks is below 1, so the score is 0"
        quality = next(c["detail"] for c in done.details["reward"]["components"] if c["name"] == "quality")
        assert {row["unscored"] for row in quality["criteria"]} == {"skipped"}


@pytest.mark.parametrize(("passed", "reward", "asked"), [(False, 0.0, 1), (True, 1.0, 3)])
def test_a_gate_may_be_a_judge(tmp_path: Path, passed: bool, reward: float, asked: int) -> None:
    """11.10: it is asked first, and the others only if it passes."""
    files = {
        "reward.toml": GATE,
        "checks.toml": HEAD + criteria("first"),
        "quality.toml": f'{HEAD}mode = "individual"\n' + criteria("a", "b"),
    }
    done = judged(tmp_path, files, answers({"first": passed, "a": True, "b": True}), latency=0.02)
    assert (done.reward, len(done.requests)) == (reward, asked)
    assert "Ask first." in done.requests[0].system


@pytest.mark.parametrize(("score", "reward"), [(2, 0.0), (3, 0.75)])
def test_a_gate_has_a_threshold(tmp_path: Path, score: int, reward: float) -> None:
    """11.10."""
    files = {
        "reward.toml": f"{GATE}gate_threshold = 0.5\n",
        "checks.toml": HEAD + criteria("a", keys='type = "likert"'),
        "quality.toml": HEAD + criteria("b"),
    }
    assert judged(tmp_path, files, answers({"a": score, "b": True})).reward == reward


def test_a_gate_without_a_value_is_no_0(tmp_path: Path) -> None:
    """11.1, 11.10: an error is never a score."""
    files = {"reward.toml": GATE, "checks.toml": HEAD + criteria("a"), "quality.toml": HEAD + criteria("b")}
    done = judged(tmp_path, files, lambda r: HttpError(400) if "Ask a." in r.system else default_reply(r))
    assert done.reward is None
    assert "checks" in done.details["reward"]["error"]


def test_a_gate_in_a_folder_below_asks_no_judge_of_that_folder(tmp_path: Path) -> None:
    """11.10: the judges of other folders are asked."""
    files = {
        "code/reward.toml": '[[reward]]\ngate = "checks"\n',
        "code/checks.py": f'{PYTHON}rk.file_exists("gone")\n',
        "code/style.toml": HEAD + criteria("a"),
        "tone/tone.toml": HEAD + criteria("b"),
    }
    done = judged(tmp_path, files, answers({"a": True, "b": True}))
    assert done.scores == {"code": 0.0, "tone": 1.0}
    assert ["Ask b." in request.system for request in done.requests] == [True]


def test_a_gate_that_is_no_input_is_an_error_with_the_nearest(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, {"reward.toml": GATE, "check.toml": HEAD + GOOD})
    assert (problem.key, problem.line) == ("reward[0].gate", 3)
    assert "check" in problem.hint


def test_a_readme_on_evaluation_is_a_note_and_no_penalty(tmp_path: Path) -> None:
    """11.12: only what the judge itself says penalises."""
    text = f'{HEAD}guard = "penalize"\nfiles = ["README.md"]\n{GOOD}'
    readme = {"README.md": "# Evals\nThe judge gives a score from 1 to 5 to each answer."}
    done = judged(tmp_path, text, answers({"good": True, "guard": False}), workspace=readme)
    assert done.reward == 1.0


def test_every_sample_is_kept_with_its_reasons(tmp_path: Path) -> None:
    """11.13: a median hides no spread."""
    said = [Verdict({"rationale": f"because {k}", "score": k}) for k in (1, 5, 4)]
    text = f"{HEAD}samples = 3\n" + criteria("a", keys='type = "likert"')
    done = judged(tmp_path, text, said, max_concurrency=1)
    samples = done.result.score("workspace", "quality", "a").samples
    assert sorted((s.value, s.rationale) for s in samples) == [(k, f"because {k}") for k in (1, 4, 5)]
    assert done.result.summary("quality", "a").stability is not None


TWINS = "Does the answer explain every step that "


@pytest.mark.parametrize("mode", ["batched", "individual"])
@pytest.mark.parametrize(
    "descriptions",
    [
        (f"{TWINS}was taken?", f"{TWINS}was left out?", f"{TWINS}was planned?"),
        ("正确吗？", "可读吗？", "Правильно?"),
        ("", "", "?!"),
        ("criterion 1", "正确吗？", "criterion 1"),
    ],
    ids=["twins", "not ASCII", "empty", "collision"],
)
def test_descriptions_of_any_kind_make_names_that_differ(
    tmp_path: Path, mode: str, descriptions: tuple[str, ...]
) -> None:
    """11.14."""
    text = f'{HEAD}mode = "{mode}"\n' + "".join(f'[[criterion]]\ndescription = "{d}"\n' for d in descriptions)
    done = judged(tmp_path, text)
    names = [row["name"] for row in done.leaf["criteria"]]
    assert len(set(names)) == len(descriptions)
    assert all(names)
    assert done.reward == 1.0
    asked = "\n".join(request.system for request in done.requests)
    assert all(description in asked for description in descriptions)


def test_a_generated_name_gives_way_to_a_written_one(tmp_path: Path) -> None:
    """11.14."""
    judge = llm(tmp_path, '[[criterion]]\ndescription = "good"\n' + GOOD)
    assert [criterion.name for criterion in judge.criteria] == ["good_2", "good"]


def test_a_scale_with_anchors_of_its_own(tmp_path: Path) -> None:
    """11.15: the levels are told in the author's words, and a likert scale says its own range."""
    text = HEAD + criteria("a", keys='type = "rubric"\nlevels = ["0: broken", "1: works"]')
    done = judged(tmp_path, text, answers({"a": "1: works"}))
    assert "0: broken" in done.requests[0].system
    assert "from 1 to 5" not in done.requests[0].system
    assert done.row("a")["raw"] == 1


def test_the_weight_of_every_input_can_be_set_in_one_place(tmp_path: Path) -> None:
    """11.16: a Python file counts 1, whatever it holds, unless it is told otherwise."""
    files = {
        "reward.toml": '[[reward]]\nname = "reward"\nweights = {checks = 3}\n',
        "checks.py": f'{PYTHON}rk.file_exists("gone")\nrk.file_exists("gone too", weight=9)\n',
        "quality.toml": HEAD + criteria("a"),
    }
    done = judged(tmp_path, files, answers({"a": True}))
    assert done.reward == 0.25
    weights = {c["name"]: c["weight"] for c in done.details["reward"]["components"]}
    assert weights == {"checks": 3.0, "quality": 1.0}


def test_a_module_beside_a_criteria_file_can_be_imported(tmp_path: Path) -> None:
    """11.17."""
    files = {"lib.py": "NAME = 'a.txt'\n", "checks.py": f"{PYTHON}import lib\nrk.file_exists(lib.NAME)\n"}
    assert judged(tmp_path, files, workspace={"a.txt": ""}).reward == 1.0


def test_an_error_is_read_at_one_glance(tmp_path: Path) -> None:
    """11.18: file, line, column, key; no traceback."""
    tests = put(tmp_path / "tests", {"a.toml": "[judge]\nsamples = 0\n" + GOOD, "b.toml": "[judge\n"})
    ran = call("rewardkit", tests, "--output", tmp_path / "o.json", cwd=tmp_path, env=environment(tmp_path))
    assert ran.returncode == 2
    assert f"{tests}/a.toml:2:1" in ran.stderr
    assert "judge.samples" in ran.stderr
    assert f"{tests}/b.toml:1:" in ran.stderr
    assert "Traceback" not in ran.stderr + ran.stdout
    assert len(ran.stderr.splitlines()) < 12


def test_what_a_provider_says_is_not_cut_short(tmp_path: Path) -> None:
    """11.18: 200 characters there."""
    message = "the deployment is not found, because " + "of this and that, " * 12 + "so create it"
    done = judged(tmp_path, HEAD + GOOD, [HttpError(400, message=message)])
    assert message in done.row("good")["error"]


def test_litellm_is_not_imported_for_what_does_not_need_it(tmp_path: Path) -> None:
    """11.19: 349 MB and 4 to 9 s there."""
    tests = put(tmp_path / "tests", {"a.toml": HEAD + GOOD})
    code = (
        "import sys, adjudge; from pathlib import Path\n"
        f"adjudge.load(Path({str(tests)!r}), format='rewardkit')\n"
        "print([m for m in ('litellm', 'markitdown', 'openai', 'anthropic', 'numpy') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("table", ["[judges]", "[[criteria]]", "[Judge]", "[[criterions]]", "[judgee]"])
def test_a_misspelt_judge_is_an_error(tmp_path: Path, table: str) -> None:
    """11.23: dropped without a word there."""
    problems = refused(tmp_path, {"a.toml": f'{table}\ndescription = "x"\n', "b.toml": GOOD})
    assert [(Path(p.file).name, p.line) for p in problems] == [("a.toml", 1)]
    assert "did you mean" in problems[0].hint


def test_a_judge_that_is_called_reward_toml_is_a_warning(tmp_path: Path) -> None:
    """11.24."""
    suite = loaded(tmp_path, {"reward.toml": HEAD + GOOD})
    assert ["is a judge" in warning.message for warning in suite.warnings] == [True]
    assert [judge.name for judge in suite.judges] == ["reward"]


def test_a_second_run_pays_nothing(tmp_path: Path) -> None:
    """11.25: neither in the same run directory nor in another, as long as nothing has changed."""
    text = f"{HEAD}samples = 2\n" + criteria("a", "b")
    suite = loaded(tmp_path, text)
    with LoopbackProvider() as provider:
        options: dict[str, Any] = {
            "environ": provider.env(),
            "retry": QUICK,
            "cache": tmp_path / "cache.db",
            "workers": 1,
        }
        first = adjudge.run(suite, output=tmp_path / "one", **options)
        assert len(provider.requests) == 2
        again = adjudge.run(suite, output=tmp_path / "one", **options)
        other = adjudge.run(suite, output=tmp_path / "two", **options)
        assert len(provider.requests) == 2
    assert first.rewards == again.rewards == other.rewards


def test_a_budget_stops_before_it_is_spent(tmp_path: Path) -> None:
    """11.25."""
    text = '[judge]\njudge = "openai/gpt-5"\nmode = "individual"\n' + criteria(*(f"c{k}" for k in range(6)))
    done = judged(tmp_path, text, budget_usd=0.0000001)
    assert done.requests == ()
    assert done.reward is None
    assert {row["unscored"] for row in done.leaf["criteria"]} == {"budget"}


def test_mistakes_are_found_without_asking_anybody(tmp_path: Path) -> None:
    """11.25: validate."""
    tests = put(tmp_path / "tests", {"a.toml": HEAD + GOOD})
    with LoopbackProvider() as provider:
        ran = call("validate", tests, cwd=tmp_path, env=environment(tmp_path, provider))
        assert provider.requests == []
    assert ran.returncode == 0, ran.stderr
    with pytest.raises(ConfigError):
        loaded(tmp_path / "bad", f"[judge]\nmode = 'x'\n{GOOD}")


def test_a_trajectory_is_cut_by_no_more_than_it_must(tmp_path: Path) -> None:
    """0, 11.26: short messages whole, long ones in proportion, the room used; and what was cut is said."""
    steps = [{"source": "agent", "message": "x" * 100}] * 400 + [{"source": "agent", "message": "y" * 400_000}]
    text = f'[judge]\njudge = "openai/my-own-model"\natif-trajectory = "t.json"\n{GOOD}'
    done = judged(tmp_path, text, workspace={"t.json": json.dumps({"steps": steps})})
    prompt = done.requests[0].prompt
    assert prompt.count("x" * 100) == 400
    assert prompt.count("y") > 200_000
    assert len(prompt) > 0.95 * 3 * 120_000
    assert "trajectory: cut to" in done.warnings

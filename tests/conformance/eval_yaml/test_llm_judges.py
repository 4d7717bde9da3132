"""LLM judges of an eval.yaml: what the model is asked, and how its answer is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import ConfigError, RunResult
from tests.support.configs import ANSWER, Files, asked, check, errors, llm, write_suite
from tests.support.provider import LoopbackProvider
from tests.support.replies import Reply, Text, Verdict
from tests.support.request import Request

TALK: Files = {**ANSWER, "stdout.log": "I looked it up."}
TAIL = "# Agent Response to Evaluate"


def ask(folder: Path, judge: Mapping[str, Any], *, case: Files = TALK, **sections: Any) -> Request:
    """The one request that a suite of this judge and one case makes."""
    config = write_suite(folder, [judge], {"case-1": case}, **sections)
    with LoopbackProvider() as provider:
        asked(config, provider)
        (request,) = provider.requests
    return request


def answered(folder: Path, judge: Mapping[str, Any], reply: Reply, **options: Any) -> RunResult:
    """A run in which the model gives this reply."""
    with LoopbackProvider(lambda _: reply) as provider:
        return asked(write_suite(folder, [judge], {"case-1": TALK}), provider, **options)


@pytest.mark.parametrize(
    ("keys", "shown", "hidden"),
    [
        pytest.param({"llm_rubric": "RUBRIC", "prompt": "PROMPT"}, "RUBRIC", "PROMPT", id="rubric before prompt"),
        pytest.param({"prompt": "PROMPT", "prompt_file": "p.md"}, "PROMPT", "FILE", id="prompt before prompt_file"),
        pytest.param({"llm_rubric": "RUBRIC", "prompt_file": "p.md"}, "RUBRIC", "FILE", id="rubric before file"),
        pytest.param({"prompt_file": "p.md"}, "FILE", "PROMPT", id="file alone"),
    ],
)
def test_llm_rubric_wins_over_prompt_over_prompt_file(
    tmp_path: Path, keys: dict[str, Any], shown: str, hidden: str
) -> None:
    (tmp_path / "p.md").write_text("FILE {{ outputs }}")
    if "prompt" in keys:
        keys = {**keys, "prompt": "PROMPT {{ outputs }}"}
    request = ask(tmp_path, llm(**keys))
    assert shown in request.prompt
    assert hidden not in request.prompt


def test_a_rubric_is_followed_by_the_conversation(tmp_path: Path) -> None:
    prompt = ask(tmp_path, llm(llm_rubric="Cites a source.")).prompt
    assert prompt.startswith(f"Cites a source.\n\n{TAIL}\n\n[BEGIN EVALUATED MATERIAL: conversation")
    assert "\nI looked it up.\n" in prompt


@pytest.mark.parametrize("mention", ["{{ conversation }}", "{{conversation}}", "{% if conversation %}x{% endif %}"])
def test_a_rubric_that_refers_to_the_conversation_is_left_as_it_is(tmp_path: Path, mention: str) -> None:
    prompt = ask(tmp_path, llm(llm_rubric=f"Cites a source. {mention}")).prompt
    assert TAIL not in prompt


def test_the_word_conversation_in_prose_does_not_count_as_a_reference(tmp_path: Path) -> None:
    assert TAIL in ask(tmp_path, llm(llm_rubric="The conversation is polite.")).prompt


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("suite/prompts", "prompts/p.md"),
        ("prompts", "prompts/p.md"),
        ("elsewhere", "{tmp}/elsewhere/p.md"),
        ("suite", "../suite/p.md"),
    ],
    ids=["beside the config", "in the current folder", "absolute", "from the config's folder"],
)
@pytest.mark.parametrize("key", ["prompt_file", "context"])
def test_files_are_found_beside_the_config_then_in_the_current_folder(
    tmp_path: Path, place: str, name: str, key: str
) -> None:
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    (tmp_path / place / "p.md").write_text("FOUND {{ outputs }}")
    name = name.format(tmp=tmp_path)
    keys: dict[str, Any] = {key: name} if key == "prompt_file" else {key: [name]}
    assert "FOUND" in ask(tmp_path / "suite", llm(**keys)).prompt


def test_a_file_beside_the_config_wins_over_one_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "p.md").write_text("NEAR {{ outputs }}")
    (tmp_path / "p.md").write_text("FAR {{ outputs }}")
    assert "NEAR" in ask(tmp_path / "suite", llm(prompt_file="p.md")).prompt


def test_context_files_are_rendered_and_appended_in_order(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rules.md").write_text("At most {{ arguments.limit }} words.")
    (tmp_path / "tone.md").write_text("Be kind.\n")
    judge = llm(prompt="Judge {{ outputs }}", context=["docs/rules.md", "tone.md"], arguments={"limit": 9})
    prompt = ask(tmp_path, judge).prompt
    assert prompt.startswith("Judge ")
    assert "\n\n## Context: rules.md\n\nAt most 9 words.\n\n## Context: tone.md\n\nBe kind." in prompt


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ({"prompt_file": "gone.md"}, "judges[0].prompt_file: "),
        ({"prompt_file": "cases"}, "judges[0].prompt_file: "),
        ({"context": ["here.md", "gone.md"]}, "judges[0].context[1]: "),
        ({"prompt": "{{ unclosed"}, "judges[0].prompt: line 1 of the template"),
        ({"prompt": "{{ outputs }}\n{{ stdout }}"}, "unknown variables: stdout"),
        ({"prompt": "{{ response }}"}, "unknown variables: response"),
        ({"prompt": "{{ outputs | nofilter }}"}, "nofilter"),
        ({"prompt": "{% include '/etc/passwd' %}"}, "include"),
        ({"prompt": ""}, "the prompt is empty"),
        ({"prompt_file": "latin.md"}, "is not UTF-8"),
        ({"prompt_file": "empty.md"}, "the prompt is empty"),
    ],
)
def test_a_prompt_that_can_never_be_asked_is_an_error_at_load(tmp_path: Path, keys: dict[str, Any], where: str) -> None:
    (tmp_path / "here.md").write_text("here")
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (error,) = errors(write_suite(tmp_path, [llm(**keys)]))
    assert where in error


def test_the_model_is_told_the_declared_scale_with_the_rationale_first(tmp_path: Path) -> None:
    request = ask(tmp_path, llm(score_range=[0, 2]))
    assert request.tool_name == "submit_score"
    assert request.schema is not None
    assert list(request.schema["properties"]) == ["rationale", "score"]
    score = request.schema["properties"]["score"]
    assert (score["type"], score["minimum"], score["maximum"]) == ("integer", 0, 2)
    assert "from 0 to 2" in request.system
    assert "0.0" not in request.system


@pytest.mark.parametrize(
    ("keys", "kind", "low", "high"),
    [
        ({"score_range": [-1, 1]}, "integer", -1, 1),
        ({"score_range": [0, 2.5]}, "number", 0, 2.5),
        ({"score_range": [1, 5], "feedback_type": "float"}, "number", 1, 5),
        ({"score_range": [1.0, 5.0], "feedback_type": "int"}, "integer", 1, 5),
        ({"feedback_type": "int"}, "integer", 1, 5),
        ({"feedback_type": "float"}, "number", 1, 5),
        ({"feedback_type": ...}, "integer", 1, 5),
        ({"feedback_type": "", "prompt": "Pass or fail? {{ outputs }}"}, "integer", 1, 5),
    ],
    ids=["negative", "fractional", "float", "int", "int alone", "float alone", "nothing", "never from the text"],
)
def test_a_scale_is_whole_when_its_bounds_are(
    tmp_path: Path, keys: dict[str, Any], kind: str, low: float, high: float
) -> None:
    schema = ask(tmp_path, llm(**keys)).schema
    assert schema is not None
    score = schema["properties"]["score"]
    assert (score["type"], score["minimum"], score["maximum"]) == (kind, low, high)


def test_feedback_type_bool_asks_for_pass_or_fail(tmp_path: Path) -> None:
    request = ask(tmp_path, llm(feedback_type="bool"))
    assert request.tool_name == "submit_evaluation"
    assert request.schema is not None
    assert list(request.schema["properties"]) == ["rationale", "passed"]
    assert request.schema["properties"]["passed"]["type"] == "boolean"


def test_neither_description_nor_annotations_reach_the_model_unasked(tmp_path: Path) -> None:
    judge = llm(description="WHY no code can", prompt="Judge {{ outputs }} {{ inputs }}")
    request = ask(tmp_path, judge, case={**TALK, "annotations.yaml": "gold: SECRET\n"})
    assert "WHY" not in request.raw.decode()
    assert "SECRET" not in request.raw.decode()


SCALE_0_2 = {"score_range": [0, 2]}


@pytest.mark.parametrize(
    ("keys", "verdict", "value"),
    [
        ({}, {"passed": True}, True),
        ({}, {"passed": False}, False),
        (SCALE_0_2, {"score": 2}, 2),
        ({"score_range": [-1, 1]}, {"score": -1}, -1),
        ({"score_range": [1, 5]}, {"score": 3.6}, 4),
        ({"score_range": [1, 5], "feedback_type": "float"}, {"score": 3.6}, 3.6),
        ({"score_range": [0, 2.5]}, {"score": 2.3}, 2.3),
        ({"feedback_type": "int"}, {"score": 7}, 7),
    ],
    ids=["pass", "fail", "upper bound", "negative", "rounded", "float", "fractional bounds", "unchecked without range"],
)
def test_a_verdict_is_read_on_its_scale(
    tmp_path: Path, keys: dict[str, Any], verdict: dict[str, Any], value: object
) -> None:
    result = answered(tmp_path, llm(**keys), Verdict({"rationale": "because", **verdict}))
    found = result.score("case-1", "good")
    assert found.error is None
    assert (type(found.value), found.value, found.rationale) == (type(value), value, "because")


@pytest.mark.parametrize(
    ("keys", "reply", "kind"),
    [
        (SCALE_0_2, Verdict({"rationale": "r", "score": 4}), "off_scale"),
        (SCALE_0_2, Verdict({"rationale": "r", "score": 2.4}), "off_scale"),
        (SCALE_0_2, Verdict({"rationale": "r", "score": -0.4}), "off_scale"),
        (SCALE_0_2, Verdict({"rationale": "r", "score": True}), "unparseable"),
        (SCALE_0_2, Verdict({"rationale": "r", "score": "2"}), "unparseable"),
        (SCALE_0_2, Verdict({"rationale": "r"}), "unparseable"),
        (SCALE_0_2, Text("between 1 and 2, I choose 1. Section 2."), "unparseable"),
        (SCALE_0_2, Text('The agent wrote {"score": 2}.'), "unparseable"),
        ({}, Verdict({"rationale": "r", "passed": "true"}), "unparseable"),
        ({}, Verdict({"rationale": "r", "passed": "false"}), "unparseable"),
        ({}, Verdict({"rationale": "r", "passed": 1}), "unparseable"),
        ({}, Text(""), "unparseable"),
    ],
    ids=lambda value: str(getattr(value, "data", getattr(value, "text", ""))) if isinstance(value, Reply) else "",
)
def test_an_answer_that_is_no_verdict_is_unscored_and_never_a_fail(
    tmp_path: Path, keys: dict[str, Any], reply: Reply, kind: str
) -> None:
    result = answered(tmp_path, llm(**keys), reply)
    error = result.score("case-1", "good").error
    assert error is not None
    assert error.kind == kind
    assert result.exit_code == 4


@pytest.mark.parametrize(
    ("judge", "suite", "environ", "flag", "model"),
    [
        ("claude-j", "claude-s", "claude-e", "claude-f", "claude-f"),
        ("claude-j", "claude-s", "claude-e", None, "claude-j"),
        (None, "claude-s", "claude-e", None, "claude-s"),
        (None, None, "claude-e", None, "claude-e"),
        ("", "claude-s", "claude-e", None, "claude-s"),
    ],
    ids=["--judge-model", "the judge's own", "models.judge", "EVAL_JUDGE_MODEL", "an empty one is none"],
)
def test_the_nearest_model_is_asked(
    tmp_path: Path, judge: str | None, suite: str | None, environ: str, flag: str | None, model: str
) -> None:
    config = write_suite(
        tmp_path, [llm(model=... if judge is None else judge)], models={"judge": suite} if suite else ...
    )
    with LoopbackProvider() as provider:
        asked(config, provider, environ={"EVAL_JUDGE_MODEL": environ}, judge_model=flag)
        assert [request.model for request in provider.requests] == [model]


@pytest.mark.parametrize(
    ("model", "wire", "name"),
    [
        ("claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5"),
        ("anthropic:/claude-x", "anthropic", "claude-x"),
        ("anthropic/claude-x", "anthropic", "claude-x"),
        ("openai:/gpt-4o", "openai", "gpt-4o"),
        ("gpt-4o", "openai", "gpt-4o"),
        ("meta-llama/Llama-3-8b", "openai", "meta-llama/Llama-3-8b"),
        ("llama3.1:8b", "openai", "llama3.1:8b"),
        ("openai:/org/model:free", "openai", "org/model:free"),
    ],
)
def test_the_model_string_chooses_the_backend(tmp_path: Path, model: str, wire: str, name: str) -> None:
    request = ask(tmp_path, llm(model=model))
    assert (request.wire, request.model) == (wire, name)


def test_sonnet_is_a_model_of_anthropic(tmp_path: Path) -> None:
    request = ask(tmp_path, llm(model="sonnet"))
    assert request.wire == "anthropic"
    assert request.model.startswith("claude-sonnet-")


def test_a_judge_without_any_model_is_an_error_that_names_it(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [check(), llm("orphan", model=...)])
    with pytest.raises(ConfigError, match=r"'orphan'.*no model"):
        adjudge.run(config)


def test_samples_are_asked_that_often_and_reduced(tmp_path: Path) -> None:
    replies = [Verdict({"rationale": f"r{k}", "score": k}) for k in (1, 5, 4)]
    config = write_suite(tmp_path, [llm(score_range=[1, 5], samples=3)])
    with LoopbackProvider(replies) as provider:
        found = asked(config, provider, max_concurrency=1).score("case-1", "good")
        assert len(provider.requests) == 3
    assert (found.value, found.rationale) == (4, "r4")


def test_an_option_of_one_sample_overrides_the_config(tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        asked(write_suite(tmp_path, [llm(samples=5)]), provider, samples=1)
        assert len(provider.requests) == 1


def test_one_pass_and_three_errors_is_no_pass(tmp_path: Path) -> None:
    replies: list[Reply] = [Verdict({"rationale": "r", "passed": True}), *[Text("hm")] * 3]
    with LoopbackProvider(replies) as provider:
        found = asked(write_suite(tmp_path, [llm(samples=4)]), provider, max_concurrency=1).score("case-1", "good")
    assert found.error is not None
    assert found.error.kind == "too_few_votes"

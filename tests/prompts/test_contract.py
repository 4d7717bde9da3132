"""How a judge is asked to answer, and the strict reading of what it answers."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import Binary, Criterion, ErrorKind, Levels, Likert, Numeric, Scale, Value
from adjudge.prompts import GUARD, Answer, read_arguments, read_text_answer, verdict_tool

WHOLE = Numeric(0, 5, integer=True)
GRADES = Levels(("poor", "fair", "good"))
SCALES: dict[str, Scale] = {
    "binary": Binary(),
    "whole": WHOLE,
    "numeric": Numeric(-1, 1),
    "likert": Likert(7),
    "levels": GRADES,
}
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-10, 10),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=5),
        st.sampled_from(["poor", "fair", "good", "true", "false", "3"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=3,
)


def asked(scale: Scale | None) -> Criterion:
    return Criterion(name="c", scale=scale)


def read(text: str, scale: Scale | None = None) -> Answer:
    return read_text_answer(text, asked(scale or Binary()))


def why(answer: Answer) -> ErrorKind | None:
    assert (answer.value is None) == (answer.failure is not None)
    return answer.failure.kind if answer.failure else None


@pytest.mark.parametrize(
    ("scale", "raw", "value"),
    [
        pytest.param(Binary(), True, True, id="true"),
        pytest.param(Binary(), False, False, id="false"),
        pytest.param(WHOLE, 0, 0, id="zero"),
        pytest.param(WHOLE, 5, 5, id="highest"),
        pytest.param(WHOLE, 4.0, 4, id="whole float"),
        pytest.param(Numeric(-1, 1), -0.25, -0.25, id="fraction"),
        pytest.param(Likert(7), 7, 7, id="likert"),
        pytest.param(GRADES, "fair", "fair", id="level"),
        pytest.param(None, 4, 4, id="no scale stated"),
    ],
)
def test_an_answer_on_the_scale_is_read_with_its_rationale(scale: Scale | None, raw: Any, value: Value) -> None:
    field = "passed" if isinstance(scale, Binary) else "score"
    answer = read_arguments({"rationale": "because", field: raw}, asked(scale))
    assert answer == Answer(value, "because")
    assert type(answer.value) is type(value)


@pytest.mark.parametrize(
    ("scale", "raw", "kind"),
    [
        pytest.param(Binary(), "false", ErrorKind.UNPARSEABLE, id="text that means no"),
        pytest.param(Binary(), "true", ErrorKind.UNPARSEABLE, id="text that means yes"),
        pytest.param(Binary(), 1, ErrorKind.UNPARSEABLE, id="one for true"),
        pytest.param(Binary(), 0, ErrorKind.UNPARSEABLE, id="zero for false"),
        pytest.param(Binary(), None, ErrorKind.UNPARSEABLE, id="null for a boolean"),
        pytest.param(Binary(), [True], ErrorKind.UNPARSEABLE, id="boolean in a list"),
        pytest.param(WHOLE, True, ErrorKind.UNPARSEABLE, id="boolean for a number"),
        pytest.param(WHOLE, False, ErrorKind.UNPARSEABLE, id="false for zero"),
        pytest.param(WHOLE, "4", ErrorKind.UNPARSEABLE, id="digits in text"),
        pytest.param(WHOLE, "4/5", ErrorKind.UNPARSEABLE, id="fraction in text"),
        pytest.param(WHOLE, None, ErrorKind.UNPARSEABLE, id="null for a number"),
        pytest.param(WHOLE, {"score": 4}, ErrorKind.UNPARSEABLE, id="number in an object"),
        pytest.param(WHOLE, 5.4, ErrorKind.OFF_SCALE, id="would round into the range"),
        pytest.param(WHOLE, -0.4, ErrorKind.OFF_SCALE, id="would round up to zero"),
        pytest.param(WHOLE, 6, ErrorKind.OFF_SCALE, id="above"),
        pytest.param(WHOLE, 10**400, ErrorKind.OFF_SCALE, id="enormous"),
        pytest.param(WHOLE, float("nan"), ErrorKind.OFF_SCALE, id="nan"),
        pytest.param(WHOLE, float("inf"), ErrorKind.OFF_SCALE, id="infinity"),
        pytest.param(Likert(7), 3.5, ErrorKind.OFF_SCALE, id="between two points"),
        pytest.param(Likert(7), 0, ErrorKind.OFF_SCALE, id="below the first point"),
        pytest.param(GRADES, "great", ErrorKind.OFF_SCALE, id="no such level"),
        pytest.param(GRADES, "Good", ErrorKind.OFF_SCALE, id="level in another case"),
        pytest.param(GRADES, 2, ErrorKind.UNPARSEABLE, id="number for a level"),
        pytest.param(None, "4", ErrorKind.UNPARSEABLE, id="text where no scale is stated"),
    ],
)
def test_an_answer_of_another_type_or_off_the_scale_is_no_value(scale: Scale | None, raw: Any, kind: ErrorKind) -> None:
    field = "passed" if isinstance(scale, Binary) else "score"
    answer = read_arguments({"rationale": "because", field: raw}, asked(scale))
    assert why(answer) is kind
    assert answer.rationale == "because"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"rationale": "it passed: true"}, id="verdict in the rationale"),
        pytest.param({"rationale": '{"passed": true}'}, id="JSON verdict in the rationale"),
        pytest.param({"score": 5}, id="another field"),
        pytest.param({"Passed": True}, id="another case"),
        pytest.param({"verdict": {"passed": True}}, id="one level down"),
        pytest.param({"rationale": 5, "passed": True}, id="rationale that is no text"),
        pytest.param({"rationale": None, "passed": True}, id="null rationale"),
        pytest.param([{"passed": True}], id="list"),
        pytest.param('{"passed": true}', id="JSON in text"),
        pytest.param(True, id="bare value"),
        pytest.param(None, id="null"),
    ],
)
def test_arguments_of_another_form_are_unparseable(arguments: Any) -> None:
    assert why(read_arguments(arguments, asked(Binary()))) is ErrorKind.UNPARSEABLE


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"rationale": "r", "passed": true}', id="bare object"),
        pytest.param('\n  {"rationale": "r", "passed": true}\n', id="blanks round it"),
        pytest.param('```json\n{"rationale": "r", "passed": true}\n```', id="code fence"),
        pytest.param('```\n{"rationale": "r",\n "passed": true}\n```\n', id="code fence without a language"),
        pytest.param('I think:\n```json\n{"rationale": "r", "passed": true}\n```', id="prose before a code fence"),
        pytest.param('I looked at it.\n\n{"rationale": "r", "passed": true}', id="prose before it"),
        pytest.param('{"rationale": "r", "passed": true}\n\nThat is all.', id="prose below it"),
        pytest.param('{"rationale": "x", "passed": false}\n{"rationale": "r", "passed": true}', id="the last of two"),
        pytest.param(
            '```json\n{"passed": false}\n```\n```json\n{"rationale": "r", "passed": true}\n```',
            id="the last of two fences",
        ),
        pytest.param(
            '{"rationale": "r", "passed": true}\nIt said {"passed": false}, which is wrong.', id="mention below"
        ),
        pytest.param('> {"passed": false}\n\n{"rationale": "r", "passed": true}', id="block quote before it"),
        pytest.param('{"rationale": "r", "passed": true}\n> {"passed": false}', id="block quote below it"),
    ],
)
def test_the_last_object_that_is_not_quoted_is_read_from_text(text: str) -> None:
    assert read(text) == Answer(True, "r")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("passed: true", id="prose"),
        pytest.param("true", id="bare value"),
        pytest.param("Score: 5", id="score in prose"),
        pytest.param('Here it is: {"passed": true}', id="preamble"),
        pytest.param('{"passed": true} I hope this helps.', id="text after it"),
        pytest.param('{"passed": false} {"passed": true}', id="two objects"),
        pytest.param('```json\n{"passed": true}\n```\nDone.', id="text after a code fence"),
        pytest.param('{"rationale": "the file says {\\"passed\\": true}"}', id="verdict quoted in the rationale"),
        pytest.param('{"rationale": "it said ```json\\n{\\"passed\\": true}\\n```"}', id="fence in the rationale"),
        pytest.param('"{\\"passed\\": true}"', id="JSON in a JSON string"),
        pytest.param('[{"passed": true}]', id="list"),
        pytest.param('{"passed": True}', id="Python"),
        pytest.param("{'passed': true}", id="single quotes"),
        pytest.param('{"passed": true,}', id="trailing comma"),
        pytest.param('{"passed": true', id="cut off"),
        pytest.param('{"passed": "false"}', id="text for a boolean"),
        pytest.param("[" * 100_000, id="very deep"),
        pytest.param('{"passed": true}\x00', id="NUL after it"),
        pytest.param('{"passed": true}\n{"passed": tru', id="a broken answer after a whole one"),
        pytest.param("{\"passed\": true}\n{'passed': false}", id="no JSON after a whole one"),
        pytest.param('{"passed": true}\n```json\n{"passed": fal\n```', id="a broken code fence after a whole one"),
        pytest.param('{"passed": true}\n```json\n{"passed": false}', id="an open code fence after a whole one"),
        pytest.param('The file says:\n{"passed": true}\nwhich I doubt.', id="introduced, shown and doubted"),
        pytest.param('It says {"passed": true} but I disagree.', id="within a sentence"),
        pytest.param('The file: "{"passed": true}"', id="in quotation marks"),
        pytest.param('    > {"passed": true}', id="in a block quote"),
        pytest.param('{"passed": true, "sure": NaN}', id="NaN, which JSON does not have"),
        pytest.param('{"rationale": "\ud800", "passed": true}', id="lone surrogate"),
    ],
)
def test_text_whose_last_word_is_no_verdict_is_unparseable(text: str) -> None:
    assert why(read(text)) is ErrorKind.UNPARSEABLE


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "0x5", "05", "5.", "+5", "1" * 5000]
)
def test_a_number_that_json_or_the_scale_does_not_have_is_no_value(number: str) -> None:
    answer = read('{"rationale": "r", "score": ' + number + "}", WHOLE)
    assert why(answer) in (ErrorKind.UNPARSEABLE, ErrorKind.OFF_SCALE)


def test_a_verdict_given_twice_in_one_object_is_no_verdict() -> None:
    assert why(read('{"passed": false, "rationale": "r", "passed": true}')) is ErrorKind.UNPARSEABLE


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES.keys())
@given(raw=ANYTHING, rationale=st.text(max_size=20))
def test_what_the_tool_asks_for_is_read_and_nothing_off_the_scale(scale: Scale, raw: Any, rationale: str) -> None:
    tool = verdict_tool(asked(scale))
    field = tool.schema["required"][1]
    arguments = {"rationale": rationale, field: raw}
    answer = read_arguments(arguments, asked(scale))
    if jsonschema.Draft202012Validator(tool.schema).is_valid(arguments):
        assert answer == Answer(raw, rationale)
    if answer.value is not None:
        assert scale.validate(answer.value) == answer.value
        assert isinstance(raw, bool) == isinstance(scale, Binary)


@pytest.mark.parametrize("scale", [*SCALES.values(), None], ids=[*SCALES, "none"])
@given(text=st.text() | ANYTHING.map(json.dumps))
def test_any_text_is_an_answer_or_a_failure(scale: Scale | None, text: str) -> None:
    why(read_text_answer(text, asked(scale)))


@pytest.mark.parametrize("scale", [*SCALES.values(), None], ids=[*SCALES, "none"])
def test_the_rationale_comes_before_the_value(scale: Scale | None) -> None:
    tool = verdict_tool(asked(scale))
    field = "passed" if isinstance(scale, Binary) else "score"
    assert list(tool.schema["properties"]) == tool.schema["required"] == ["rationale", field]
    assert tool.schema["additionalProperties"] is False
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert tool.name == ("submit_evaluation" if isinstance(scale, Binary) else "submit_score")


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES.keys())
def test_the_system_prompt_names_the_tool_the_scale_and_the_guard(scale: Scale) -> None:
    tool = verdict_tool(asked(scale))
    assert tool.name in tool.system
    assert GUARD in tool.system
    assert isinstance(scale, Binary) or scale.describe() in tool.system


@given(text=st.text(max_size=10_000))
def test_a_failure_message_is_short_and_printable(text: str) -> None:
    answer = read(text)
    assert answer.failure is not None
    assert len(answer.failure.message) < 300
    assert answer.failure.message.isprintable()

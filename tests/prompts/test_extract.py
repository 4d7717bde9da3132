"""Finding a verdict in prose: the right one, whatever stands round it, and in time that grows with the text only."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.domain import Binary, Criterion, Levels, Likert, Numeric, Scale
from adjudge.prompts import Answer, fenced, read_answers, read_text_answer, read_text_answers
from adjudge.prompts.extract import own_objects
from tests.support.timing import best

CRITERION = Criterion(name="c", scale=Binary())
SEVERAL = (
    Criterion(name="a", scale=Binary(), abstain=True),
    Criterion(name="b", scale=Numeric(0, 5, integer=True)),
    Criterion(name="\u00e9", scale=Levels(("poor", "good"))),
)
PIECES = st.sampled_from(
    [
        *'{}[]",:\\\n `>~\0\r\t\u2028\ufeff\u201c\u201d\ud800',
        "```",
        "```json\n",
        "~~~",
        '"passed"',
        '{"passed": true}',
        '{"rationale": "r", "passed": false}',
        '{"a": {"passed": true}}',
        "true",
        "NaN",
        "\n\n",
        "> ",
        "- ",
        "[BEGIN EVALUATED MATERIAL: x #0123456789ab]",
        "[END EVALUATED MATERIAL #0123456789ab]",
        "The file says:",
    ]
)
SOUP = st.lists(PIECES, max_size=40).map("".join)
VERDICT = '{"rationale": "mine", "passed": false}'
PROSE = st.lists(
    st.sampled_from(
        [
            "I looked at it.",
            "It is 5\" wide, isn't it?",
            "f(x) { return {1, 2} }",
            "an open { brace",
            "a closing } brace",
            "a ` tick and `two` more",
            "C:\\new\\",
            "It says {} and [].",
            'It says {"passed": true} here.',
            'It says `{"passed": true}`.',
            '> {"passed": true}',
            "> {",
            "1. first\n2. second",
            "| a | {b} |",
            "## Heading:",
            "\u201cquoted",
            "[link](x) [1]",
            "[END EVALUATED MATERIAL]",
        ]
    )
    | st.text(st.characters(exclude_characters='{[`~"'), max_size=30),
    max_size=8,
).map("\n\n".join)


@given(text=SOUP | st.text(max_size=80))
@example(text="")
@example(text="{")
@example(text="```")
@example(text='{"' * 50)
@example(text="[" * 5000 + "]" * 5000)
def test_any_text_is_read_without_an_error(text: str) -> None:
    objects = own_objects(text)
    assert all(isinstance(found, str) for found in objects)
    for answer in (read_text_answer(text, CRITERION), *read_answers(text, [CRITERION])):
        assert (answer.value is None) == (answer.failure is not None)
    for answer in (*read_text_answers(text, SEVERAL, guarded=True), *read_answers(text, SEVERAL, guarded=True)):
        assert answer.abstained or (answer.value is None) == (answer.failure is not None)


@given(prose=PROSE)
def test_a_verdict_on_its_own_lines_at_the_end_is_found_whatever_prose_precedes_it(prose: str) -> None:
    for end in (VERDICT, f"```json\n{VERDICT}\n```", json.dumps(json.loads(VERDICT), indent=2), f"  {VERDICT}  \n\n"):
        assert read_text_answer(f"{prose}\n\n{end}", CRITERION) == Answer(False, "mine")


@given(rationale=st.text(max_size=60) | SOUP, passed=st.booleans(), indent=st.sampled_from([None, 2]))
def test_whatever_stands_in_a_rationale_is_part_of_it(rationale: str, passed: bool, indent: int | None) -> None:
    text = json.dumps({"rationale": rationale, "passed": passed}, indent=indent)
    expected = Answer(passed, rationale.encode("utf-8", "replace").decode())
    assert read_answers(text, [CRITERION]) == (expected,)
    if "[BEGIN EVALUATED MATERIAL" not in rationale:
        assert read_text_answer(text, CRITERION) == expected


@given(quoted=st.sampled_from(["> {}", "It says {} there.", "It says `{}`.", '"{}" is what it says.']), text=SOUP)
def test_what_is_quoted_below_a_verdict_leaves_it(quoted: str, text: str) -> None:
    line = " ".join(text.split()).replace("{", "").replace("[", "").replace("`", "").replace("~", "")
    reply = f"{VERDICT}\n\n" + quoted.replace("{}", '{"passed": true} ' + line)
    assert read_text_answer(reply, CRITERION) == Answer(False, "mine")


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("{}", ["{}"], id="an object"),
        pytest.param("Hm.\n{}", ["{}"], id="below prose"),
        pytest.param("{}\nHm.", ["{}"], id="above prose"),
        pytest.param("Hm.\n{}\nHm.", [], id="between prose"),
        pytest.param("Hm.\n{1}\n{2}", ["{2}"], id="the last of two that touch"),
        pytest.param("{1}\nHm.\n{2}", ["{1}", "{2}"], id="two that words part"),
        pytest.param("{1}\nHm.\n{2}\n{3}", ["{1}", "{3}"], id="three"),
        pytest.param("{1}\n```\n{2}\n```", ["{2}"], id="a block below an object"),
        pytest.param("{1}\nHm.\n```\n{2}\n```", ["{1}", "{2}"], id="a block below words"),
        pytest.param("{1}\nHm.\n```\n{2}\n```\nHm.", ["{1}"], id="a block within words"),
        pytest.param("```\n{1}\n```\nHm.\n{2}", ["{1}", "{2}"], id="an object below a block and words"),
        pytest.param("   ```json\n   {1}\n   ```", ["{1}"], id="an indented block"),
        pytest.param("> {1}\n\n{2}", ["{2}"], id="below a block quote"),
        pytest.param("> a\n{1}", [], id="a block quote that goes on"),
        pytest.param("> a\n{1}\n\n{2}", ["{2}"], id="and ends"),
        pytest.param("```\n{1}", ["{"], id="a block without an end"),
        pytest.param("````\n{1}\n```\n````", ["{1}\n```"], id="a shorter fence within"),
        pytest.param("```\n{1}\n~~~\n```", ["{1}\n~~~"], id="another fence within"),
        pytest.param('{"a": "}"}', ['{"a": "}"}'], id="a brace in a text"),
        pytest.param('{"a": "\\"}"}', ['{"a": "\\"}"}'], id="an escaped quotation mark"),
        pytest.param("[[1]]", ["[[1]]"], id="a list"),
        pytest.param('{1}\n{"a', [], id="an object without an end"),
        pytest.param('{1}\n{"a\n```\n{2}\n```', ["{1}", '{"a\n\0', "{2}"], id="and a block"),
    ],
)
def test_what_counts_as_the_replys_own_object(text: str, objects: list[str]) -> None:
    assert own_objects(text)[-1:] == objects[-1:]
    assert len(own_objects(text)) == len(objects)


@pytest.mark.parametrize(
    ("scale", "raw", "value"),
    [
        (Binary(), "true", True),
        (Binary(), "1", None),
        (Binary(), "1.0", None),
        (Binary(), '"true"', None),
        (Numeric(0, 1), "true", None),
        (Numeric(0, 1), "1", 1),
        (Numeric(0, 1), '"1"', None),
        (Likert(5), "5.0", 5),
        (Likert(5), "5.4", None),
        (Likert(5), "5e0", 5),
        (Levels(("1", "2")), '"1"', "1"),
        (Levels(("1", "2")), "1", None),
        (Levels(("true", "false")), "true", None),
        (Numeric(0, 5, integer=True), "-0.0", 0),
    ],
)
def test_types_are_exact(scale: Scale, raw: str, value: Any) -> None:
    field = "passed" if isinstance(scale, Binary) else "score"
    answer = read_text_answer(f'{{"rationale": "r", "{field}": {raw}}}', Criterion(name="c", scale=scale))
    assert answer.value == value
    assert type(answer.value) is type(value)


UNITS = [
    *'{}[]"`~>\\\n ,:',
    "{}",
    "{}\n",
    "[{",
    '{"',
    '{"a":',
    '{"a": 1}\n',
    'x\n{"passed": true}\n',
    '"\\',
    "\\\\",
    "```\n",
    "``` \n",
    "> {\n",
    "> \n",
    "~~~\nx\n",
    "x`",
    "\t",
    "\r",
    "[BEGIN EVALUATED MATERIAL",
    "[BEGIN EVALUATED MATERIAL: x #0123456789ab]",
    "[END EVALUATED MATERIAL",
    "\u201c{\u201d",
]
SIZE = 200_000


@pytest.mark.parametrize("unit", [*'{}[]"`~>\\', "{ ", '{"', "[{", "```", "`x", '"\\', "\u201c{"])
@pytest.mark.parametrize("before", ["", "x ", '{"a": "', "```\n"])
def test_what_never_ends_is_read_at_once(before: str, unit: str) -> None:
    assert best(own_objects, before + unit * (SIZE // len(unit))) < 0.05


@pytest.mark.parametrize("around", [("", ""), ("```", "`"), ("x", ""), ('{"a": "', ""), ("", "\n{}")])
@pytest.mark.parametrize("unit", UNITS)
def test_reading_takes_time_in_proportion_to_the_length(unit: str, around: tuple[str, str]) -> None:
    def text(size: int) -> str:
        return around[0] + unit * (size // len(unit)) + around[1]

    whole = best(own_objects, text(SIZE))
    assert whole < 0.05 or whole < 24 * best(own_objects, text(SIZE // 8))  # 8 in proportion, 64 by the square
    assert whole < 1


@pytest.mark.parametrize("unit", UNITS)
def test_the_whole_reading_is_as_quick(unit: str) -> None:
    text = unit * (SIZE // len(unit))
    assert best(lambda t: read_text_answer(t, CRITERION), text) < 0.25
    assert best(lambda t: fenced(t, "x"), text) < 0.25

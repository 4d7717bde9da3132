"""What an agent under test is told: templates over a case's input, as they reach its standard input."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.support.configs import errors, judged, write_suite

READS = {"type": "cli", "command": ["sh", "-c", "tee output/told.txt"]}


def told(folder: Path, template: str, given: object, **sections: object) -> str:
    """The prompt of an agent, for a case with this input."""
    cases = {"case-1": {"input.yaml": yaml.safe_dump(given)}}
    config = write_suite(folder, cases=cases, runner=READS, execution={"prompt": template, **sections})
    result = judged(config)
    assert result.execution is not None
    assert not result.execution.failed
    return (folder / "run/cases/case-1/output/told.txt").read_text()


def refused(folder: Path, template: str, given: object) -> list[str]:
    cases = {"case-1": {"input.yaml": yaml.safe_dump(given)}}
    return errors(write_suite(folder, cases=cases, runner=READS, execution={"prompt": template}))


def test_a_field_in_braces_is_replaced(tmp_path: Path) -> None:
    assert told(tmp_path, "Review {file}, please", {"file": "a.py"}) == "Review a.py, please"


def test_whitespace_stays_as_it_was_written(tmp_path: Path) -> None:
    template = "def f():\n    return  1\n\n\tif {name}:"
    assert told(tmp_path, template, {"name": "x  y"}) == "def f():\n    return  1\n\n\tif x  y:"


def test_the_line_break_at_the_end_of_a_field_goes_and_others_stay(tmp_path: Path) -> None:
    assert told(tmp_path, "<{text}>", {"text": "one\n  two\n"}) == "<one\n  two>"


def test_braces_that_are_no_field_stay(tmp_path: Path) -> None:
    template = 'Answer as {"verdict": {"ok": true}} or {} or {a b} for {name}'
    assert told(tmp_path, template, {"name": "x"}) == 'Answer as {"verdict": {"ok": true}} or {} or {a b} for x'


def test_a_field_that_looks_like_a_template_is_not_filled_again(tmp_path: Path) -> None:
    given = {"a": "{b} {{ input.b }} {a}", "b": "SECRET"}
    assert told(tmp_path, "<{a}>", given) == "<{b} {{ input.b }} {a}>"


def test_a_field_that_looks_like_jinja_is_not_filled_again(tmp_path: Path) -> None:
    given = {"a": "{{ input.b }} {% if x %}", "b": "SECRET"}
    assert told(tmp_path, "<{{ input.a }}>", given) == "<{{ input.b }} {% if x %}>"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3, "3"),
        (0, "0"),
        (["a", "ü"], '["a", "ü"]'),
        ({"k": [1]}, '{"k": [1]}'),
        ("[x]", "[x]"),
    ],
)
def test_data_is_put_in_as_json_and_text_as_it_is(tmp_path: Path, value: object, shown: str) -> None:
    assert told(tmp_path, "<{v}>", {"v": value}) == f"<{shown}>"


def test_an_optional_field_may_be_absent(tmp_path: Path) -> None:
    assert told(tmp_path, "<{name}{flag?}{more?}>", {"name": "x", "flag": " -v"}) == "<x -v>"


def test_field_names_may_hold_dashes(tmp_path: Path) -> None:
    assert told(tmp_path, "<{file-name}>", {"file-name": "x"}) == "<x>"


@pytest.mark.parametrize("given", [{"a": "x"}, {"a": "x", "b": None}, {"a": "x", "b": " \n"}])
def test_a_field_that_is_missing_or_blank_is_told_before_anything_runs(tmp_path: Path, given: object) -> None:
    (found,) = refused(tmp_path, "{a} {b}", given)
    assert "case-1" in found
    assert "b" in found.rpartition(":")[2]
    assert "a" not in found.rpartition(":")[2]


def test_every_missing_field_of_every_case_is_told_at_once(tmp_path: Path) -> None:
    cases = {"one": {"input.yaml": "a: x\n"}, "two": {"input.yaml": "b: x\n"}, "good": {"input.yaml": "a: x\nb: y\n"}}
    found = errors(write_suite(tmp_path, cases=cases, runner=READS, execution={"prompt": "{a} {b} {c?}"}))
    assert len(found) == 2
    assert any("one" in line and line.endswith(": b") for line in found)
    assert any("two" in line and line.endswith(": a") for line in found)


def test_fields_of_arguments_are_looked_at_too(tmp_path: Path) -> None:
    config = write_suite(tmp_path, runner=READS, execution={"skill": "review", "arguments": "{absent}"})
    assert [line for line in errors(config) if "absent" in line and "case-1" in line]


def test_jinja_sees_the_input_with_conditions_and_loops(tmp_path: Path) -> None:
    template = "{% for x in input['items'] %}{{ loop.index }}. {{ x }}\n{% endfor %}"
    template += "{% if input.more is defined %}no{% endif %}."
    assert told(tmp_path, template, {"items": ["a", "b"]}) == "1. a\n2. b\n."


def test_jinja_may_use_its_own_functions(tmp_path: Path) -> None:
    assert told(tmp_path, "{% for i in range(input.n) %}{{ i }}{% endfor %}", {"n": 3}) == "012"


def test_a_jinja_variable_that_a_case_lacks_is_told_at_load(tmp_path: Path) -> None:
    (found,) = refused(tmp_path, "{{ input.absent }}", {"a": 1})
    assert "case-1" in found
    assert "absent" in found


def test_jinja_escapes_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, "{{ input.a }}", {"a": "<b> & 'c'"}) == "<b> & 'c'"


def test_jinja_cannot_reach_into_python(tmp_path: Path) -> None:
    (found,) = refused(tmp_path, "{{ input.__class__.__mro__ }}", {"a": 1})
    assert "case-1" in found


@pytest.mark.parametrize(
    ("template", "says"),
    [("{{ input.a", "line 1"), ("{% if %}", "line 1"), ("{{ inputs.a }}", "there is no inputs")],
)
def test_a_jinja_template_that_no_case_can_fill_is_told_once_with_its_line(
    tmp_path: Path, template: str, says: str
) -> None:
    config = write_suite(tmp_path, cases=("one", "two"), runner=READS, execution={"prompt": template})
    (found,) = errors(config)
    assert found.startswith("eval.yaml:")
    assert "execution.prompt" in found
    assert says in found


@pytest.mark.parametrize(
    ("name", "text"), [("input.json", '{"request": "say it"}'), ("input.yml", "request: say it\n")]
)
def test_fields_come_from_every_form_of_input(tmp_path: Path, name: str, text: str) -> None:
    config = write_suite(tmp_path, cases={"case-1": {name: text}}, runner=READS, execution={"prompt": "<{request}>"})
    judged(config)
    assert (tmp_path / "run/cases/case-1/output/told.txt").read_text() == "<say it>"
    assert (tmp_path / "run/cases/case-1" / name).read_text() == text


def test_an_override_stands_for_the_field_of_every_case_and_is_in_the_workspace(tmp_path: Path) -> None:
    reads = {"type": "cli", "command": ["sh", "-c", "cat > output/told.txt; cp input.yaml output/seen.yaml"]}
    config = write_suite(tmp_path, runner=reads, execution={"prompt": "<{request} {tone}>"}, cases={
        "case-1": {"input.yaml": "request: say it\ntone: rude\n"}
    })  # fmt: skip
    judged(config, overrides={"tone": "kind"})
    assert (tmp_path / "run/cases/case-1/output/told.txt").read_text() == "<say it kind>"
    seen = yaml.safe_load((tmp_path / "run/cases/case-1/output/seen.yaml").read_text())
    assert seen == {"request": "say it", "tone": "kind"}


def steps_of(folder: Path, template: str) -> Path:
    """A pipeline whose second step, `items`, has this template."""
    steps = [{"id": "a", "prompt": "{request}"}, {"id": "items", "prompt": template}, {"id": "c", "prompt": "x"}]
    return write_suite(folder, runner=READS, execution={"steps": steps})


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ steps.b.output }}", "no step 'b' comes before it"),
        ("{{ steps['b'].output }}", "no step 'b' comes before it"),
        ('{% if steps["c"]["exit_code"] == 0 %}{% endif %}', "no step 'c' comes before it"),
        ("{{ steps.items.output }}", "no step 'items' comes before it"),
        ("{% for x in input.request %}{{ steps['b'] }}{% endfor %}", "no step 'b' comes before it"),
    ],
)
def test_a_step_that_does_not_come_before_is_told_however_it_is_named(tmp_path: Path, template: str, says: str) -> None:
    (found,) = errors(steps_of(tmp_path, template))
    assert "execution.steps[1].prompt" in found
    assert says in found


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{{ steps['a'].exit_code }}{{ steps['a']['exit_code'] }}", "00"),
        ("{{ steps.get('a').exit_code }} {{ steps.get('b', {}).get('output', 'none') }}", "0 none"),
        ("{% for id, step in steps.items() %}{{ id }}={{ step.exit_code }}{% endfor %}", "a=0"),
        ("{{ steps | length }}", "1"),
        ("{{ steps.b is defined }} {{ steps['b'] is undefined }} {{ 'b' in steps }}", "False True False"),
        ("{% if 'c' in steps %}{{ steps.c.output }}{% else %}none{% endif %}", "none"),
        ("{{ (steps.b | default({'output': 'none'})).output }}", "none"),
        ("{% for steps in ['x'] %}{{ steps.b is defined }}{{ steps }}{% endfor %}", "Falsex"),
    ],
)
def test_jinja_may_look_at_the_steps_in_any_way(tmp_path: Path, template: str, shown: str) -> None:
    result = judged(steps_of(tmp_path, f"<{template}>"))
    assert result.execution is not None
    assert not result.execution.failed, result.execution.failed[0].error
    assert (tmp_path / "run/cases/case-1/steps/items/stdout.log").read_text() == f"<{shown}>"


def test_a_step_with_the_name_of_a_method_is_told_how_to_be_reached(tmp_path: Path) -> None:
    steps = [{"id": "items", "prompt": "x"}, {"id": "b", "prompt": "{{ steps.items.output }}"}]
    (found,) = errors(write_suite(tmp_path, runner=READS, execution={"steps": steps}))
    assert "steps['items'] is the step" in found


def test_the_word_steps_in_a_template_does_not_hide_what_a_case_lacks(tmp_path: Path) -> None:
    (found,) = refused(tmp_path, "Follow the steps. {{ input.absent }}", {"a": 1})
    assert "case-1" in found
    assert "absent" in found

"""Bad input gives one clear message a problem, all at once, no traceback, and exit 2 before anything runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.llm import call, environment

GOOD = "dataset: {path: cases}\njudges:\n  - name: x\n    check: return True\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cases" / "a").mkdir(parents=True)
    (tmp_path / "cases" / "a" / "input.yaml").write_text("ask: x\n")
    return tmp_path


def complaint(folder: Path, config: str | bytes, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command on a bad config: it must refuse, and must not break."""
    data = config.encode() if isinstance(config, str) else config
    (folder / "eval.yaml").write_bytes(data)
    done = call(*(arguments or ("run",)), cwd=folder, env=environment(folder))
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    assert "nothing was run" in done.stderr
    assert not (folder / ".adjudge").exists()
    return done


MANY = """\
dataset: {pth: cases}
judgs: []
outputs: 5
judges:
  - nam: x
    chek: return True
  - name: y
    check: 5
    score_range: [3, 1]
  - name: y
    bulitin: z
    builtin: semantic_similarty
  - name: l
    prompt: "{{ output }} {{ x"
    feedback_type: boolean
thresholds:
  yy: {min_pass_rate: 0.5}
  y: {min_avg: 3, min_pass_rate: 80}
"""

ONE: dict[str, tuple[str | bytes, str]] = {
    "broken YAML": ("judges: [\n", "eval.yaml:2:1: error: not valid YAML"),
    "duplicate key": ("name: a\nname: b\n" + GOOD, "eval.yaml:2:1: error: name: the key 'name' stands twice"),
    "tab": ("judges:\n\t- name: x\n", "indent with spaces: this line has a tab"),
    "not UTF-8": (b"name: caf\xe9\n", "eval.yaml:1:10: error: byte 0xe9 is not UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), "it looks like UTF-16"),
    "empty": ("", "the file is empty (adjudge init writes one)"),
    "only a comment": ("# later\n", "the file is empty"),
    "a list": ("- a\n", "expected a mapping of keys such as dataset and judges, got a list"),
    "cyclic anchor": ("description: &a [*a]\n" + GOOD, "an anchor contains itself"),
    "exploding aliases": (
        "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9) if k else 'x'}]\n" for k in range(12)),
        "expands to more than",
    ),
    "deep nesting": ("a: " + "[" * 3000 + "]" * 3000, "nesting"),
    "two documents": (GOOD + "---\n" + GOOD, "not valid YAML"),
    "no dataset folder": (
        GOOD.replace("cases", "nowhere"),
        "eval.yaml:1:17: error: dataset.path: the folder nowhere",
    ),
    "dataset above": (GOOD.replace("cases", "../x"), "must not contain .."),
    "null sections": ("dataset:\njudges:\noutputs:\nthresholds:\n", "judges: there are no judges"),
    "empty judges": ("dataset: {path: cases}\njudges: []\n", "there are no judges"),
    "no outputs anywhere": (GOOD + "outputs: [{path: output}]\n", "no case has any output below cases"),
    "output outside": (GOOD + "outputs: [{path: ../x}]\n", "outputs[0].path: must not contain .."),
    "agent judge": (GOOD + "  - name: g\n    agent: {runner: {type: cloude}}\n    prompt: x\n", "no runner 'cloude'"),
    "pairwise judge": (GOOD + "  - name: pairwise\n    samples: 0\n", "must be 1 or more, got 0"),
    "reward": (GOOD + "reward: {judge: nobody}\n", "there is no judge 'nobody'"),
    "hooks": (GOOD + "hooks: {before_all: [{comand: ls}]}\n", "unknown key 'comand'"),
    "unsupported provider": (
        GOOD + "  - name: y\n    feedback_type: bool\n    model: gemini:/pro\n    prompt: y\n",
        "there is no model provider 'gemini'",
    ),
    "unknown variable": (
        "dataset: {path: cases}\njudges:\n  - name: x\n    feedback_type: bool\n    prompt: '{{ output }}'\n",
        "unknown variables: output",
    ),
}


def test_every_problem_at_once_with_its_place_and_the_nearest_name(folder: Path) -> None:
    shown = complaint(folder, MANY).stderr
    for line in (
        "eval.yaml:1:11: error: dataset.pth: unknown key 'pth' (did you mean 'path'?)",
        "eval.yaml:2:1: error: judgs: unknown key 'judgs' (did you mean 'judges'?)",
        "eval.yaml:3:10: error: outputs: expected a list of a mapping, got a whole number",
        "eval.yaml:5:5: error: judges[0].nam: unknown key 'nam' (did you mean 'name'?)",
        "eval.yaml:8:12: error: judges[1].check: expected text, got a whole number 5",
        "eval.yaml:9:5: error: judges[1].score_range: must be [min, max] with min < max, got [3, 1]",
        "eval.yaml:10:11: error: judges[2].name: a judge 'y' is already defined on line 7",
        "(did you mean 'semantic_similarity'?)",
        "eval.yaml:14:5: error: judges[3].prompt: line 1 of the template",
        "eval.yaml:15:5: error: judges[3].feedback_type: must be bool, int or float, got 'boolean'",
        "eval.yaml:17:3: error: thresholds.yy: there is no judge 'yy' (did you mean 'y'?)",
        "eval.yaml:18:7: error: thresholds.y.min_avg: unknown key 'min_avg' (did you mean 'min_mean'?)",
        "eval.yaml:18:19: error: thresholds.y.min_pass_rate: must be from 0 to 1, got 80 (80% is 0.8)",
    ):
        assert line in shown


@pytest.mark.parametrize("name", ONE)
def test_one_clear_message(folder: Path, name: str) -> None:
    config, message = ONE[name]
    assert message in complaint(folder, config).stderr


@pytest.mark.parametrize("section", ["dataset", "judges", "outputs", "thresholds", "models", "name", "execution"])
@pytest.mark.parametrize("value", ["5", "text", "[1, [2]]", "{a: {b: 1}}", "2026-02-03", ".nan", "true"])
def test_wrong_types_are_told_in_words(folder: Path, section: str, value: str) -> None:
    lines = [line for line in GOOD.splitlines() if not line.startswith(section)]
    if section == "judges":
        lines = lines[:1]
    if (section, value) in {("name", "text"), ("execution", "{a: {b: 1}}")}:
        return
    shown = complaint(folder, "\n".join([*lines, f"{section}: {value}"]) + "\n", "validate").stderr
    assert f"error: {section}" in shown


def test_a_byte_order_mark_is_no_problem(folder: Path) -> None:
    (folder / "eval.yaml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert call("run", "-q", cwd=folder, env=environment(folder)).returncode == 0


def test_a_config_of_50_mb_is_refused_without_being_read(folder: Path) -> None:
    with (folder / "eval.yaml").open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    done = call("run", cwd=folder, env=environment(folder))
    assert done.returncode == 2
    assert "the file is 50 MB; a config may have 5 MB" in done.stderr


def test_cases_that_cannot_be_read_are_all_named(folder: Path) -> None:
    for name, text in {"no colon": "a\tb: [", "latin": "ask: caf\xe9"}.items():
        (folder / "cases" / name).mkdir()
        (folder / "cases" / name / "input.yaml").write_bytes(text.encode("latin-1"))
    (folder / "cases" / "nothing").mkdir()
    (folder / "cases" / "listed").mkdir()
    (folder / "cases" / "listed" / "input.yaml").write_text("ask: x")
    (folder / "cases" / "listed" / "annotations.yaml").write_text("- a\n")
    shown = complaint(folder, GOOD).stderr
    for line in (
        "cases/nothing: error: the case has no input.yaml",
        "cases/no colon/input.yaml:2:1: error: not valid YAML",
        "cases/latin/input.yaml:1:9: error: byte 0xe9 is not UTF-8",
        "cases/listed/annotations.yaml: error: expected a mapping, got a list",
    ):
        assert line in shown


def test_case_names_with_blanks_and_any_letters_work(folder: Path) -> None:
    for name in ("with blank", "größer", "日本", "a'b\"c"):
        (folder / "cases" / name).mkdir()
        (folder / "cases" / name / "input.yaml").write_text("ask: x")
    (folder / "eval.yaml").write_text(GOOD)
    assert call("run", "-q", cwd=folder, env=environment(folder)).returncode == 0
    assert (
        call("run", "-q", "--case", "with blank", "--case", "日本", cwd=folder, env=environment(folder)).returncode == 0
    )


def test_every_judge_without_credentials_is_named_before_anything_runs(folder: Path) -> None:
    llm = "  - name: {}\n    feedback_type: bool\n    prompt: x\n"
    config = (
        GOOD + llm.format("l1") + "    model: claude-x\n" + llm.format("l2") + "    model: gpt-x\n" + llm.format("l3")
    )
    shown = complaint(folder, config).stderr
    assert "eval.yaml:5:5: error: judge 'l1': model 'claude-x' needs ANTHROPIC_API_KEY" in shown
    assert "eval.yaml:9:5: error: judge 'l2': model 'gpt-x' needs OPENAI_API_KEY" in shown
    assert "eval.yaml:13:5: error: judge 'l3': no model is named" in shown
    assert "--no-llm" in shown
    assert call("run", "-q", "--no-llm", cwd=folder, env=environment(folder)).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nothing.yaml"], "there is no such file or folder"),
        (["run", "cases"], "this folder holds no config"),
        (["run", "--format", "eval_yml"], "did you mean 'eval_yaml'?"),
        (["run", "--case", "b"], "there is no case 'b'"),
        (["run", "--tag", "slow"], "no case has the tag 'slow'"),
        (["run", "--workspace", "nowhere"], "is not a folder"),
        (["run", "--samples", "0"], "is not in the range"),
        (["run", "--je", "novalue"], "--je takes NAME=VALUE"),
        (["run", "-q", "-v"], "exclude each other"),
        (["rnu"], "Did you mean 'run'?"),
        (["report", "nowhere"], "is no run directory"),
        (["gate", "cases"], "is no run directory"),
        (["run", "--output", "eval.yaml"], "cannot be written"),
        (["init"], "is there already"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_arguments_exit_2_with_a_clear_line(folder: Path, arguments: list[str], message: str) -> None:
    (folder / "eval.yaml").write_text(GOOD)
    done = call(*arguments, cwd=folder, env=environment(folder))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr

"""What the page holds of each case: the rows of its list, what can be searched, and what opens on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from adjudge.domain import (
    BinaryFile,
    Case,
    CaseDetail,
    CaseRun,
    CaseStub,
    Exchange,
    PairwiseCase,
    RewardScore,
    RunResult,
    Score,
    Status,
)
from adjudge.report.html.images import Images
from adjudge.report.html.kinds import kind_of
from adjudge.report.html.payload import Listing, Text, shorten
from adjudge.report.html.trajectory import records
from adjudge.report.tasks import beside

RESULT = "result.json"
JOURNAL = "the journal of the run directory"
_STATUS = {Status.SCORED: "s", Status.ABSTAINED: "a", Status.UNSCORED: "u", Status.SKIPPED: "k"}


class Column(msgspec.Struct, frozen=True):
    """One column of values in the list of cases. `kind` is that of the judge, `reward` or `pairwise`."""

    name: str
    kind: str
    judge: str
    criterion: str


class Rows:
    """Every case of a result with everything that was said of it, in the order of the run."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        stubs = {stub.id: stub for stub in result.cases}
        for score in result.scores:
            stubs.setdefault(score.case, CaseStub(score.case))
        self.runs = {run.case: run for run in result.execution.cases} if result.execution else {}
        for case in [*self.runs, *(rewarded.case for rewarded in result.rewards)]:
            stubs.setdefault(case, CaseStub(case))
        self.stubs = list(stubs.values())
        table = result.tasks
        plain = (s for s in result.judges if s.kind != "pairwise")  # which has a column of its own
        pairs = dict.fromkeys((s.judge, s.criterion) for s in plain)
        pairs |= dict.fromkeys((s.judge, s.criterion) for s in result.scores)
        kinds = {(s.judge, s.criterion): s.kind for s in result.judges}
        if table is not None:  # the rubric before the checks, which nearly always pass
            pairs = dict.fromkeys(sorted(pairs, key=lambda pair: pair[0] != table.judge))
        self.columns = [
            Column(
                judge if judge == criterion else f"{judge}.{criterion}",
                kinds.get((judge, criterion), ""),
                judge,
                criterion,
            )
            for judge, criterion in pairs
        ]
        self.tasks = {row.task: row for row in table.rows} if table is not None else {}
        self._beside = {
            (row.task, table.judge, cell.dimension): beside(cell)
            for row in self.tasks.values()
            for cell in row.cells
            if table is not None
        }
        self._scores = {(s.case, s.judge, s.criterion): s for s in result.scores}
        self._rewards: dict[str, dict[str, RewardScore]] = {}
        for rewarded in result.rewards:
            self._rewards.setdefault(rewarded.case, {}).update({reward.name: reward for reward in rewarded.rewards})
        names = dict.fromkeys(name for by_name in self._rewards.values() for name in by_name)
        self.columns += [Column(name, "reward", name, name) for name in names]
        self._pairs = [{case.case: case for case in pairwise.cases} for pairwise in result.pairwise]
        self.columns += [
            Column(f"{found.judge} (against {found.baseline})", "pairwise", found.judge, str(k))
            for k, found in enumerate(result.pairwise)
        ]

    def score(self, case: str, column: Column) -> Score | None:
        return self._scores.get((case, column.judge, column.criterion))

    def beside(self, case: str, column: Column) -> str:
        """How a dimension of a coding task stands beside its baseline."""
        return self._beside.get((case, column.judge, column.criterion), "")

    def rewards(self, case: str) -> Mapping[str, RewardScore]:
        return self._rewards.get(case, {})

    def pairwise(self, case: str) -> list[tuple[str, PairwiseCase]]:
        named = zip(self.result.pairwise, self._pairs, strict=True)
        return [(f"{found.judge} (against {found.baseline})", cases[case]) for found, cases in named if case in cases]

    def cell(self, case: str, column: Column) -> list[Any] | None:
        """`[status, value or kind, position on the scale, flagged]`, without what is missing at its end."""
        if column.kind == "reward":
            reward = self.rewards(case).get(column.judge)
            if reward is None:
                return None
            return ["u", "no value"] if reward.score is None else ["s", reward.score]
        if column.kind == "pairwise":
            found = self._pairs[int(column.criterion)].get(case)
            if found is None:
                return None
            if not found.winner:
                return ["u", found.failure.kind.value if found.failure else "no answer"]
            word = {"run": "win", "baseline": "loss"}.get(found.winner, found.winner)
            return ["s", word, {"win": 1, "loss": 0}.get(word, 0.5)]
        score = self.score(case, column)
        return None if score is None else cell(score)

    def said(self, case: str) -> list[list[Any]]:
        """The rationale or error of each column that has one, by the column's number."""
        found: list[list[Any]] = []
        for number, column in enumerate(self.columns):
            score = self.score(case, column) if column.kind not in ("reward", "pairwise") else None
            if score is not None and (text := _words(score)):
                found.append([number, Text(text, where=RESULT)])
        return found


def cell(score: Score) -> list[Any]:
    status = _STATUS[score.status]
    if score.status is not Status.SCORED:
        what = (score.error.kind.value if score.error else "unknown") if score.status is Status.UNSCORED else ""
        return [status, what, None, 1] if score.flagged else [status, what]
    position = None if score.normalised is None else round(score.normalised, 4)
    if score.flagged:
        return [status, _finite(score.value), position, 1]
    return [status, _finite(score.value)] if position is None else [status, _finite(score.value), position]


def _finite(value: Any) -> Any:
    return value if not isinstance(value, float) or abs(value) <= 1e300 else str(value)


def _words(score: Score) -> str:
    """What is searched and shown of a score: the particulars of its failure, else its rationale."""
    if score.error is not None:
        return (score.error.message or score.error.kind.sentence) + (f"\n{score.rationale}" if score.rationale else "")
    return score.rationale


def row(stub: CaseStub, rows: Rows, tags: dict[str, int], case: Case | None) -> list[Any]:
    """`[id, tags, state, cost, seconds, cells]`; cost is that of the agent and of the judges, as far as known."""
    run = rows.runs.get(stub.id)
    seconds = run.duration_s if run else (case.metrics.duration_s if case else None)
    made = [rows.cell(stub.id, column) for column in rows.columns]
    numbers = [tags.setdefault(tag, len(tags)) for tag in stub.tags]
    costs = [cost for cost in spent(stub.id, rows, case) if cost is not None]
    return [
        stub.id,
        numbers,
        run.state.value if run else "",
        round(sum(costs), 6) if costs else None,
        None if seconds is None else round(seconds, 2),
        made,
    ]


def spent(case_id: str, rows: Rows, case: Case | None) -> tuple[float | None, float | None]:
    """Cost in USD of the agent under test and of the judges; `None` is unknown."""
    run = rows.runs.get(case_id)
    agent = run.cost_usd if run else (case.metrics.cost_usd if case else None)
    found = [rows.score(case_id, column) for column in rows.columns]
    judging = [
        s.usage.cost_usd for s in found if s is not None and s.usage is not None and s.usage.cost_usd is not None
    ]
    return agent, sum(judging) if judging else None


def document(
    stub: CaseStub, rows: Rows, detail: CaseDetail | None, room: int, types: Mapping[str, str]
) -> dict[str, Any]:
    """What opens with the case, its texts cut to about `room` characters together."""
    made: dict[str, Any] = {}
    scores = {
        number: _more(score, rows.beside(stub.id, column))
        for number, column in enumerate(rows.columns)
        if (score := rows.score(stub.id, column)) is not None
    }
    made["scores"] = {str(number): more for number, more in scores.items() if more}
    annotations = detail.case.annotations if detail and detail.case.annotations else stub.annotations
    made["annotations"] = [[key, Text(_yaml(value))] for key, value in annotations.items()]
    run = rows.runs.get(stub.id)
    if run is not None:
        made["run"] = _run(run)
    agent, judging = spent(stub.id, rows, detail.case if detail else None)
    made["cost"] = [agent, judging]
    made["rewards"] = [msgspec.to_builtins(reward) for reward in rows.rewards(stub.id).values()]
    made["pairwise"] = [[name, _pairwise(found)] for name, found in rows.pairwise(stub.id)]
    if detail is not None:
        made |= _case(detail.case, detail, types)
        made["exchanges"] = [_exchange(exchange) for exchange in detail.exchanges]
        made["problem"] = detail.problem
    made = {key: value for key, value in made.items() if value not in ([], {}, "", None)}
    shorten(made, room)
    return made


def _more(score: Score, beside: str) -> dict[str, Any]:
    """What the list does not hold of a score."""
    made: dict[str, Any] = {
        "beside": beside,
        "printed": Text(score.printed, where=RESULT) if score.printed else None,
        "agreement": score.agreement,
        "raw": _finite(score.raw),
        "notes": [Text(note, where=RESULT) for note in score.notes],
        "tool_choice": score.tool_choice,
        "confidence": score.confidence,
        "model": score.model,
        "denials": score.denials,
        "exit_code": score.exit_code,
        "usage": msgspec.to_builtins(score.usage) if score.usage else None,
        "samples": [
            [
                _STATUS[sample.status],
                _finite(sample.value),
                sample.error.kind.value if sample.error else "",
                Text(sample.rationale or (sample.error.message if sample.error else ""), where=RESULT),
            ]
            for sample in score.samples
        ],
    }
    return {key: value for key, value in made.items() if value not in (None, "", [], {})}


def _run(run: CaseRun) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(run)
    made["error"] = Text(run.error, where=JOURNAL) if run.error else ""
    made["state"] = run.state.value
    made["steps"] = [
        {**msgspec.to_builtins(step), "state": step.state.value, "error": Text(step.error), "output": Text(step.output)}
        for step in run.steps
    ]
    return made


def _pairwise(found: PairwiseCase) -> dict[str, Any]:
    return {
        "winner": found.winner,
        "flipped": found.flipped,
        "failure": str(found.failure) if found.failure else "",
        "orders": [
            [
                order.order,
                order.preferred,
                Text(order.rationale, where=RESULT),
                str(order.failure) if order.failure else "",
            ]
            for order in found.orders
        ],
    }


def _case(case: Case, detail: CaseDetail, types: Mapping[str, str]) -> dict[str, Any]:
    place = f"{case.directory}/" if case.directory else ""
    baseline = detail.baseline
    metrics = msgspec.to_builtins(case.metrics)
    return {
        "directory": case.directory,
        "inputs": [[key, Text(_yaml(value), where=case.directory)] for key, value in case.inputs.items()],
        "outputs": [_output(name, file, f"{place}{name}", types) for name, file in case.outputs.items()],
        "baseline": None
        if baseline is None
        else [
            [name, 0 if isinstance(file, str) and case.outputs.get(name) == file else _file(file, f"baseline: {name}")]
            for name, file in baseline.items()
        ],
        "references": [[key, Text(text, where="the annotations of the case")] for key, text in case.references.items()],
        "events": Listing(records(case.events), where=case.directory) if case.events else None,
        "stdout": Text(case.stdout, where=f"{place}stdout.log") if case.stdout else None,
        "stderr": Text(case.stderr, where=f"{place}stderr.log") if case.stderr else None,
        "metrics": metrics,
        "notes": [Text(note) for note in case.notes],
    }


def _output(name: str, file: str | BinaryFile, where: str, types: Mapping[str, str]) -> list[Any]:
    """`[name, content]`, and the kind of a text that is more than text."""
    kind = kind_of(name, types) if isinstance(file, str) else "text"
    return [name, _file(file, where)] if kind in ("image", "text") else [name, _file(file, where), kind]


def _file(file: str | BinaryFile, where: str) -> Any:
    if isinstance(file, str):
        return Text(file, where=where)
    return {"binary": file.path, "size": file.size, "sha256": file.sha256}


def _exchange(exchange: Exchange) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(exchange)
    made["prompt"] = Text(exchange.prompt, where=JOURNAL)
    made["reply"] = Text(exchange.reply, where=JOURNAL)
    return made


def _yaml(value: Any) -> str:
    """A value of an input or annotation as text: strings as they are, the rest as indented JSON."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode()
    except (UnicodeEncodeError, OverflowError, TypeError, ValueError, RecursionError):
        return str(value)


def documents(
    rows: Rows, details: Callable[[str], CaseDetail] | None, budget: int, types: Mapping[str, str]
) -> tuple[list[dict[str, Any]], list[Case | None], Images]:
    """The document of every case, what is needed of its metrics, and the images that documents name. A case that
    cannot be read says why."""
    room = min(4_000_000, max(8_000, 20 * budget // max(1, len(rows.stubs))))
    made: list[dict[str, Any]] = []
    cases: list[Case | None] = []
    binary: list[Case] = []
    for stub in rows.stubs:
        detail: CaseDetail | None = None
        if details is not None:
            try:
                detail = details(stub.id)
            except (OSError, LookupError, ValueError, msgspec.MsgspecError) as error:
                detail = CaseDetail(case=Case(id=stub.id), problem=f"{type(error).__name__}: {error}")
        made.append(document(stub, rows, detail, room, types))
        cases.append(None if detail is None else Case(id=stub.id, metrics=detail.case.metrics))
        if detail is not None:
            files = {name: file for name, file in detail.case.outputs.items() if isinstance(file, BinaryFile)}
            binary.append(Case(id=stub.id, outputs=files, directory=detail.case.directory))
    images = Images(binary, types)
    for content in (output[1] for document in made for output in document.get("outputs", ())):
        if isinstance(content, dict) and (image := images.of(content["binary"])) is not None:
            content["image"] = image
    return made, cases, images


def texts(rows: Rows, said: Sequence[list[list[Any]]], room: int) -> list[list[list[Any]]]:
    """The searchable texts, cut so that each case has its share."""
    for one in said:
        shorten(one, max(2_000, 20 * room // max(1, len(said))))
    return list(said)

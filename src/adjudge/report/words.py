"""Numbers and names as every report writes them."""

from __future__ import annotations

import unicodedata

from adjudge.domain import Decision, HumanAgreement, JudgeSummary, PairwiseResult, RunResult, Threshold, Usage, Value


def judge_name(summary: JudgeSummary) -> str:
    return summary.judge if summary.judge == summary.criterion else f"{summary.judge}.{summary.criterion}"


def metric(summary: JudgeSummary) -> str:
    """The metric and its interval: `rate 0.81 [0.57, 0.93]`."""
    if summary.metric is None or summary.value is None:
        return "none" if not summary.n else "mixed booleans and numbers"
    name = {"pass_rate": "rate", "mean": "mean", "win_rate": "win rate"}[summary.metric]
    text = f"{name} {summary.value:.2f}"
    if summary.interval:
        text += f" [{summary.interval.low:.2f}, {summary.interval.high:.2f}]"
    return text


def unscored(summary: JudgeSummary) -> str:
    """`2 (timeout 1, crashed 1)`, or `0`."""
    if not summary.unscored:
        return "0"
    kinds = ", ".join(f"{kind} {count}" for kind, count in summary.unscored_kinds.items())
    return f"{summary.unscored} ({kinds})"


def people(agreement: HumanAgreement | None) -> str:
    """`12/14 agree, 2 false passes, 0 false fails`; `uncalibrated` when no case is labelled."""
    if agreement is None:
        return "uncalibrated"
    text = f"{agreement.agree}/{agreement.n} agree"
    text += f", {count(agreement.false_pass, 'false pass', 'false passes')}"
    text += f", {count(agreement.false_fail, 'false fail', 'false fails')}"
    return text + (f" (pass from {agreement.cut:g})" if agreement.cut is not None else "")


def trust(result: RunResult, judge: str) -> str:
    """What its certificate makes of a judge of coding tasks: calibrated, weak, uncalibrated; empty for other judges."""
    table = result.tasks
    return table.calibration.trust.value if table is not None and judge == table.judge else ""


def trusted(result: RunResult, summary: JudgeSummary) -> str:
    """How far a judge is to be trusted: by its certificate, and by how it stands beside people on this run."""
    word = trust(result, summary.judge)
    if not word:
        return people(summary.people)
    return f"{word}; {people(summary.people)}" if summary.people is not None else word


def remarks(summary: JudgeSummary) -> list[str]:
    """What should be known of a judge's answers: how far its panel agrees, what was flagged, how it was asked."""
    found = []
    if summary.panel is not None:
        members = ", ".join(summary.panel.members)
        agree = (
            "no two answers on one case" if summary.panel.agreement is None else f"{summary.panel.agreement:.0%} agree"
        )
        found.append(f"a panel of {members}: {agree} (over {count(summary.panel.pairs, 'pair', 'pairs')})")
    if summary.flagged:
        cases = count(summary.flagged, "case has", "cases have")
        found.append(f"{cases} the lowest score, because something in them tries to instruct the judge")
    if summary.tool_choice_fallbacks:
        cases = count(summary.tool_choice_fallbacks, "case", "cases")
        found.append(f"in {cases} the model would not be forced to call the verdict's tool")
    return found


def compared(result: PairwiseResult) -> list[str]:
    """Wins, losses, ties and flips of a comparison, and how far place and length went with the preference."""
    text = f"{count(result.wins, 'win', 'wins')}, {count(result.losses, 'loss', 'losses')}, "
    text += f"{count(result.ties, 'tie', 'ties')}, of them {count(result.flips, 'flip', 'flips')} with the place"
    text += f"; exact sign test p {result.p:.2g}" if result.p is not None else ""
    return [text, *biases(result)]


def biases(result: PairwiseResult) -> list[str]:
    """How often what stood first was preferred, and how often the longer output won."""
    found = []
    if result.first_share is not None:
        found.append(f"{result.first_share:.0%} of all preferences went to what stood first")
    if result.longer is not None:
        one = result.longer
        share = f"{one.won} of {one.n} won cases, 95% {one.low:.0%} to {one.high:.0%}, p {one.p:.2g}"
        found.append(f"the longer output won {share}")
    return found


def tokens(usage: Usage) -> str:
    """`12 model calls, 3400 input and 560 output tokens, 82% of the input read from the provider's cache, $0.0123`."""
    every = usage.input + usage.cache_read + usage.cache_write
    text = f"{count(usage.calls, 'model call', 'model calls')}, {every} input and {usage.output} output tokens"
    if every:
        text += f", {usage.cache_read / every:.0%} of the input read from the provider's cache"
    if usage.reasoning:
        text += f", {usage.reasoning} of the output spent on reasoning"
    return f"{text}, {usd(usage)}"


def usd(usage: Usage | None) -> str:
    """`$0.0123`, `unknown` when no call has a price, `$0.01 + unknown` when some have none."""
    if usage is None or usage.calls == 0:
        return "-"
    if usage.cost_usd is None:
        return "unknown"
    return f"${usage.cost_usd:.4f}" + (f" + {usage.unpriced_calls} unpriced" if usage.unpriced_calls else "")


def value(raw: Value | None) -> str:
    if raw is None:
        return ""
    if isinstance(raw, bool):
        return "pass" if raw else "fail"
    return f"{raw:.4g}" if isinstance(raw, float) else str(raw)


def threshold(bounds: Threshold | None) -> str:
    """`min_pass_rate 0.8, max_drop 0.1`, or nothing."""
    if bounds is None:
        return ""
    keys = ("min_mean", "min_pass_rate", "min_win_rate", "max_error_rate", "max_drop")
    return ", ".join(f"{key} {getattr(bounds, key):g}" for key in keys if getattr(bounds, key) is not None)


def worst(result: RunResult, judge: str, criterion: str = "") -> str:
    """The decision of the gate on one judge, or on one criterion of it: the gravest of its comparisons; `-` for a pass
    without any threshold."""
    checks = [c for c in result.gate.checks if c.judge == judge and c.criterion in ("", criterion or c.criterion)]
    decisions = {check.decision for check in checks}
    order = (Decision.FAIL, Decision.BROKEN, Decision.INCONCLUSIVE)
    bare = Decision.PASS.value if any(check.bound is not None for check in checks) else "-"
    return next((decision.value for decision in order if decision in decisions), bare)


def totals(result: RunResult) -> str:
    """`14 cases, 5 judges, 70 scores, 0 unscored`."""
    unscored_count = sum(summary.unscored for summary in result.judges)
    scored = sum(summary.n for summary in result.judges)
    abstained = sum(summary.abstained for summary in result.judges)
    return (
        f"{count(len(result.cases), 'case', 'cases')}, {count(len(result.judges), 'judge', 'judges')}, "
        f"{scored} scored, {unscored_count} unscored" + (f", {abstained} abstained" if abstained else "")
    )


def printable(text: str) -> str:
    """Text without what could steer a terminal, or hide from or mislead a reader; newlines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _replacement(c) for c in text)


def _replacement(character: str) -> str:
    """A space for other blanks, nothing for a carriage return, a visible mark for what is invisible."""
    if character == "\r":
        return ""
    return " " if unicodedata.category(character) == "Zs" else "\N{REPLACEMENT CHARACTER}"


def one_line(text: str, limit: int = 300) -> str:
    """Printable text on one line, cut with a mark."""
    line = " ".join(printable(text).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


MOST_REWARDS = 20
"""Of a formula, one a case; more are told as their mean."""


def rewards(result: RunResult) -> list[str]:
    """Each reward with its value, under its case where there are several: `reward: 0.75`."""
    lines = []
    formula = [reward for case in result.rewards for reward in case.rewards if reward.kind == "formula"]
    if len(formula) > MOST_REWARDS:
        known = [reward.score for reward in formula if reward.score is not None]
        mean = f"mean {sum(known) / len(known):.4g} over {count(len(known), 'case', 'cases')}" if known else "no value"
        without = f", {len(formula) - len(known)} without a value" if len(known) < len(formula) else ""
        return [f"{formula[0].name}: {mean}{without}"]
    for case in result.rewards:
        for reward in case.rewards:
            name = f"{case.case}: {reward.name}" if len(result.rewards) > 1 else reward.name
            value = f"{reward.score:g}" if reward.score is not None else "no value"
            if reward.kind == "formula" and reward.score is None and reward.failure:  # others tell the gate
                value += f" ({one_line(reward.failure)})"
            gate = f" (the gate {reward.gated} failed)" if reward.gated else ""
            flag = " (the work addresses its judge)" if reward.flagged else ""
            lines.append(f"{name}: {value}{gate}{flag}")
    return lines

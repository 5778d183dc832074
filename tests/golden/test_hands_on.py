"""Golden log number one: five rows, six columns, in every form people paste it, in English and in Chinese."""

import json
from pathlib import Path

import pytest

from holter.findings.diagnosis import Diagnosis, diagnose
from holter.findings.finding import Confidence
from holter.runs.load import load

ENGLISH = ("step", "mean reward", "KL divergence", "policy loss", "value loss", "eval score")
CHINESE = ("步骤", "平均奖励", "KL散度", "策略损失", "价值损失", "评估分数")
ROWS = (
    ("1000", "2.5", "15.2", "0.25", "0.40", "0.65"),
    ("2000", "3.1", "18.5", "0.18", "0.32", "0.70"),
    ("3000", "3.5", "22.1", "0.15", "0.28", "0.72"),
    ("4000", "3.8", "35.6", "0.45", "0.60", "0.68"),
    ("5000", "4.0", "45.1", "0.55", "0.75", "0.62"),
)


def as_csv(head, rows):
    return "\n".join(",".join(r) for r in [head, *rows]) + "\n"


def as_tsv(head, rows):
    return "\n".join("\t".join(r) for r in [head, *rows]) + "\n"


def as_markdown(head, rows):
    lines = [f"| {' | '.join(r)} |" for r in [head, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) + "\n"


def as_jsonl(head, rows):
    return "".join(json.dumps(dict(zip(head, map(float, r), strict=True)), ensure_ascii=False) + "\n" for r in rows)


def as_pasted(head, rows):
    return (
        "Here is my run, is it normal?\n\n"
        + "\n".join("   ".join(f"{c:<12}" for c in r).rstrip() for r in [head, *rows])
        + "\n"
    )


FORMS = {"csv": as_csv, "tsv": as_tsv, "md": as_markdown, "jsonl": as_jsonl, "txt": as_pasted}
EVERY = [(form, head) for form in FORMS for head in (ENGLISH, CHINESE)]
IDS = [f"{form}-{'en' if head is ENGLISH else 'zh'}" for form, head in EVERY]


def diagnosis(tmp_path: Path, form: str, head: tuple[str, ...], rows=ROWS) -> Diagnosis:
    log = tmp_path / f"run.{form}"
    log.write_text(FORMS[form](head, rows), encoding="utf-8")
    (run,) = load([log]).runs
    return diagnose(run)


@pytest.mark.parametrize(("form", "head"), EVERY, ids=IDS)
def test_says_what_is_wrong_since_when_and_how_sure(tmp_path, form, head):
    said = diagnosis(tmp_path, form, head)
    healthy, sick = said.phases
    assert (healthy.first_step, healthy.last_step, healthy.status) == (1000, 3000, "healthy")
    assert (sick.first_step, sick.last_step, sick.status) == (4000, 5000, "critical")
    reward, kl, policy_loss, value_loss, score = head[1:]
    assert reward in healthy.title.split(" rise")[0]
    assert score in healthy.title.split(" rise")[0]
    assert policy_loss in healthy.title.split(" rise")[1]
    assert value_loss in healthy.title.split(" rise")[1]
    found = {f.detector: f for f in said.findings}
    assert {"kl-runaway", "reward-hacking", "policy-loss-diverges", "value-loss-diverges"} <= set(found)
    for name in ("kl-runaway", "reward-hacking", "policy-loss-diverges", "value-loss-diverges"):
        assert found[name].first_step == 4000, name
        assert found[name].active, name
    assert "13.5" in found["kl-runaway"].title
    assert kl in found["kl-runaway"].title
    assert said.verdict.status == "critical"
    assert said.verdict.confidence is Confidence.MODERATE
    assert "likely, not certain" in said.verdict.title
    assert "step 4000" in said.verdict.title
    assert "carry only so much" in said.verdict.text
    assert said.last_good_step == 3000


@pytest.mark.parametrize(("form", "head"), EVERY, ids=IDS)
def test_advises_what_a_good_colleague_would(tmp_path, form, head):
    advice = " ".join(diagnosis(tmp_path, form, head).advice)
    for piece in ("KL coefficient", "KL target", "from step 4000", "learning rate", "step 3000"):
        assert piece in advice


@pytest.mark.parametrize(("form", "head"), EVERY, ids=IDS)
def test_cut_at_step_3000_it_is_healthy(tmp_path, form, head):
    said = diagnosis(tmp_path, form, head, ROWS[:3])
    assert said.verdict.status in ("healthy", "info")
    assert said.verdict.title.startswith("Healthy")
    assert [p.status for p in said.phases] == ["healthy"]


def test_every_form_gives_the_same_numbers(tmp_path):
    tables = set()
    for form, head in EVERY:
        run = diagnosis(tmp_path, form, head).run
        tables.add(
            tuple(
                (k, tuple(s.values), str(s.unit), tuple(s.steps))
                for k, s in sorted(run.series.items())
                if s.concept != "axis"
            )
        )
    assert len(tables) == 1


def test_the_size_of_the_evaluation_makes_the_case_stronger(tmp_path):
    """With 1,000 items the fall of the score is many standard errors; without, it is a pattern."""
    from dataclasses import replace

    log = tmp_path / "run.csv"
    log.write_text(as_csv(ENGLISH, ROWS), encoding="utf-8")
    (run,) = load([log]).runs
    known = diagnose(replace(run, config={**run.config, "eval_size": 1000}))
    unknown = diagnose(run)

    def hacking(said):
        return next(f for f in said.findings if f.detector == "reward-hacking")

    assert hacking(known).confidence.rank < hacking(unknown).confidence.rank

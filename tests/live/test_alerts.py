"""What is news, and who hears of it."""

from __future__ import annotations

from dataclasses import replace

from holter.alerts import Ledger
from holter.findings.finding import Confidence, Evidence, Finding, Severity
from holter.settings import AlertSettings

KL = Finding(
    detector="kl-runaway",
    code="HLT201",
    severity=Severity.WARNING,
    confidence=Confidence.MODERATE,
    title="kl leaves its trend",
    first_step=40,
    last_step=45,
    onset=(39, 41),
    raised_step=45,
    active=True,
    evidence=(Evidence(metric="kl", key="kl", steps=(45,), values=(3.0,), unit="nats/token", says="far"),),
)
REWARD = replace(KL, detector="reward-collapse", code="HLT301", title="reward falls", first_step=44)


def told(ledger: Ledger, *moments: tuple[list[Finding], float], rows: int = 50) -> list[list[tuple[str, str, bool]]]:
    """What changed at each moment: kind, detector, whether people hear of it."""
    return [
        [(a.kind, a.finding.detector, a.told) for a in ledger.update(found, rows=rows, step=50, now=now)]
        for found, now in moments
    ]


def test_each_change_is_said_once():
    worse = replace(KL, severity=Severity.CRITICAL)
    over = replace(worse, active=False)
    assert told(Ledger(), ([], 0), ([KL], 1), ([KL], 2), ([worse], 3), ([worse], 4), ([over], 5), ([over], 6)) == [
        [],
        [("opened", "kl-runaway", True)],
        [],
        [("worsened", "kl-runaway", True)],
        [],
        [("resolved", "kl-runaway", True)],
        [],
    ]


def test_a_finding_that_is_no_longer_made_is_resolved():
    assert told(Ledger(), ([KL], 0), ([], 1), ([], 2)) == [
        [("opened", "kl-runaway", True)],
        [("resolved", "kl-runaway", True)],
        [],
    ]


def test_one_that_sinks_below_the_floor_is_resolved_and_may_come_back():
    mild = replace(KL, severity=Severity.INFO)
    ledger = Ledger(cool_down=10)
    assert told(ledger, ([mild], 0), ([KL], 1), ([mild], 2), ([KL], 3), ([mild], 4), ([KL], 30)) == [
        [],
        [("opened", "kl-runaway", True)],
        [("resolved", "kl-runaway", True)],
        [("opened", "kl-runaway", False)],
        [("resolved", "kl-runaway", False)],
        [("opened", "kl-runaway", True)],
    ]


def test_a_beginning_that_is_estimated_anew_is_the_same_finding():
    moved = replace(KL, first_step=38, last_step=47)
    another = replace(KL, first_step=60, last_step=61)
    assert told(Ledger(cool_down=0), ([KL], 0), ([moved], 1), ([replace(moved, active=False), another], 2)) == [
        [("opened", "kl-runaway", True)],
        [],
        [("resolved", "kl-runaway", True), ("opened", "kl-runaway", True)],
    ]


def test_the_same_detector_is_not_heard_again_within_the_cool_down_unless_it_is_worse():
    second = replace(KL, first_step=60, last_step=61)
    third = replace(second, first_step=80, last_step=81, severity=Severity.CRITICAL)
    first = replace(KL, active=False)
    moments = ([KL], 0), ([first, second], 100), ([first, second, third], 101)
    assert [kind for each in told(Ledger(cool_down=600), *moments) for kind in each] == [
        ("opened", "kl-runaway", True),
        ("resolved", "kl-runaway", True),
        ("opened", "kl-runaway", False),
        ("opened", "kl-runaway", True),
    ]


def test_a_consequence_is_written_and_not_told_unless_it_weighs_more_than_its_cause():
    consequence = replace(REWARD, caused_by="kl-runaway")
    grave = replace(consequence, severity=Severity.CRITICAL)
    assert told(Ledger(), ([KL, consequence], 0), ([grave, KL], 1)) == [
        [("opened", "kl-runaway", True), ("opened", "reward-collapse", False)],
        [("worsened", "reward-collapse", True)],
    ]


def test_the_start_is_quiet_for_all_but_critical_findings():
    ledger = Ledger(quiet_rows=5)
    grave = replace(REWARD, severity=Severity.CRITICAL)
    assert told(ledger, ([KL, grave], 0), rows=5) == [[("opened", "reward-collapse", True)]]
    assert told(ledger, ([KL, grave], 1), rows=6) == [[("opened", "kl-runaway", True)]]


def test_what_is_below_the_floor_is_not_said():
    mild = replace(KL, severity=Severity.INFO)
    assert told(Ledger(), ([mild], 0)) == [[]]
    assert told(Ledger(floor=Severity.CRITICAL), ([KL], 0)) == [[]]
    assert told(Ledger(floor=Severity.INFO), ([mild], 0)) == [[("opened", "kl-runaway", True)]]


def test_one_that_was_over_before_anybody_looked_is_said_as_over():
    (alert,) = Ledger().update([replace(KL, active=False)], rows=50, step=50, now=0)
    assert str(alert) == "kl-runaway warning since step 40 (seen at 50, already over): kl leaves its trend."
    assert alert.record()["finding"]["active"] is False


def test_one_line_says_what_since_when_and_where_to_go_back_to():
    ledger = Ledger()
    (alert,) = ledger.update([KL], rows=50, step=45, now=0, last_good_step=39)
    assert str(alert) == "kl-runaway warning since step 40 (seen at 45): kl leaves its trend. Last good step: 39."
    (worse,) = ledger.update([replace(KL, severity=Severity.CRITICAL)], rows=51, step=46, now=1)
    assert str(worse) == "kl-runaway is now critical since step 40 (seen at 46): kl leaves its trend."
    (over,) = ledger.update([], rows=52, step=47, now=2)
    assert str(over) == "kl-runaway is over (since step 40, seen at 47): kl leaves its trend"


def test_what_was_not_told_for_a_reason_that_is_gone_is_told_later():
    ledger = Ledger(cool_down=600)
    over, later = replace(KL, active=False), replace(KL, first_step=60, last_step=61)
    moments = [([KL], 0), ([over, later], 10), ([over, later], 500), ([over, later], 601), ([over, later], 2000)]
    said = [[(a.kind, a.told) for a in ledger.update(f, rows=99, step=99, now=now)] for f, now in moments]
    assert said == [
        [("opened", True)],
        [("resolved", True), ("opened", False)],
        [],
        [("persists", True)],
        [],
    ]


def test_a_consequence_that_outlives_its_cause_is_told():
    consequence = replace(REWARD, caused_by="kl-runaway")
    alone = replace(REWARD, caused_by=None)
    assert told(Ledger(), ([KL, consequence], 0), ([replace(KL, active=False), alone], 1)) == [
        [("opened", "kl-runaway", True), ("opened", "reward-collapse", False)],
        [("resolved", "kl-runaway", True), ("persists", "reward-collapse", True)],
    ]


def test_what_a_resumed_run_was_known_to_have_is_told_only_when_it_is_over():
    ledger = Ledger()
    assert ledger.update([KL], rows=50, step=50, now=0, silent=True) == []
    assert told(ledger, ([KL], 1), ([], 2)) == [[], [("resolved", "kl-runaway", True)]]


def test_settings_say_what_counts():
    ledger = Ledger.of(AlertSettings(floor="critical", cool_down=0.0, quiet_rows=0))
    grave = replace(REWARD, severity=Severity.CRITICAL)
    assert told(ledger, ([KL, grave], 0), rows=1) == [[("opened", "reward-collapse", True)]]

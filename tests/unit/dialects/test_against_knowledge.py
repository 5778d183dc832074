"""Our tables against the collection of mappings that was read from the frameworks' sources, name by name."""

from pathlib import Path

import pytest

from holter.dialects.registry import all_dialects, detect, dialect, is_ignored, lineage, meaning
from holter.runs.run import signal_of
from tests.unit.dialects.test_tables import example

KNOWLEDGE = Path(__file__).parents[4] / "shared" / "knowledge" / "dialects.yaml"
yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(not KNOWLEDGE.exists(), reason="the collection is not here")

COLLECTED = yaml.safe_load(KNOWLEDGE.read_text(encoding="utf-8")) if KNOWLEDGE.exists() else {"frameworks": {}}
ENTRIES = [(name, entry) for name, told in COLLECTED["frameworks"].items() for entry in told["keys"]]
RENAMED = {
    "kl_coef": "objective/kl_coef",
    "eval/{name}/pass_at_{k}": "eval/all/pass_at_{k}",
    "time/total": "eval/time",
}
"""Keys that our catalog has under another name, or splits: TRL's own name of the coefficient; the name of a benchmark where a
framework has only one; the time of an evaluation, which ``eval_runtime`` is."""
OURS = {
    ("slime", r"passrate/pass@(?P<k>\d+)"): "eval/train_rollouts/pass_at_{k}",
}
"""Where our key says more: which completions a pass rate is measured on."""


def ours(name):
    return dialect("trl-ppo" if name == "trl_ppov2" else name.replace("_", "-"))


def entry_of(spoken, entry):
    """Our entry for a collected one, by its name, its pattern, or a name that its pattern matches; and its full key."""
    if "key" in entry:
        found = meaning(spoken, entry["key"])
        return (found.name, found.full_key) if found is not None else None
    for table in lineage(spoken):
        for name in table.names:
            if name.raw == entry["re"]:
                return name, name.key
    found = meaning(spoken, example(entry["re"]))
    if found is None:
        return None
    return found.name, found.name.key if "{" in found.name.key else found.full_key


def test_every_framework_of_the_collection_has_a_dialect():
    assert {ours(name).name for name in COLLECTED["frameworks"]} == set(all_dialects()) - {"holter", "minimind-grpo"}


@pytest.mark.parametrize("framework", list(COLLECTED["frameworks"]))
def test_names_have_the_collected_meaning_scale_sign_and_fit(framework):
    spoken = ours(framework)
    wrong = []
    for entry in COLLECTED["frameworks"][framework]["keys"]:
        raw = entry.get("key", entry.get("re"))
        found = entry_of(spoken, entry)
        if found is None:
            wrong.append((raw, "unknown"))
            continue
        name, key = found
        expected = {entry["to"], RENAMED.get(entry["to"]), OURS.get((framework, raw))}
        if key not in expected and signal_of(key) != signal_of(entry["to"]):
            wrong.append((raw, key, entry["to"]))
        conversion = (entry.get("scale", 1), entry.get("power", 1), entry.get("offset", 0))
        if (name.scale, name.power, name.offset) != conversion:
            wrong.append((raw, (name.scale, name.power, name.offset), conversion))
        if "est" in entry and str(name.estimator or signal_of(key)[0].estimator) != entry["est"]:
            wrong.append((raw, name.estimator, entry["est"]))
        versions = (str(entry.get("since", "")), str(entry.get("until", "")))
        if framework != "generic" and (name.since, name.until) != versions:
            wrong.append((raw, (name.since, name.until), versions))
    assert not wrong


@pytest.mark.parametrize("framework", list(COLLECTED["frameworks"]))
def test_what_carries_no_signal_there_carries_none_here(framework):
    spoken = ours(framework)
    names = [n for n in COLLECTED["frameworks"][framework].get("ignore", ()) if not n.startswith("re:")]
    assert not [n for n in names if not is_ignored(spoken, n) and meaning(spoken, n) is None]


@pytest.mark.parametrize("rule", COLLECTED.get("detect", {}).get("rules", []), ids=lambda r: r["id"])
def test_a_typical_row_gives_its_framework_away(rule):
    found = detect(rule["row"])
    # Loss, learning rate and gradient norm without an epoch are what any loop logs.
    bare = rule["id"] == "hf_trainer" and "epoch" not in rule["row"]
    assert found is (dialect("generic") if bare else ours(rule["id"]))

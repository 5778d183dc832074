"""The JSON report: valid by its schema, and held to a golden file."""

import json
import os
from importlib.resources import files
from pathlib import Path

import jsonschema

from holter.reports import json as contract
from tests.unit.reports.diagnoses import REFUSED, healthy, sick

GOLDEN = Path(__file__).parent / "golden" / "report.json"


def test_the_report_is_the_golden_one_and_valid():
    said = contract.check([sick(), healthy()], REFUSED)
    jsonschema.validate(said, json.loads((files("holter.reports") / "check.schema.json").read_text(encoding="utf-8")))
    if os.environ.get("HOLTER_UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    assert said == json.loads(GOLDEN.read_text(encoding="utf-8"))

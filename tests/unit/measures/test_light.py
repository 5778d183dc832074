"""The functions are there without torch."""

import subprocess
import sys


def test_importing_the_signals_imports_no_torch():
    code = (
        "import sys, holter.signals, holter.recorder.recorder, holter.sinks.registry as registry;"
        "registry.all_trackers(); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_exported_name_is_a_function_or_class_also_after_all_modules_were_walked():
    from holter import signals
    from holter.signals.catalog import catalog

    catalog()
    assert {"kl", "ratio", "entropy", "clipped", "tally"} <= set(signals.__all__)
    for name in signals.__all__:
        assert callable(getattr(signals, name)), name
        assert f"`{name}`" in signals.__doc__

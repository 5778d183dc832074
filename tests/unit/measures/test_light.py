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


def test_every_exported_name_is_there_and_none_is_a_module():
    import types

    from holter import signals

    for name in signals.__all__:
        assert not isinstance(getattr(signals, name), types.ModuleType)

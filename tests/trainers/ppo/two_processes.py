"""Run by torchrun on two processes: trains as `test_invariance.whole` does, and writes what the main process logged."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.trainers.ppo.replay import replay, rows_of
from tests.trainers.ppo.test_invariance import SETTINGS, updates

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    trainer = replay(folder / "run", updates(), per_device_train_batch_size=4, **SETTINGS)
    rows = rows_of(trainer)
    if trainer.is_world_process_zero():
        (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")

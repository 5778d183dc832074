"""Record what TRL's PPOTrainer logs, for the parity test: TRL 1.12 was the last with one, so it is recorded once and kept.

Runs in an environment of its own, without Holter::

    python -m venv trl-1.12
    trl-1.12/bin/pip install torch==2.13.0 transformers==5.24.0 trl==1.12.0 accelerate datasets
    trl-1.12/bin/python scripts/record_trl_ppo.py

For each scenario of `tests/trainers/ppo/parity_world.py` it writes prompts, responses and logged numbers of every update to
`tests/golden/trl_ppo/`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "trainers" / "ppo"))
GOLDEN = ROOT / "tests" / "golden" / "trl_ppo"


def main() -> None:
    """Record every scenario."""
    import parity_world

    GOLDEN.mkdir(parents=True, exist_ok=True)
    for scenario in parity_world.SCENARIOS:
        lines = ",\n".join(json.dumps(update) for update in recorded(scenario))
        (GOLDEN / f"{scenario}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def recorded(scenario: str) -> list[dict[str, object]]:
    """Prompts, responses and logged numbers of each update."""
    import parity_world
    import torch
    import trl.experimental.ppo.ppo_trainer as module
    from datasets import Dataset
    from transformers import set_seed

    torch.set_num_threads(1)
    set_seed(0)
    sampled: list[tuple[list[list[int]], list[list[int]]]] = []
    generation = module.batch_generation

    def listening(model: object, queries: torch.Tensor, *rest: object) -> tuple[torch.Tensor, torch.Tensor]:
        both, logits = generation(model, queries, *rest)
        sampled.append((queries.tolist(), both[:, queries.shape[1] :].tolist()))
        return both, logits

    module.batch_generation = listening
    rows = Dataset.from_dict({"input_ids": parity_world.prompts()})
    with tempfile.TemporaryDirectory() as folder:
        trainer = module.PPOTrainer(
            args=module.PPOConfig(output_dir=folder, **parity_world.settings(scenario)),
            processing_class=parity_world.tokenizer(),
            train_dataset=rows,
            eval_dataset=rows,
            **parity_world.models(scenario),
        )
        trainer.train()
    module.batch_generation = generation
    logged = [row for row in trainer.state.log_history if "objective/kl" in row]
    out = []
    for (queries, responses), row in zip(sampled, logged, strict=True):
        out.append(
            {
                "prompts": [[t for t in q if t != parity_world.PAD] for q in queries],
                "responses": [until_end(r, parity_world.EOS) for r in responses],
                "logged": {k: "NaN" if v != v else v for k, v in row.items() if k not in ("eps", "epoch")},
            }
        )
    return out


def until_end(response: list[int], eos: int) -> list[int]:
    """A response up to and including its end token."""
    return response[: response.index(eos) + 1] if eos in response else response


if __name__ == "__main__":
    main()

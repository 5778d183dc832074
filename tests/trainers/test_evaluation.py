import math

import pytest
import tiny_world
import torch

from holter.errors import SettingsError
from holter.store import reading

HELD_OUT = [{"prompt": p, "level": i} for i, p in enumerate(tiny_world.prompts(6, seed=5))]


def brevity(prompts, completions, level, **_):
    assert len(level) == len(completions)
    return [-float(len(c.split())) for c in completions]


def evaluated(grpo, trained, **options):
    trainer = grpo(
        report_to="holter",
        eval_strategy="steps",
        eval_steps=2,
        num_generations_eval=2,
        per_device_eval_batch_size=4,
        beta=0.0,
        **{"max_steps": 2, **options},
    )
    trained(trainer)
    return trainer, [r for r in trainer.state.log_history if any(k.startswith("eval_") for k in r)]


def test_evidence_beside_the_proxy_is_measured_at_step_0_and_at_eval_steps(grpo, trained):
    trainer, rows = evaluated(
        grpo,
        trained,
        eval_dataset=HELD_OUT,
        perplexity_dataset=tiny_world.texts(5),
        alignment_scorers={"brevity": brevity},
        preference_dataset=[
            {"prompt": "about the dog :", "chosen": "the dog is happy .", "rejected": "the dog is sad ."},
            {"prompt": "about the dog :", "chosen": "the cat is sad .", "rejected": "the dog is happy ."},
            {"prompt": "about the dog :", "chosen": "the cat is sad .", "rejected": "the cat is sad ."},
        ],
    )
    assert [r["step"] for r in rows] == [0, 2]
    for row in rows:
        assert row["eval_reward"] == pytest.approx(
            row["eval_rewards/cheerfulness/mean"] + row["eval_rewards/on_topic/mean"], abs=1e-6
        )
        assert row["eval_alignment/brevity"] < 0
        assert row["eval_alignment/brevity/standard_error"] > 0
        assert row["eval_preference_accuracy"] == pytest.approx(0.5)
        assert row["eval_preference_margin"] == pytest.approx((1.0 - 2.0 + 0.0) / 3)
        assert 1 < row["eval_perplexity"] < 100
    assert trainer.evaluation.size == 6
    assert reading.segments(trainer.report.folder)[0].manifest.config["eval_size"] == 6
    keys = {k for r in reading.rows(trainer.report.folder) for k in r.values if k.startswith("eval")}
    assert {"eval/perplexity", "eval/alignment/brevity", "eval/preference_accuracy", "eval/reward"} <= keys


def test_standard_errors_are_over_prompts_not_over_completions(grpo, trained):
    """Completions of one prompt are alike; counted as independent they would look surer than they are."""
    from holter.trainers.evaluation import with_error

    found = with_error("x", [1.0, 2.0, 4.0, float("nan")])
    assert found["x"] == pytest.approx(7 / 3)
    assert found["x/standard_error"] == pytest.approx(math.sqrt((16 / 9 + 1 / 9 + 25 / 9) / 2 / 3))
    assert with_error("x", [float("nan")]) == {}
    assert with_error("x", [2.0]) == {"x": 2.0}


def test_perplexity_is_that_of_a_plain_loop(grpo, taught, tokenizer):
    texts = tiny_world.texts(7)
    trainer = grpo(perplexity_dataset=[{"text": t} for t in texts], temperature=0.5)
    total, count = 0.0, 0
    with torch.no_grad():
        for text in texts:
            ids = torch.tensor([tokenizer(text)["input_ids"]])
            logs = taught(ids).logits[0, :-1].log_softmax(-1)
            total -= logs.gather(-1, ids[0, 1:, None]).sum().item()
            count += ids.shape[1] - 1
    assert trainer.evaluate()["eval_perplexity"] == pytest.approx(math.exp(total / count), rel=1e-5)


def test_several_held_out_sets_have_names(grpo, trained):
    _, rows = evaluated(grpo, trained, eval_dataset={"easy": HELD_OUT[:3], "hard": HELD_OUT[3:]})
    assert {"eval_easy_reward", "eval_hard_reward"} <= set(rows[0])


def test_evaluation_leaves_the_training_numbers_alone(grpo, trained):
    trainer, _ = evaluated(grpo, trained, eval_dataset=HELD_OUT)
    rows = [r for r in trainer.state.log_history if "loss" in r]
    assert [r["step"] for r in rows] == [1, 2]
    assert all("time/rollout" in r for r in rows)
    assert trainer.model.training


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"preference_dataset": [{"prompt": "a", "chosen": "b"}]}, "no column rejected"),
        ({"perplexity_dataset": [{"txt": "a"}]}, "no column 'text', only txt"),
        ({"alignment_scorers": {"a": brevity}}, "pass them as eval_dataset"),
    ],
)
def test_what_is_missing_is_said(grpo, options, said):
    with pytest.raises(SettingsError, match=said):
        grpo(**options)


def test_a_scorer_that_forgets_a_completion_is_named(grpo):
    trainer = grpo(eval_dataset=HELD_OUT, alignment_scorers={"lazy": lambda completions, **_: [1.0]})
    with pytest.raises(SettingsError, match="'lazy' returned 1 scores for"):
        trainer.evaluate()


def test_a_scorer_may_be_asynchronous(grpo):
    async def judge(completions, **_):
        return [1.0 if i % 2 else None for i in range(len(completions))]

    found = grpo(eval_dataset=HELD_OUT, alignment_scorers={"judge": judge}, num_generations_eval=2).evaluate()
    assert (found["eval_alignment/judge"], found["eval_alignment/judge/standard_error"]) == (1.0, 0.0)


def test_what_reward_functions_log_in_evaluation_stays_there(grpo, trained):
    def talks(completions, log_metric, log_extra, **_):
        log_metric("my/size", float(len(completions)))
        log_extra("column", list(completions))
        return [0.0] * len(completions)

    trainer, rows = evaluated(grpo, trained, rewards=[talks], eval_dataset=HELD_OUT)
    assert [r["eval_my/size"] for r in rows] == [4.0, 4.0]
    assert all(r["my/size"] == 8.0 for r in trainer.state.log_history if "loss" in r)


def test_evaluation_in_the_middle_of_a_row_leaves_its_times_alone(grpo, trained):
    trainer, _ = evaluated(grpo, trained, eval_dataset=HELD_OUT, logging_steps=3, max_steps=3)
    assert next(r for r in trainer.state.log_history if "loss" in r)["time/rollout"] > 0

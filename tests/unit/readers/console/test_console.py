"""What a console does to rows: bars, wraps, ranks, prefixes, several runs, torn ends; and what is no log at all."""

import json

import pytest

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.console.reader import CONSOLE
from holter.readers.registry import read
from holter.runs.canonical import canonical
from holter.runs.load import load
from tests.unit.readers.wandb import files


def logs_of(text, name="run.log"):
    return list(CONSOLE.read(Source(name, data=text.encode())))


def rows_of(text):
    (log,) = logs_of(text)
    rows = [{} for _ in range(log.rows)]
    for key, column in log.columns.items():
        for row, value in zip(column.at.tolist(), column.values.tolist(), strict=True):
            rows[row][key] = value
    return rows


def hf(i, **more):
    return repr({"loss": i / 8, "reward": i / 4, "kl": 0.001 * i, "epoch": round(i / 100, 2), **more})


def verl(i, *extra):
    items = [f"actor/pg_loss:{i / 8!r}", f"critic/score/mean:{i / 4!r}", f"response_length/mean:{100.5 + i!r}", *extra]
    return f"step:{i} - " + " - ".join(items)


def bar(done, total=100):
    return f"{100 * done // total:3d}%|{'#' * (done // 10)}| {done}/{total} [00:10<01:30,  1.00s/it]"


def test_nan_and_calls_and_texts_of_numbers_are_numbers():
    (row,) = rows_of("{'loss': nan, 'reward': np.float64(0.5), 'kl': '0.0004882', 'lr': -inf, 'x': None, 'epoch': 1}\n")
    assert str(row.pop("loss")) == "nan"
    assert str(row.pop("x")) == "nan"
    assert row == {"reward": 0.5, "kl": 0.0004882, "lr": float("-inf"), "epoch": 1.0}


def test_a_verl_row_with_nan_and_numpy_scalars_is_read_number_by_number():
    (row,) = rows_of("step:7 - actor/pg_loss:nan - critic/score/mean:np.float64(-0.25) - actor/lr:1e-06\n")
    assert str(row.pop("actor/pg_loss")) == "nan"
    assert row == {"step": 7.0, "critic/score/mean": -0.25, "actor/lr": 1e-06}


def test_a_bar_in_the_same_line_is_passed_over_and_gives_the_step():
    text = "".join(f"\r{bar(i - 1)}\r{' ' * 40}\r{hf(i)}\n\r{bar(i)}" for i in range(10, 60, 10)) + "\n"
    rows = rows_of(text)
    assert [r["step"] for r in rows] == [10, 20, 30, 40, 50]
    assert [r["reward"] for r in rows] == [2.5, 5, 7.5, 10, 12.5]


def test_a_bar_glued_to_the_row_is_passed_over():
    rows = rows_of("".join(f"{bar(i)}{hf(i)}\n" for i in range(1, 6)))
    assert [r["step"] for r in rows] == [1, 2, 3, 4, 5]


def test_a_bar_that_lags_behind_gives_no_steps():
    shown = iter([10, 10, 20, 40, 41, 60])
    text = "".join(f"{hf(i)}\n\r{bar(next(shown))}\n" for i in range(10, 70, 10))
    assert all("step" not in row for row in rows_of(text))


def test_evaluation_rows_share_the_step_of_the_bar():
    text = ""
    for i in range(1, 7):
        text += f"{hf(i)}\n{bar(i)}\n"
        if i % 3 == 0:
            text += "{'eval_loss': 0.5, 'eval_reward': 1.5, 'epoch': 0.1}\n" + f"{bar(i)}\n"
    rows = rows_of(text)
    assert [r["step"] for r in rows] == [1, 2, 3, 3, 4, 5, 6, 6]


# At the widths left out, the first line that is wrapped is cut into two whole numbers ("10", "0.5"), which nothing tells.
@pytest.mark.parametrize("width", [width for width in range(20, 141) if width not in (76, 79)])
def test_lines_that_a_terminal_wrapped_are_whole_again(width):
    def wrapped(line):
        return "\n".join(line[at : at + width] for at in range(0, len(line), width))

    plain = rows_of("".join(f"{verl(i)}\n" for i in range(4)))
    assert rows_of("".join(f"{wrapped(verl(i))}\nworker 3 is ready\n" for i in range(4))) == plain
    plain = rows_of("".join(f"{hf(i)}\n" for i in range(4)))
    assert rows_of("".join(f"{wrapped(hf(i))}\n" for i in range(4))) == plain


def test_a_wrap_at_a_blank_that_the_terminal_dropped_is_mended():
    rows = rows_of("step:5 - actor/kl_loss:0.071 -\ncritic\n/rewards/min:-1.0 - actor/lr:1e-\n06 - x/y:2.0\n")
    assert rows == [{"step": 5, "actor/kl_loss": 0.071, "critic/rewards/min": -1, "actor/lr": 1e-06, "x/y": 2}]


def test_what_follows_a_whole_row_is_not_taken_for_its_rest():
    rows = rows_of(f"{verl(1)}\nsaved\n{verl(2)}\nepoch 0, step 10\n{verl(3)}\nloss:0.5 was seen\n")
    assert rows == rows_of("".join(f"{verl(i)}\n" for i in (1, 2, 3)))


def test_prefixes_of_ray_are_passed_over_and_other_processes_may_talk_between():
    other = "(WorkerDict pid=9, ip=10.0.0.2) NCCL version 2.21 [repeated 8x across cluster]\n"
    text = "".join(f"\x1b[36m(TaskRunner pid=7)\x1b[0m {verl(i)}\n{other}" for i in range(3))
    assert rows_of(text) == rows_of("".join(f"{verl(i)}\n" for i in range(3)))


def test_of_ranks_that_print_the_same_row_one_is_read():
    text = "".join(f"[rank{r}]: {hf(i)}\n" for i in range(1, 6) for r in (1, 0, 3, 2))
    (log,) = logs_of(text)
    assert log.rows == 5
    assert any("rows of other ranks left aside: 15 (rank 0 was read)" in n for n in log.notes)


def test_of_tasks_that_print_the_same_row_one_is_read():
    (log,) = logs_of("".join(f"{r}: {hf(i)}\n" for i in range(1, 6) for r in range(4)))
    assert log.rows == 5
    assert any("15 left aside" in n for n in log.notes)


def test_numbered_rows_are_no_ranks():
    (log,) = logs_of("".join(f"{i}: {hf(i)}\n" for i in range(1, 6)))
    assert log.rows == 5


def test_losses_and_the_reward_below_them_are_one_row():
    text = "".join(
        f"epoch: 0|step: {i}|ppo_ep: 1|act_loss: 0.{i}|cri_loss: 0.5|unsuper_loss: 0.0\naverage reward score: {i}.5\n"
        "-------------------------------------------------------------------------------------\n"
        for i in range(4)
    )
    rows = rows_of(text)
    assert [r["average reward score"] for r in rows] == [0.5, 1.5, 2.5, 3.5]
    assert [r["step"] for r in rows] == [0, 1, 2, 3]


def test_several_runs_in_one_file_are_several_runs():
    (log,) = logs_of("".join(f"{verl(i)}\n" for i in [1, 2, 3, 4, 1, 2, 3]))
    assert [len(run) for run in canonical(log)] == [4, 3]


def test_several_runs_that_say_no_step_are_told_apart_by_their_epochs():
    text = "".join(f"{hf(i, epoch=e)}\n" for i, e in enumerate([0.01, 0.01, 0.02, 0.02, 0.01, 0.01, 0.02]))
    assert [log.rows for log in logs_of(text)] == [4, 3]


def test_rows_of_another_framework_in_the_same_text_are_counted():
    (log,) = logs_of("".join(f"{verl(i)}\n" for i in range(5)) + f"{hf(1)}\n")
    assert log.rows == 5
    assert "rows in the form of hugging-face left aside: 1" in log.notes


def test_a_bar_over_mini_batches_does_not_stand_beside_the_log():
    bars = "Train epoch [1/1]:  50%|███  | 8/16 [00:40<00:40,  5.00s/it, pg=-0.01, rm=0.41, glen=512, kl=0.0011]\n"
    line = "Global step 3: {'policy_loss': -0.0012, 'reward': 0.53, 'kl': 0.0009}\n"
    (row,) = rows_of(bars + line + bars)
    assert row == {"step": 3, "policy_loss": -0.0012, "reward": 0.53, "kl": 0.0009}
    assert [r["reward"] for r in rows_of(bars + bars.replace("0.41", "0.5"))] == [0.41, 0.5]


def test_generated_samples_with_braces_and_quotes_do_not_break_a_row():
    text = """Global step 3: {'policy_loss': -0.5, 'generated_samples': ["a {b 'c'", '0.5'], 'reward': 0.5, 'kl': 0.25}\n"""
    assert rows_of(text * 2)[1] == {"step": 3, "policy_loss": -0.5, "reward": 0.5, "kl": 0.25}


def test_a_row_that_a_crash_cut_is_counted_and_the_next_one_read():
    (log,) = logs_of(f"{hf(1)}\n{hf(2)[:30]}\nTraceback (most recent call last):\n{hf(3)}\n")
    assert log.rows == 2
    assert [s.line for s in log.skipped] == [2]


def test_a_line_that_is_still_being_written_is_no_row_yet(tmp_path):
    text = "".join(f"{verl(i)}\n" for i in range(4))
    path = tmp_path / "run.log"
    for cut in range(len(text) - len(verl(3)) + 3, len(text)):
        path.write_text(text[:cut])
        (log,) = CONSOLE.read(Source.of(path))
        for name, column in log.columns.items():
            whole = {"step": 1.0, "actor/pg_loss": 0.125, "critic/score/mean": 0.25, "response_length/mean": 1.0}[name]
            start = 100.5 if name == "response_length/mean" else 0.0
            assert column.values.tolist() == [start + whole * row for row in column.at.tolist()], (cut, name)


def test_of_a_line_that_wandb_cut_the_whole_values_are_read():
    line = verl(1, *(f"val-aux/m{i}:0.125" for i in range(400)))[:4096]
    (log,) = logs_of(f"{line}\n{verl(2)}\n")
    assert log.rows == 2
    assert all(v in (0.125, 0.25, 101.5, 1.0, 102.5, 0.5, 2.0) for c in log.columns.values() for v in c.values.tolist())
    assert any("W&B cut at 4096 bytes: 1" in note for note in log.notes)


def test_lines_of_a_hand_written_loop_are_read_when_nothing_else_is():
    text = "".join(
        f"[Step {i}/300] loss: 0.{i}5 | kl=0.01{i} | Mean Reward: 1.{i} | clip: 12.5%\n" for i in range(1, 6)
    )
    rows = rows_of("reading the data\n" + text)
    assert [r["step"] for r in rows] == [1, 2, 3, 4, 5]
    assert rows[1] == {"step": 2, "loss": 0.25, "kl": 0.012, "Mean Reward": 1.2, "clip": 0.125}


def test_a_value_a_line_is_a_row_where_it_comes_again_and_again():
    text = "".join(f"objective/kl: {i}.5\nppo/returns/mean: -0.{i}\n-----\n" for i in range(1, 5))
    assert [r["objective/kl"] for r in rows_of(text)] == [1.5, 2.5, 3.5, 4.5]


CODE = """import torch

history = []
def train(step, loss, reward):
    metrics = {'loss': 0.5, 'reward': 1.0}
    history.append({'loss': 0.25, 'reward': 1.0})
    print({'loss': 0.125, 'reward': 1.0})
    # {'loss': 0.125, 'reward': 1.0}
    expected = "step:1 - actor/pg_loss:0.5 - critic/score/mean:0.1"
    return {'loss': 0.125, 'reward': 1.0}
"""
PROSE = """Our run was stopped at step 300. The loss: 0.5 was low then, and the reward 1.5 was high, see Figure 2.
We restarted it at step 500 with a kl of 0.1 and kept it there, at a learning rate of 1e-6.

In the second week the reward was 2.5 and the loss 0.25. The entropy fell from 1.5 to 0.5.
"""


@pytest.mark.parametrize("text", [CODE, PROSE, CODE.replace("'", '"')])
@pytest.mark.parametrize("name", ["run.log", "notes.md", "train.txt", "run"])
def test_source_code_and_prose_are_no_logs(text, name):
    with pytest.raises(UnreadableLogError):
        read(Source(name, data=text.encode()))


def test_dictionaries_that_are_no_metrics_are_no_rows():
    text = "{'bos_token_id': 1, 'eos_token_id': 2}\nSamplingParams {'temperature': 1.0, 'top_p': 0.9}\n" * 5
    with pytest.raises(UnreadableLogError, match="no line in it is a row of metrics"):
        logs_of(text)


def test_a_table_pasted_into_a_text_is_still_a_table():
    table = "| step | loss | reward |\n|---|---|---|\n" + "".join(f"| {i} | 0.{i} | 1.{i} |\n" for i in range(5))
    (log,) = read(Source("notes.md", data=table.encode()))
    assert log.reader == "pasted-table"


def test_a_configuration_in_the_first_line_does_not_hide_the_rows_below():
    text = '{"lr": 1e-06, "beta": 0.04}\n' + "".join(f"{verl(i)}\nsaved\n" for i in range(5))
    (log,) = read(Source("run.log", data=text.encode()))
    assert (log.reader, log.rows) == ("console", 5)


def test_nested_values_of_a_row_are_read_under_joined_names():
    (row,) = rows_of("{'loss': 0.5, 'rewards': {'format': 0.25, 'answer': 1}, 'epoch': 0.5}\n")
    assert row == {"loss": 0.5, "rewards/format": 0.25, "rewards/answer": 1, "epoch": 0.5}


def test_the_folder_of_a_wandb_run_is_one_run(tmp_path):
    run = tmp_path / "wandb" / "run-20251130_144822-ab12"
    (run / "files").mkdir(parents=True)
    (run / "logs").mkdir()
    (run / "logs" / "debug.log").write_text("2025-11-30 14:48:22 INFO MainThread:7 [wandb_setup.py] loaded\n")
    (run / "files" / "output.log").write_text("".join(f"{verl(i)}\n" for i in range(5)))
    (run / "files" / "requirements.txt").write_text("torch==2.9\n")
    rows = [
        {"training/global_step": i, "actor/pg_loss": i / 8, "critic/score/mean": i / 4, "_step": i} for i in range(5)
    ]
    (run / "run-ab12.wandb").write_bytes(files.framed([files.history(i, row) for i, row in enumerate(rows)]))
    (found,) = load([tmp_path]).runs
    assert found.path.endswith("run-ab12.wandb")
    assert any("output.log" in note for note in found.notes)


def test_a_single_value_that_may_be_cut_is_no_row_yet():
    with pytest.raises(UnreadableLogError):
        logs_of("average reward score: 0.2")
    text = "average reward score: 0.25\naverage reward score: 0.5\naverage reward score: 0.2"
    assert [r["average reward score"] for r in rows_of(text)] == [0.25, 0.5]


def test_one_dictionary_behind_a_logger_s_words_is_a_row():
    text = "2026-03-26 15:05:51 | INFO | trainer:train:320 - {'policy_loss': -0.25, 'policy_kl': 0.5, 'grad_norm': 2}\n"
    assert rows_of(text) == [{"policy_loss": -0.25, "policy_kl": 0.5, "grad_norm": 2}]


def test_a_pasted_dictionary_without_its_beginning_is_a_row():
    text = "'loss': -0.0, 'grad_norm': 0.0, 'reward': 0.25, 'global_step/max_steps': '5/3766', 'percentage': '0.13%'}\n"
    (row,) = rows_of(text)
    assert (row["loss"], row["grad_norm"], row["reward"]) == (0, 0, 0.25)


def test_a_dictionary_of_settings_is_no_row():
    with pytest.raises(UnreadableLogError):
        logs_of("{'learning_rate': 1e-06, 'kl_coef': 0.04, 'seed': 7}\n")


def test_a_dictionary_spread_over_lines_is_a_row():
    text = "```python\n{\n    'train/step': 3,\n    'train/loss': 0.25,\n    'train/grad_norm': 2.0\n}\n```\n"
    assert rows_of(text) == [{"train/step": 3, "train/loss": 0.25, "train/grad_norm": 2}]


def test_settings_spread_over_lines_are_no_row():
    with pytest.raises(UnreadableLogError):
        logs_of("{\n    'learning_rate': 1e-06,\n    'kl_coef': 0.04,\n    'seed': 7\n}\n")


def test_rows_that_count_epochs_alone_are_rows():
    text = "".join(f"[INFO] Epoch {i}: mean actor loss=0.{i} | mean critic loss={i}.5\n" for i in (1, 2, 3))
    assert [(row["epoch"], row["mean critic loss"]) for row in rows_of(text)] == [(1, 1.5), (2, 2.5), (3, 3.5)]


def test_a_share_of_an_epoch_is_no_whole_one_and_a_mean_stands_before_its_spread():
    text = "".join(f"[Epoch 0.{i}5]  loss=0.{i}  lr=1.00e-06  reward=0.{i}25±0.10  entropy=0.5\n" for i in (1, 2, 3))
    assert [(row["epoch"], row["reward"]) for row in rows_of(text)] == [(0.15, 0.125), (0.25, 0.225), (0.35, 0.325)]


def test_rows_that_count_the_batches_of_an_epoch_count_on_over_epochs():
    text = "".join(f"Epoch [{e}/2] [{i}/3] policy loss: 0.5, reward: {i}.0\n" for e in (1, 2) for i in (1, 2, 3))
    assert [row["step"] for row in rows_of(text)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "line",
    [
        "- `step=19 loss=0.000000 entropy=0.4395 reward_mean=0.1250 dt=19.32s`",
        "2025-12-07 21:25:32 - INFO - Step 19/50 | Reward: 0.1250 | Semantic: 0.9856 | Loss: 0",
        "  Iteration  19 | loss=0.0 | reward= 0.125 [-2.1 ... 16.3]",
    ],
)
def test_one_line_of_nothing_but_metrics_is_a_row(line):
    (row,) = rows_of(f"The last line of the smoke run:\n{line}\n")
    assert row["step"] == 19
    assert 0.125 in row.values()


def test_one_sentence_with_a_step_and_numbers_is_no_row():
    with pytest.raises(UnreadableLogError):
        logs_of("The run died at step 19: its loss: 0.5 had been falling and the reward: 0.125 was at its best.\n")


def test_a_dictionary_beside_a_framework_s_rows_is_left_aside():
    text = f"{{'policy_loss': 9.0, 'policy_kl': 9.0}}\n{verl(1)}\n{verl(2)}\n"
    assert [row["actor/pg_loss"] for row in rows_of(text)] == [0.125, 0.25]


def test_the_numbers_in_warnings_of_trl_are_rows_where_nothing_else_is():
    warned = (
        "ppo_trainer.py:1200: UserWarning: The average ratio of batch ({}) exceeds threshold 10.00. Skipping batch.\n"
    )
    assert rows_of(warned.format(11.5) + "  warnings.warn(\n" + warned.format(30.25)) == [
        {"val/ratio": 11.5},
        {"val/ratio": 30.25},
    ]
    negative = "UserWarning: KL divergence is starting to become negative: -233.50 - this might be a precursor\n"
    assert rows_of(negative) == [{"objective/kl": -233.5}]
    assert [row.get("loss") for row in rows_of(hf(1) + "\n" + negative + hf(2) + "\n")] == [0.125, 0.25]


def test_a_warning_of_trl_belongs_to_the_row_that_a_loop_prints_after_it():
    row = "Epoch {}: reward: {}, loss: 0.25\n"
    negative = "UserWarning: KL divergence is starting to become negative: -6.5 - this might be a precursor\n"
    rows = rows_of(row.format(1, 2.5) + negative + row.format(2, 2.25) + row.format(3, 2.0))
    assert [r["reward"] for r in rows] == [2.5, 2.25, 2]
    assert [r.get("objective/kl") for r in rows] == [None, -6.5, None]
    warned_twice = rows_of(row.format(1, 2.5) + 2 * negative + row.format(2, 2.25) + row.format(3, 2.0))
    assert [r.get("objective/kl") for r in warned_twice] == [None, -6.5, -6.5, None]


def test_signs_of_markdown_around_a_row_are_none_of_it():
    lines = [
        "- Step 40: reward=0.5, entropy=1.5",
        "- Step **80: reward=0.75, entropy=0.25** <- low",
        "- **Step 90**: reward=**1.0**, entropy=**0.125**",
    ]
    assert rows_of("\n".join(lines) + "\n") == [
        {"step": 40, "reward": 0.5, "entropy": 1.5},
        {"step": 80, "reward": 0.75, "entropy": 0.25},
        {"step": 90, "reward": 1, "entropy": 0.125},
    ]


def test_a_remark_in_brackets_behind_a_value_of_a_block_is_no_end_of_it():
    block = "step: {}\n- actor/entropy: 0.25 (further decrease)\n- critic/rewards/mean: 0.5\n\n"
    rows = rows_of("".join(block.format(i) for i in (1, 2, 3)))
    assert [row["actor/entropy"] for row in rows] == [0.25, 0.25, 0.25]


def test_what_a_container_or_a_logger_wrote_around_a_line_is_none_of_it():
    rows = [{"loss": 0.5, "reward": 0.25, "epoch": 0.1}, {"loss": 0.25, "reward": 0.5, "epoch": 0.2}]
    docker = [json.dumps({"log": f"{row}\n", "stream": "stdout", "time": "2026-01-01T00:00:00Z"}) for row in rows]
    logger = [json.dumps({"level": "INFO", "lineno": 7, "message": f"Step {i}: {row}"}) for i, row in enumerate(rows)]
    for lines, steps in ((docker, [None, None]), (logger, [0, 1])):
        (log,) = read(Source("run.log", data="\n".join([*lines, ""]).encode()))
        assert log.reader == "console"
        assert log.columns["reward"].values.tolist() == [0.25, 0.5]
        assert [log.columns["step"].values.tolist() if "step" in log.columns else [None, None]] == [steps]


def test_json_lines_of_messages_without_metrics_are_no_log():
    lines = "".join(json.dumps({"message": f"saved checkpoint {i}", "lineno": i}) + "\n" for i in range(5))
    with pytest.raises(UnreadableLogError):
        read(Source("run.log", data=lines.encode()))


@pytest.mark.parametrize("before", ["", "log_history = ", "trainer.state.log_history = "])
@pytest.mark.parametrize("between", [", ", ",\n"])
def test_a_printed_list_of_dictionaries_is_its_rows(before, between):
    rows = [{"loss": i / 8, "reward": i / 4, "step": i} for i in range(1, 5)]
    text = f"{before}[{between.join(map(str, rows))}]\n"
    (log,) = read(Source("history.txt", data=text.encode()))
    assert log.columns["reward"].values.tolist() == [0.25, 0.5, 0.75, 1]


def test_quotes_that_a_web_page_made_curly_are_quotes():
    rows = rows_of(
        "{\u2018loss\u2019: 0.5, \u2018reward\u2019: 0.25}\n{\u201closs\u201d: 0.25, \u201creward\u201d: nan}\n"
    )
    assert rows[0] == {"loss": 0.5, "reward": 0.25}
    assert rows[1]["loss"] == 0.25


@pytest.mark.parametrize("quote", ["&#39;", "&#x27;", "&quot;", "&apos;"])
def test_quotes_that_a_web_page_escaped_are_quotes(quote):
    escaped = "{'loss': 0.5, 'reward': 0.25}\n{'loss': 0.25, 'reward': nan}\n".replace("'", quote)
    assert rows_of(escaped)[0] == {"loss": 0.5, "reward": 0.25}


def test_escaped_quotes_inside_a_completion_are_its_own():
    rows = rows_of(
        "{'step': 1, 'loss': 0.5, 'text': 'she said &#39;no&#39;'}\n{'step': 2, 'loss': 0.25, 'text': 'b'}\n"
    )
    assert [row["loss"] for row in rows] == [0.5, 0.25]


@pytest.mark.parametrize(
    "line",
    [
        "step={};reward=0.5;kl=0.25",
        "[{}/100] reward 0.5 kl 0.25",
        "\u7b2c{}\u6b65\uff1areward 0.5\uff0ckl 0.25",
        "\u6b65\u9aa4 {}: reward=0.5, kl=0.25",
        "Step {} -> reward: 0.5 | kl: 0.25",
    ],
)
def test_a_step_of_a_hand_written_line_is_found(line):
    assert rows_of("".join(line.format(i) + "\n" for i in (3, 4, 15))) == [
        {"step": step, "reward": 0.5, "kl": 0.25} for step in (3, 4, 15)
    ]


def test_names_in_chinese_are_whole():
    line = "\u7b2c{}\u6b65\uff1a\u5e73\u5747\u5956\u52b1 0.5\uff0cKL\u6563\u5ea6 0.25\uff0c\u635f\u5931\uff1a0.125\n"
    rows = rows_of("".join(map(line.format, (1, 2, 3))))
    assert rows[0] == {"step": 1, "\u5e73\u5747\u5956\u52b1": 0.5, "KL\u6563\u5ea6": 0.25, "\u635f\u5931": 0.125}

"""A row of every framework as its console shows it, and numbers that stand in it."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    name: str
    grammar: str
    text: str
    expected: dict[str, float]
    dialect: str = ""
    """What the names alone tell; empty where a single row has too few of them."""


SAMPLES = (
    Sample(
        "hf-dict-v4",
        "hugging-face-dict",
        "{'loss': 0.0, 'grad_norm': 0.08656957000494003, 'learning_rate': 6.916666666666667e-06, 'c"
        "ompletion_length': 232.825, 'rewards/format_reward2': 1.0, 'rewards/hint_reward': 0.717109"
        "3255281449, 'reward': 1.7171093285083772, 'reward_std': 0.5700982138514519, 'kl': 0.000537"
        "1240986278281, 'epoch': 0.31}\n",
        {"kl": 0.0005371240986278281, "reward": 1.7171093285083772, "epoch": 0.31},
        "trl-grpo",
    ),
    Sample(
        "hf-dict-v5",
        "hugging-face-dict",
        "{'loss': '-0.03407', 'grad_norm': '0.3415', 'learning_rate': '0.0005', 'num_tokens': '1430"
        "', 'completions/mean_length': '19.16', 'completions/clipped_ratio': '0', 'rewards/positivi"
        "ty/mean': '0.3151', 'rewards/positivity/std': '0.2822', 'reward': '0.9401', 'reward_std': "
        "'0.6186', 'frac_reward_zero_std': '0', 'kl': '0.0004882', 'entropy': '2.339', 'clip_ratio/"
        "region_mean': '0', 'step_time': '0.1966', 'epoch': '0.02'}\n",
        {"kl": 0.0004882, "reward": 0.9401, "completions/mean_length": 19.16},
        "trl-grpo",
    ),
    Sample(
        "trl-ppov2-dict",
        "hugging-face-dict",
        "{'eps': 1, 'objective/kl': 10.507803916931152, 'objective/entropy': 99.79830932617188, 'ob"
        "jective/non_score_reward': -0.5253901481628418, 'objective/rlhf_reward': 1.107422351837158"
        "2, 'objective/scores': 1.6328125, 'policy/approxkl_avg': 0.002309529110789299, 'policy/cli"
        "pfrac_avg': 0.00634765625, 'loss/policy_avg': 0.00090751051902771, 'loss/value_avg': 0.153"
        "19222211837769, 'val/clipfrac_avg': 0.0, 'policy/entropy_avg': 0.9802191257476807, 'val/ra"
        "tio': 0.968413770198822, 'val/ratio_var': 6.904094334458932e-05, 'val/num_eos_tokens': 0, "
        "'lr': 2.0634920634920634e-06, 'episode': 816, 'epoch': 0.91}\n",
        {"objective/kl": 10.507803916931152, "val/ratio": 0.968413770198822, "episode": 816.0},
        "trl-ppo",
    ),
    Sample(
        "llama-factory-dict",
        "hugging-face-dict",
        "{'loss': 0.1532, 'reward': 0.4521, 'learning_rate': 9.8e-06, 'epoch': 0.12}\n",
        {"reward": 0.4521},
        "",
    ),
    Sample(
        "verl-line",
        "verl-line",
        "(TaskRunner pid=222265) step:34 - global_seqlen/min:419336 - actor/entropy:0.2226657867431"
        "6406 - perf/mfu/actor_infer:0.0 - actor/pg_clipfrac:0.0007935191160472839 - actor/ppo_kl:-"
        "8.163164312320433e-06 - actor/pg_loss:0.042396901015308686 - actor/kl_loss:0.0013280365410"
        "537343 - actor/kl_coef:0.0010000000000000002 - actor/grad_norm:0.129638671875 - actor/lr:2"
        "e-06 - training/global_step:34 - training/epoch:0 - critic/score/mean:-0.0182796623557806 "
        "- response_length/mean:1267.024169921875\n",
        {
            "step": 34.0,
            "actor/ppo_kl": -8.163164312320433e-06,
            "critic/score/mean": -0.0182796623557806,
            "response_length/mean": 1267.024169921875,
        },
        "verl",
    ),
    Sample(
        "verl-line-old",
        "verl-line",
        "step:1 - global_seqlen/min:484245.000 - actor/entropy:0.323 - actor/kl_loss:0.001 - actor/"
        "pg_clipfrac:0.000 - critic/score/mean:0.558 - response_length/clip_ratio:0.012\n",
        {"step": 1.0, "actor/entropy": 0.323, "critic/score/mean": 0.558},
        "verl",
    ),
    Sample(
        "easyr1-block",
        "easyr1-block",
        "Step 3\n"
        "actor:\n"
        "  entropy_loss: 0.412\n"
        "  grad_norm: 0.81\n"
        "  pg_loss: -0.0021\n"
        "  ppo_kl: 0.00011\n"
        "reward:\n"
        "  accuracy: 0.41\n"
        "  format: 0.98\n"
        "  overall: 0.69\n",
        {"step": 3.0, "actor/entropy_loss": 0.412, "reward/overall": 0.69},
        "easyr1",
    ),
    Sample(
        "openrlhf-line",
        "openrlhf-line",
        "INFO 03-24 18:52:55 ppo_trainer.py:545] ✨ Global step 12: {'policy_loss': -0.0012, 'actor_"
        "lr': 5e-07, 'actor_grad_norm': 0.21, 'reward': 0.53, 'return': 0.001, 'response_length': 6"
        "12.4, 'total_length': 801.0, 'kl': 0.0009, 'ppo_clip_ratio': 0.0018, 'ppo_kl': 0.0001, 'vl"
        "lm_kl': 0.0004, 'timing/step_total': 81.2}\n",
        {"step": 12.0, "vllm_kl": 0.0004, "reward": 0.53},
        "openrlhf",
    ),
    Sample(
        "openrlhf-tqdm",
        "openrlhf-bar",
        "Train epoch [1/1]:  50%|█████     | 8/16 [00:40<00:40,  5.00s/it, pg=-0.0134, rm=0.41, ret"
        "=0.02, glen=512, tlen=640, kl=0.0011, act_lr=5e-7]\n",
        {"policy_loss": -0.0134, "kl": 0.0011, "reward": 0.41},
        "openrlhf",
    ),
    Sample(
        "nemo-rl-block",
        "nemo-rl-block",
        "========================= Step 3/500 =========================\n"
        "📊 Training Results:\n"
        "  • Loss: 0.0123\n"
        "  • Generation KL Error: 0.0012\n"
        "  • Avg Reward: 0.4500\n"
        "  • Mean Generation Length: 512.0000\n"
        "\n"
        "⏱️  Timing:\n"
        "  • Total step time: 34.21s\n",
        {"step": 3.0, "train/reward": 0.45, "train/gen_kl_error": 0.0012},
        "nemo-rl",
    ),
    Sample(
        "nemo-aligner-tqdm",
        "nemo-aligner-bar",
        "PPO Global Step:  10%|█         | 5/50 [10:00<1:30:00, 120s/it, rollout_time=60.1, train_t"
        "ime=22.4, train_rewards=0.412, train_init_policy_kl=0.0021, train_response_lengths=512]\n",
        {"train_rollouts/rewards": 0.412, "train_rollouts/init_policy_kl": 0.0021},
        "nemo-aligner",
    ),
    Sample(
        "trlx-tqdm",
        "trlx-bar",
        "[losses/total_loss: 1.15 | losses/policy_loss: 1.15 | losses/value_loss: 0.00]: 100%|█████"
        "█████| 50/50 [01:22<00:00,  1.65s/it]\n",
        {"losses/total_loss": 1.15, "losses/value_loss": 0.0},
        "trlx",
    ),
    Sample(
        "deepspeed-chat-new",
        "deepspeed-chat-new",
        "Epoch: 0 | Step: 12 | PPO Epoch: 1 | Actor Loss: 0.0254 | Critic Loss: 0.214 | Unsupervised Loss: 0.0\n",
        {"step": 12.0, "Actor Loss": 0.0254, "Critic Loss": 0.214},
        "deepspeed-chat",
    ),
    Sample(
        "deepspeed-chat-reward",
        "deepspeed-chat-reward",
        "average reward score: 0.20556640625\n",
        {"average reward score": 0.20556640625},
        "deepspeed-chat",
    ),
    Sample(
        "deepspeed-chat-old",
        "deepspeed-chat-old",
        "epoch: 0|step: 259|ppo_ep: 1|act_loss: 0.0253753662109375|cri_loss: 0.2144775390625|unsuper_loss: 0.0\n",
        {"step": 259.0, "act_loss": 0.0253753662109375, "cri_loss": 0.2144775390625},
        "deepspeed-chat",
    ),
    Sample(
        "colossalchat-dist-lines",
        "colossalchat-lines",
        "Loss: 0.0012\n"
        "Reward: 0.4531\n"
        "format Reward: 0.9102\n"
        "Acc Reward: 0.4100\n"
        "Advantages: 0.0000\n"
        "Response Length: 812.4\n"
        "Sample_utilization: 0.8750\n"
        "Overlength samples ratio: 0.0312\n"
        "Entropy: 0.2731\n",
        {"Reward": 0.4531, "Acc Reward": 0.41, "Entropy": 0.2731},
        "colossalchat-dist",
    ),
    Sample(
        "slime-step",
        "slime-step",
        "[2026-04-15 07:57:53] model.py:660 - step 1: {'train/loss': 0.0006256469641812146, 'train/"
        "pg_loss': 0.0, 'train/entropy_loss': 0.07461290061473846, 'train/pg_clipfrac': 0.0, 'train"
        "/ppo_kl': -0.20245233178138733, 'train/kl_loss': 0.6256468892097473, 'train/grad_norm': 0."
        "03765935603564608, 'train/lr-pg_0': 1e-06, 'train/lr-pg_1': 1e-06, 'train/step': 1}\n",
        {"step": 1.0, "train/ppo_kl": -0.20245233178138733, "train/kl_loss": 0.6256468892097473},
        "slime",
    ),
    Sample(
        "prime-rl-trainer",
        "prime-rl-trainer",
        "05:11:02 SUCCESS Step 4 | Time: 0.35s | Loss: 12.3125 | Grad. Norm: 27.4481 | LR: 1.00e-06"
        " | Throughput: 4737 tokens/s | MFU: 1.4% | Peak Mem.: 5.2/23.7 GiB (22.1%)\n",
        {"step": 4.0, "loss/mean": 12.3125, "optim/grad_norm": 27.4481, "optim/lr": 1e-06},
        "",
    ),
    Sample(
        "prime-rl-trainer-head",
        "prime-rl-trainer",
        "10:15:42 SUCCESS Step 7 |   12.3s | Loss 0.0012 | Entropy 0.3101 | Mismatch KL 0.0003 | Gr"
        "ad. Norm 0.1204 | LR 1.00e-06 | Throughput 52341 tokens/s | MFU 31.2% | Peak Mem. 61.4 GiB"
        "\n",
        {"step": 7.0, "loss/mean": 0.0012, "mismatch_kl/all/mean": 0.0003, "entropy/all/mean": 0.3101},
        "prime-rl",
    ),
    Sample(
        "prime-rl-orchestrator",
        "prime-rl-orchestrator",
        "10:15:40 SUCCESS Step 7 |     12s | Reward 0.5213 | Trainable 112/128 (87.5%) | Turns 1.0 "
        "| Branches 1.0 | Max Off-Policy 2 | Error 0.0% | Cancelled 0.0% | Truncation 3.1%\n",
        {
            "step": 7.0,
            "train/agg/effective/reward/mean": 0.5213,
            "off_policy/max": 2.0,
            "train/agg/effective/is_truncated/mean": 0.031,
        },
        "prime-rl",
    ),
    Sample(
        "skyrl-block",
        "skyrl-block",
        "2026-01-05 10:00:00.000 | INFO | skyrl.train.utils.tracking:log:189 - Step 3: \n"
        "{'generate/avg_num_tokens': '512.2500',\n"
        " 'loss/avg_final_rewards': '0.4531',\n"
        " 'policy/policy_entropy': '0.3120',\n"
        " 'reward/avg_pass_at_8': '0.7500',\n"
        " 'reward/avg_raw_reward': '0.4531',\n"
        " 'trainer/global_step': 3}\n",
        {"step": 3.0, "reward/avg_raw_reward": 0.4531, "policy/policy_entropy": 0.312},
        "skyrl",
    ),
    Sample(
        "areal-table",
        "areal-table",
        "Epoch 1/10 Step 3/100 Train step 3/1000 done.\n"
        "Stats (1/1):\n"
        "╒═══════════════════════════════╤═════════════╤═════════════════════════════════╤═════════"
        "════╕\n"
        "│ ppo_actor/task_reward/avg     │  4.3000e-01 │ ppo_actor/update/approx_kl/avg  │ -1.2000e"
        "-04 │\n"
        "├───────────────────────────────┼─────────────┼─────────────────────────────────┼─────────"
        "────┤\n"
        "│ ppo_actor/seq_len/avg         │  1.0240e+03 │ ppo_actor/update/grad_norm      │  1.5000e"
        "-01 │\n"
        "╘═══════════════════════════════╧═════════════╧═════════════════════════════════╧═════════"
        "════╛\n",
        {"step": 3.0, "ppo_actor/task_reward/avg": 0.43, "ppo_actor/update/approx_kl/avg": -0.00012},
        "areal",
    ),
    Sample(
        "roll-json",
        "roll-json",
        '[2025-08-01 10:00:00,123] [tracking.py (161)] [INFO] [DRIVER 0 / 1][PID 7] metrics_tag: {"'
        'step": 12, "metrics": {"critic/score/mean": 0.41, "actor/pg_loss": -0.003, "actor/policykl'
        '": -0.0001, "token/response_length/mean": 812.5, "time/step_total": 91.2}}\n',
        {"step": 12.0, "critic/score/mean": 0.41, "actor/policykl": -0.0001},
        "",
    ),
    Sample(
        "open-instruct-panel",
        "open-instruct-panel",
        "╭──────────────────────── Metrics ────────────────────────╮\n"
        "│  loss       policy_avg: -0.01 | total_avg: 0.00         │\n"
        "│  objective  kl0_avg: 0.00 | kl1_avg: 0.00               │\n"
        "│  val        ratio: 1.00 | sequence_lengths: 812.44      │\n"
        "│  other      episode: 512 | scores: 4.21 | lr: 0.00      │\n"
        "╰─────────────────────────────────────────────────────────╯\n",
        {"objective/kl0_avg": 0.0, "scores": 4.21, "val/sequence_lengths": 812.44},
        "open-instruct",
    ),
    Sample(
        "torchtune-line",
        "torchtune-line",
        "Step 4 | scores:1.2031 num_stop_tokens:14 rlhf_reward:1.1512 kl:0.5213 kl_reward:-0.0521 l"
        "oss:0.0213 policy_loss:-0.0012 value_loss:0.2251 clipfrac:0.0123 ratios:1.0002 approx_poli"
        "cy_kl:0.0011 response_lengths:58.0 \n",
        {"step": 4.0, "kl": 0.5213, "scores": 1.2031},
        "torchtune-ppo",
    ),
    Sample(
        "tinker-table",
        "tinker-table",
        "           Step 2\n"
        "┏━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┓\n"
        "┃ Metric                   ┃ Value    ┃\n"
        "┡━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━┩\n"
        "│ env/all/reward/total     │ 0.412500 │\n"
        "│ optim/kl_sample_train_v1 │ 0.000213 │\n"
        "└──────────────────────────┴──────────┘\n",
        {"step": 2.0, "env/all/reward/total": 0.4125},
        "tinker-cookbook",
    ),
    Sample(
        "rl4lms-lines",
        "rl4lms-line",
        "2022-11-01 10:00:00,000 [INFO] Training Info: {'ppo/entropy_loss': -2.31, 'ppo/policy_grad"
        "ient_loss': -0.0021, 'ppo/value_loss': 0.51, 'ppo/approx_kl': 0.0031}\n",
        {"ppo/entropy_loss": -2.31, "ppo/approx_kl": 0.0031},
        "rl4lms",
    ),
    Sample(
        "lm-human-line",
        "lm-human-line",
        "[ppo_step 12] step_time=11.20s, eps/s=5.71\n",
        {"step": 12.0, "eps": 5.71},
        "",
    ),
    Sample(
        "cleanrl-line",
        "cleanrl-line",
        "global_step=1172, episodic_return=[23.]\n",
        {"step": 1172.0, "episodic_return": 23.0},
        "",
    ),
    Sample(
        "sb3-table",
        "sb3-table",
        "-----------------------------------------\n"
        "| rollout/                |             |\n"
        "|    ep_len_mean          | 22.7        |\n"
        "|    ep_rew_mean          | 22.7        |\n"
        "| time/                   |             |\n"
        "|    total_timesteps      | 4096        |\n"
        "| train/                  |             |\n"
        "|    approx_kl            | 0.008530975 |\n"
        "|    clip_fraction        | 0.0969      |\n"
        "|    entropy_loss         | -0.686      |\n"
        "|    explained_variance   | -0.00169    |\n"
        "-----------------------------------------\n",
        {"rollout/ep_rew_mean": 22.7, "train/approx_kl": 0.008530975, "train/entropy_loss": -0.686},
        "sb3",
    ),
    Sample(
        "minimind",
        "minimind",
        "Epoch:[2/3](7/900), Reward: -1.4468, KL_ref: -0.0409, Adv Std: 0.9257, Adv Mean: -0.0000, Actor Loss: 0.0065, "
        "Avg Response Len: 286.75, Learning Rate: 0.00000030\n",
        {"step": 907.0, "Reward": -1.4468, "KL_ref": -0.0409, "Avg Response Len": 286.75, "Learning Rate": 3e-7},
        "minimind-grpo",
    ),
    Sample(
        "torchforge-block",
        "torchforge-block",
        "=== [global_logger_ab12] - METRICS STEP 3 ===\n"
        "  buffer/sample/avg_sampled_policy_age: 0.5\n"
        "  reward/evaluate_response/avg_total_reward: 0.412\n"
        "  rl_trainer/avg_loss: 0.0012\n"
        "==============================\n",
        {"step": 3.0, "rl_trainer/avg_loss": 0.0012},
        "torchforge",
    ),
)
SAMPLES += tuple(
    import_module(f"{__package__}.{path.stem}").SAMPLE for path in sorted(Path(__file__).parent.glob("sample_*.py"))
)

"""Log-probabilities and entropy from logits, against TRL's functions, in turns.

    python benchmarks/logprobs.py [TURNS] [THREADS]

Needs torch and trl. Times are CPU time, the least of the turns. Extra memory is the growth of the resident set's peak, logits
not counted, in a process of its own whose allocator hands every tensor back at once: what it holds back otherwise differs by
chance. `scoring` is the pass without gradients, `training` the one with the gradient of the log-probabilities; the gradient of
the logits, which both must make, is not counted as extra. Errors are against float64.
"""

import json
import os
import subprocess
import sys
import time

SHAPES = ((8, 256, 32_000), (2, 256, 151_936))
TYPES = ("float32", "bfloat16")
MODES = ("scoring", "training")
SIDES = ("holter", "trl")
PROMPT = {"MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "1048576"}
"""Settings of the C library's allocator with which freed tensors leave the process at once."""


def resident(field):
    """A field of the process' memory, MB."""
    with open("/proc/self/status", encoding="utf-8") as status:  # noqa: PTH123
        return next(int(line.split()[1]) for line in status if line.startswith(f"{field}:")) / 1024


def passes(side):
    """The pass of one side: logits and tokens to log-probabilities and entropy."""
    if side == "holter":
        from holter.signals.logprobs import logprobs_and_entropy

        return logprobs_and_entropy
    import torch
    from trl.trainer.utils import entropy_from_logits, selective_log_softmax

    def trl(logits, tokens):
        logprobs = selective_log_softmax(logits, tokens)
        with torch.no_grad():
            return logprobs, entropy_from_logits(logits)

    return trl


def child(side, mode, shape, dtype, threads):
    """One measurement in this process: time, extra memory, errors."""
    import torch

    torch.set_num_threads(threads)
    run = passes(side)
    generator = torch.Generator().manual_seed(0)
    logits = torch.empty(shape, dtype=getattr(torch, dtype))
    for rows in logits:
        rows.copy_(torch.randn(rows.shape, generator=generator) * 3)
    tokens = torch.randint(0, shape[-1], shape[:-1], generator=generator)

    def work(x, t):
        with torch.set_grad_enabled(mode == "training"):
            logprobs, entropy = run(x.requires_grad_(mode == "training"), t)
            if mode == "training":
                logprobs.sum().backward()
                x.grad = None
        return logprobs.detach(), entropy

    work(logits[:1, :8].clone(), tokens[:1, :8])
    with open("/proc/self/clear_refs", "w", encoding="utf-8") as peak:  # noqa: PTH123
        peak.write("5")
    before = resident("VmRSS")
    work(logits, tokens)
    extra = max(0.0, resident("VmHWM") - before - (logits.nbytes / 2**20 if mode == "training" else 0))
    spent = []
    for _ in range(3):
        start = time.process_time()
        logprobs, entropy = work(logits, tokens)
        spent.append(time.process_time() - start)
    errors = [0.0, 0.0]
    for i in range(0, shape[1], 64):
        exact = logits.detach()[0, i : i + 64].double().log_softmax(-1)
        picked = exact.gather(-1, tokens[0, i : i + 64, None])[:, 0]
        errors[0] = max(errors[0], (picked - logprobs[0, i : i + 64].double()).abs().max().item())
        entropies = -(exact.exp() * exact).sum(-1)
        errors[1] = max(errors[1], (entropies - entropy[0, i : i + 64].double()).abs().max().item())
    print(json.dumps({"ms": min(spent) * 1000, "extra": extra, "errors": errors}))


def measured(*arguments, allocator=None):
    """One measurement in a fresh process."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TRL_EXPERIMENTAL_SILENCE": "1", **(allocator or {})}
    command = [sys.executable, __file__, "--child", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print(
        f"{'shape':>18} {'type':>9} {'pass':>9} | holter ms   trl ms  ratio | holter MB   trl MB  share | errors, nats"
    )
    for shape in SHAPES:
        for dtype in TYPES:
            for mode in MODES:
                memory = {
                    side: measured(side, mode, json.dumps(shape), dtype, threads, allocator=PROMPT) for side in SIDES
                }
                spent = {side: [] for side in SIDES}
                for _ in range(turns):
                    for side in SIDES:
                        spent[side].append(measured(side, mode, json.dumps(shape), dtype, threads)["ms"])
                ours, theirs = ({**memory[side], "ms": min(spent[side])} for side in SIDES)
                print(
                    f"{'x'.join(map(str, shape)):>18} {dtype:>9} {mode:>9} |"
                    f" {ours['ms']:9.0f} {theirs['ms']:8.0f} {theirs['ms'] / ours['ms']:5.1f}x |"
                    f" {ours['extra']:9.0f} {theirs['extra']:8.0f} {ours['extra'] / theirs['extra']:6.2f} |"
                    f" {max(ours['errors']):.1e}, {max(theirs['errors']):.1e}",
                    flush=True,
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _, _, side, mode, shape, dtype, threads = sys.argv
        child(side, mode, tuple(json.loads(shape)), dtype, int(threads))
    else:
        main()

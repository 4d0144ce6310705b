"""One LoRA training run with PyTorch, transformers and PEFT on the CPU in f32; one JSON line on standard output.

A process of its own for every run, so that its peak memory is its own. See compare.py, which starts it.
"""

import argparse
import json
import os
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model

TARGETS = (
    "q_proj k_proj v_proj o_proj gate_proj up_proj down_proj in_proj_qkv in_proj_z in_proj_b in_proj_a out_proj"
).split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="model folder")
    parser.add_argument("--rows", required=True, help="JSONL of input_ids and labels, a row a step")
    parser.add_argument("--adapter", required=True, help="folder of the adapter to start from; made if it is missing")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--checkpointing", action="store_true", help="keep layer inputs only, compute layers again")
    parser.add_argument("--flush-denormals", action="store_true")
    parser.add_argument("--profile", action="store_true", help="where one more step spends its time")
    return parser.parse_args()


def adapted(base, folder):
    """The model with the adapter of `folder`, trainable."""
    if not os.path.isdir(folder):
        targets = [t for t in TARGETS if any(name.endswith("." + t) for name, _ in base.named_modules())]
        config = LoraConfig(r=16, lora_alpha=32, lora_dropout=0.0, target_modules=targets, bias="none", task_type="CAUSAL_LM")
        model = get_peft_model(base, config)
        model.save_pretrained(folder)
        return model
    return PeftModel.from_pretrained(base, folder, is_trainable=True)


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(options.flush_denormals)
    torch.manual_seed(0)
    transformers.utils.logging.set_verbosity_error()
    base = transformers.AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32)
    base.config.use_cache = False
    model = adapted(base, options.adapter)
    if options.checkpointing:
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=2e-4, weight_decay=0.0)
    rows = [json.loads(line) for line in open(options.rows, encoding="utf-8")]

    def step(row):
        batch = {key: torch.tensor([row[key]]) for key in ("input_ids", "labels")}
        times = [time.perf_counter()]
        loss = model(**batch, use_cache=False).loss
        times.append(time.perf_counter())
        loss.backward()
        times.append(time.perf_counter())
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append(time.perf_counter())
        return loss.item(), [after - before for before, after in zip(times, times[1:])]

    steps = [step(rows[index % len(rows)]) for index in range(options.steps)]
    result = {
        "losses": [loss for loss, _ in steps],
        "seconds": [sum(phases) for _, phases in steps],
        "phases": {name: [phases[i] for _, phases in steps] for i, name in enumerate(["forward", "backward", "update"])},
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    if options.profile:
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU]) as profiled:
            step(rows[0])
        events = sorted(profiled.key_averages(), key=lambda e: -e.self_cpu_time_total)
        result["profile"] = [[e.key, e.self_cpu_time_total / 1e6, e.count] for e in events[:24]]
    print(json.dumps(result), flush=True)


main()

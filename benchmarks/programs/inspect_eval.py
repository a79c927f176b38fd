"""inspect_ai with its default settings: the same prompts as samples, one generation each, a scorer that reads verdicts.

    python -m benchmarks.programs.inspect_eval --port 8000 --calls 200 --prompts FILE --store FOLDER

Runs in an environment of its own. Replies are asked for without a JSON schema, which is in its favour.
"""

from __future__ import annotations

import json
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState, generate

from benchmarks.programs.asked import KEY, lines, of_file


@scorer(metrics=[accuracy()])
def verdict() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        read = json.loads(state.output.completion)
        right = read["id"] == target.text and sorted(read["ranking"]) == ["A", "B", "C"]
        return Score(value=CORRECT if right else INCORRECT)

    return score


def main() -> None:
    parser = of_file(__doc__)
    parser.add_argument("--store", type=Path, required=True)
    options = parser.parse_args()
    samples = [
        Sample(
            [ChatMessageSystem(content=line["system"]), ChatMessageUser(content=line["prompt"])], target=line["nonce"]
        )
        for line in lines(options.prompts, options.calls)
    ]
    model = get_model(
        "openai-api/bench/bench-1",
        base_url=f"http://127.0.0.1:{options.port}/v1",
        api_key=KEY,
        config=GenerateConfig(max_connections=options.at_once, max_tokens=1024),
    )
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=verdict())
    (log,) = eval(task, model=model, log_dir=str(options.store), display="none", max_samples=options.at_once)
    if log.status != "success" or log.results.scores[0].metrics["accuracy"].value != 1.0:
        raise SystemExit(f"{log.status}: {log.error.message if log.error else log.results}")


if __name__ == "__main__":
    main()

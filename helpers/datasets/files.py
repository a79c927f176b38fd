"""The names by which files of questions, answers and judgments are known, and what they hold."""

from __future__ import annotations

#: The files that a folder of questions is searched for; published answers stand for their questions.
QUESTION_FILES = ("questions.jsonl", "question.jsonl", "prompts.json", "answers_new.json", "answers.json")

#: The files that a folder of answers is searched for.
ANSWER_FILES = ("answers_new.json", "answers.json", "gemini_mtbench_5q_results.jsonl")

#: The files of judgments that a folder is searched for, with the condition (the hint) that each holds.
JUDGMENT_FILES = {
    "group1_self.json": "self",
    "group2_competitors.json": "competitors",
    "group3_full.json": "full",
    "group4_none.json": "none",
    "judgments_group1.json": "self",
    "judgments_group2.json": "competitors",
    "judgments_group3.json": "full",
    "judgments_group4.json": "none",
    "judgments_new.json": "none",
    "judgments.json": "none",
    "exp3_full_hint_top1.jsonl": "full",
}

#: Logs of failed tries, each with the log of successes that it belongs to.
ERROR_FILES = {"exp3_full_hint_errors.jsonl": "exp3_full_hint_top1.jsonl"}

#: The hints by their names as conditions; "none" is the blind group.
HINTS = ("none", "self", "competitors", "full", "swapped", "false_self", "competitors_masked", "model")

#: How the names of single files end; any other path on the hub is a folder, "." its top.
FILE_ENDS = (".json", ".jsonl", ".csv", ".parquet", ".dev", ".train", ".test")

#: What each entry of an experiment's `hub` may find in a folder of the repository.
KNOWN_FILES = {
    "questions": QUESTION_FILES,
    "answers": ANSWER_FILES,
    "judgments": (*JUDGMENT_FILES, *ERROR_FILES),
}

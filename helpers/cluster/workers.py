"""Workers of a Dask cluster: what keeps one from running cells, and which of them get some."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from helpers.config import ConfigError, load_models
from helpers.judge import MissingKey, check_keys, notice
from helpers.providers.keys import redact
from helpers.run.cells import code, code_now

OTHER_CODE = "has another state of Recuse: it needs the same commit, models.yaml, configs and built-in data"
STALE = "was started before its Recuse was changed: restart it"
THREADS = "has several threads, and a process can run one cell at a time: start it with --nthreads 1"


class Unfit(Exception):
    """A worker was given a cell that it cannot run: its address, and why. It has begun nothing."""


@dataclass
class Workers:
    """The workers of a cluster: by address what keeps each from running cells, "" where nothing.

    `bound` are calls that only some of them may run.
    """

    client: Any
    needs: Sequence[str]
    told: dict[str, str] = field(default_factory=dict)
    bound: dict[Future, list[str]] = field(default_factory=dict)

    def begin(self, *call: Any) -> Future:
        """Have this called on one that is fit.

        It is bound to those only where others are unfit: Dask lets what is bound wait for workers that are gone.
        """
        fit = self.fit()
        only = {"workers": fit, "allow_other_workers": True} if len(fit) < len(self.told) else {}
        future = self.client.get_executor(pure=False, **only).submit(*call)
        future.add_done_callback(self.hear)
        if only:
            self.bound[future] = fit
        return future

    def look(self, tell: bool = False) -> None:
        """Ask those that have joined since, and `tell` of the unfit ones; who does not answer is asked again next time.

        What is bound to workers that are all gone is cancelled.
        """
        there = self.client.nthreads()
        for gone in set(self.told) - set(there):
            del self.told[gone]
        for future, those in list(self.bound.items()):
            if future.done() or there.keys().isdisjoint(those):
                future.cancel()
                del self.bound[future]
        if not (new := sorted(set(there) - set(self.told))):
            return
        said = self.client.run(unready, code(), self.needs, workers=new, on_error="return")
        news = {at: redact(str(words)) for at, words in said.items() if not isinstance(words, OSError)}
        self.told |= news
        for at, words in sorted(news.items()):
            if words and tell:
                _tell(at, words)

    def fit(self) -> list[str]:
        """The addresses of those that can run cells."""
        return sorted(at for at, words in self.told.copy().items() if not words)

    def refuse(self) -> None:
        """ConfigError where some are unfit, which names them."""
        if wrong := [f"the worker at {at} {words}" for at, words in sorted(self.told.copy().items()) if words]:
            raise ConfigError("\n".join(wrong))

    def hear(self, ended: Future) -> None:
        """Give nothing more to a worker that was fit when it was asked and is not any more."""
        if not ended.cancelled() and isinstance(error := ended.exception(), Unfit):
            at, words = error.args
            self.told[at] = words
            _tell(at, words)


def _tell(at: str, words: str) -> None:
    notice(f"the worker at {at} {words}; until then it gets no cell")


def unready(state: str, needs: Sequence[str], dask_worker: Any) -> str:
    """What keeps this worker from running cells: other code than `state`, a key that is not set; "" where nothing."""
    if dask_worker.state.nthreads > 1:
        return THREADS
    if code_now() != state:
        return OTHER_CODE
    if code() != state:
        return STALE
    models = load_models()
    try:
        check_keys(models[name] for name in needs)
    except MissingKey as error:
        return f"lacks a key: {error}"
    return ""

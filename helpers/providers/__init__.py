"""The only door to models: one async function a provider, one retry policy for all, one reader of the environment."""

from helpers.providers.environment import addresses, in_browser, missing_keys
from helpers.providers.failures import Failure, classify
from helpers.providers.pacing import Clock
from helpers.providers.session import TIMEOUT_SECONDS, Sent, Session, Stopped, retirement

__all__ = [
    "TIMEOUT_SECONDS",
    "Clock",
    "Failure",
    "Sent",
    "Session",
    "Stopped",
    "addresses",
    "classify",
    "in_browser",
    "missing_keys",
    "retirement",
]

"""What to do where a model or an address is not asked any more, in words."""

from __future__ import annotations

from helpers.providers.environment import key_variables
from helpers.providers.failures import Failure
from helpers.providers.retrying import PATIENCE
from helpers.types import Model


def address_of(model: Model) -> str:
    """Where a model is asked, in words."""
    return model.base_url or model.provider


def advice(model: Model, failure: Failure) -> str:
    """What went wrong for good, what to do, and what the service said."""
    variables = " or ".join(key_variables(model))
    status = "auth" if failure.status == "forbidden" else failure.status
    return {
        "redirect": f"{address_of(model)} redirects to another address, and no redirect is followed: prompts and keys "
        "go only where you send them; if the API is there, write that address, without the path that the SDK adds, as "
        "`base_url` in models.yaml (for an audit, in --base-url)",
        "quota": f"{address_of(model)} says that the account's money or quota is used up; top it up or wait until it "
        "is renewed",
        "auth": f"{address_of(model)} refused the key in {variables}; set a valid one with access to this model"
        if variables
        else f"{model.base_url} asks for a key; name the variable that holds it in models.yaml (`api_key_env`)",
        "connect": f"nobody answers at {model.base_url or 'the address of ' + model.provider}; is the server running, "
        "and the network up?",
        "bad_envelope": f"what {address_of(model)} answers for {model.model_id!r} has not the form of "
        f"{model.provider}'s replies; is `base_url` the address of its API?",
        "rate_limited": f"{address_of(model)} has taken no call for {model.model_id!r} for {PATIENCE / 60:.0f} minutes"
        "; a quota may be used up until it is renewed",
        "not_found": f"{model.base_url} knows no model_id {model.model_id!r}, or `base_url` is not the address of its "
        "API (most end in /v1); correct the one or the other in models.yaml (of an audit, in --model or --base-url)"
        if model.base_url
        else f"{model.provider} does not know model_id {model.model_id!r}; correct it in models.yaml",
        "bad_request": f"{model.provider} refused the request for {model.model_id!r}; its `params:` in models.yaml may "
        "hold something that this model does not take",
    }[status] + f" ({failure.error})"

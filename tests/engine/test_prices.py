"""What a call costs by the price table is what the table's own calculation says, for every model that it holds."""

from __future__ import annotations

from datetime import UTC, datetime

from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot

from helpers.judge.budget import cost, price
from helpers.types import Model

#: Below, at and above the limits at which tables have tiers.
TOKENS = ((0, 0), (1400, 350), (128_000, 1), (128_001, 1), (200_000, 99), (200_001, 99), (272_001, 7), (1_000_001, 5))


def test_every_entry_gives_what_the_table_s_own_calculation_gives() -> None:
    entries = [(provider, model) for provider in get_snapshot().providers for model in provider.models]
    assert len(entries) > 1000
    for provider, model in entries:
        now = datetime.now(UTC)
        for read, written in TOKENS:
            expected = model.calc_price(Usage(input_tokens=read, output_tokens=written), provider).total_price
            assert price(model, now, read, written) == float(expected), (
                provider.id,
                model.id,
                read,
                written,
            )


def test_tiers_are_among_what_was_compared() -> None:
    """A Claude model that reads more than 200,000 tokens pays more for each of them."""
    model = Model("claude", "anthropic", "claude-sonnet-4-5", "claude")
    below, above = (cost(model, tokens, 0) / tokens for tokens in (200_000, 200_001))
    assert above > 1.5 * below


def test_a_model_is_found_by_its_provider_or_by_its_address() -> None:
    usage = Usage(input_tokens=1400, output_tokens=350)
    for model, where in (
        (Model("gpt", "openai", "gpt-5-mini", "gpt"), {"provider_id": "openai"}),
        (
            Model(
                "llama", "openai", "meta-llama/llama-3.1-8b-instruct", "llama", base_url="https://openrouter.ai/api/v1"
            ),
            {"provider_api_url": "https://openrouter.ai/api/v1"},
        ),
    ):
        expected = calc_price(usage, model.model_id, **where).total_price
        assert cost(model, 1400, 350) == float(expected) > 0

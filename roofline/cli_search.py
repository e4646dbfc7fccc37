"""The commands `search` and `solve`: the cheapest deployments that keep a promise, and a question turned round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from roofline.answers.inverse import Wish, solved
from roofline.answers.search import search as search_for
from roofline.answers.serialise import Link, search_json, solved_json
from roofline.specs.scenario import Scenario
from roofline.specs.search import SearchQuery
from roofline.texts import search_text
from roofline.texts_reasons import solved_text

Answer = Callable[[dict[str, Any], bool, Callable[[dict[str, Any]], str]], None]
Text = str | None
Whole = int | None
Number = float | None
_OURS = ("answer", "link")
"""Names around a command that are no options of it."""
AsJson = Annotated[bool, typer.Option("--json", help="Answer as JSON in base units.")]
Promised = Annotated[Number, typer.Option("--ttft", help="Longest time to first token, seconds.")]
Paced = Annotated[Number, typer.Option("--tpot", help="Longest time per output token, seconds.")]


def add_search(app: typer.Typer, answer: Answer, link: Link) -> None:
    """Add the commands to an application."""

    @app.command()
    def search(
        model: Annotated[str, typer.Option(help="Catalogue id or path.")],
        hardware: Annotated[Text, typer.Option(help="One or more, with commas; default: the whole catalogue.")] = None,
        ttft_s: Promised = None,
        tpot_s: Paced = None,
        tokens_per_s_per_user: Annotated[Number, typer.Option(help="Instead of --tpot.")] = None,
        percentile: Annotated[
            Number, typer.Option(help="At a rate, TTFT has its wait at it; 90 and above: held at the slow end of the band.")
        ] = None,
        request_rate: Annotated[Number, typer.Option(help="Requests per second in all.")] = None,
        concurrency: Annotated[Whole, typer.Option(help="Requests in flight in all, instead of a rate.")] = None,
        input_tokens: Whole = None,
        output_tokens: Whole = None,
        weights: Annotated[Text, typer.Option(help="Formats to try, 'stored' among them.")] = None,
        kv_cache: Annotated[Text, typer.Option("--kv-cache")] = None,
        engine: Annotated[Text, typer.Option(help="Engine profile; default: by device.")] = None,
        usd_per_device_hour: Annotated[Number, typer.Option(help="Your price; default: the market's.")] = None,
        price: Annotated[Text, typer.Option(help="rental, owned, or market: rental quotes, else owned.")] = None,
        most_devices: Annotated[Whole, typer.Option(help="Of one replica; default 256.")] = None,
        announced: Annotated[bool, typer.Option("--announced", help="Include parts that are not shipping.")] = False,
        top: Annotated[Whole, typer.Option(help="Deployments to name; default 20.")] = None,
        as_json: AsJson = False,
    ) -> None:
        """The cheapest deployments that keep a promise, the frontier of speed against cost, and why the others lost."""
        given = {key: value for key, value in locals().items() if key not in ("as_json", *_OURS) and value is not None}
        lists = {key: tuple(listed(given[key])) for key in ("hardware", "weights") if key in given}
        answer(search_json(search_for(SearchQuery.model_validate({**given, **lists})), link), as_json, search_text)

    @app.command()
    def solve(
        question: Annotated[str, typer.Argument(help="batch, context, devices, bandwidth, price or compute-bound.")],
        model: Annotated[str, typer.Option(help="Catalogue id or path.")],
        hardware: Annotated[str, typer.Option(help="Catalogue id or YAML file; '16xh100-sxm' sets the device count.")],
        devices: Whole = None,
        weights: Text = None,
        kv_cache: Annotated[Text, typer.Option("--kv-cache")] = None,
        input_tokens: Whole = None,
        output_tokens: Whole = None,
        batch: Annotated[Whole, typer.Option(help="Sequences decoding at once; for devices, requests in flight.")] = None,
        engine: Text = None,
        utilisation: Number = None,
        ttft_s: Promised = None,
        tpot_s: Paced = None,
        input_usd: Annotated[Number, typer.Option(help="API price of a million input tokens.")] = None,
        output_usd: Annotated[Number, typer.Option(help="API price of a million output tokens.")] = None,
        as_json: AsJson = False,
    ) -> None:
        """The question turned round: batch, context, devices, bandwidth or price that meets a wish, or where compute binds."""
        wishes = ("question", "ttft_s", "tpot_s", "input_usd", "output_usd", "as_json", *_OURS)
        given = {key: value for key, value in locals().items() if key not in (*wishes, "wishes") and value is not None}
        asked = Wish(Scenario.model_validate(given), ttft_s, tpot_s, input_usd, output_usd)
        answer(solved_json(solved(question, asked), link), as_json, solved_text)


def listed(text: str) -> list[str]:
    """A list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]

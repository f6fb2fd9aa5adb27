"""Experiments, for an administrator: versions of a prompt, each with its share of the people."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.errors import NotFound, Refused
from hitsend.prompts import PromptText, shipped
from hitsend.prompts.outcomes import outcome
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.routes.prompts import check_can_be_told
from hitsend.store.prompts import VersionNumber


class NewExperiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prompt: str
    versions: Annotated[tuple[VersionNumber, ...], Meta(min_length=2, max_length=4)]


class End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    winner: int | None = None


@endpoint("GET", "/backend-api/admin/experiments", Access.ADMIN)
async def list_experiments(call: Call) -> Response:
    """Every experiment, the newest first."""
    return answer({"items": await call.house.services.store.experiments.list()})


@endpoint("POST", "/backend-api/admin/experiments", Access.ADMIN)
async def start_experiment(call: Call) -> Response:
    """Compare versions of a prompt: each person is asked with one of them from now on."""
    new = await call.body(NewExperiment)
    store, prompt = call.house.services.store, _compared(new)
    for version in new.versions:
        await check_can_be_told(prompt, version, store.prompts)
    started = await store.experiments.start(new.prompt, new.versions, call.user_id)
    return answer(started, 201)


@endpoint("GET", "/backend-api/admin/experiments/{experiment_id}", Access.ADMIN)
async def get_experiment(call: Call) -> Response:
    """What came of each version so far, and whether they differ by more than chance."""
    experiments = call.house.services.store.experiments
    experiment = await experiments.get(call.path("experiment_id"))
    trials = await experiments.trials(experiment.id)
    # Tens of thousands of turns take a while: not on the event loop.
    found = await asyncio.to_thread(outcome, experiment.versions, trials)
    return answer({"experiment": experiment, "outcome": found})


@endpoint("POST", "/backend-api/admin/experiments/{experiment_id}/end", Access.ADMIN)
async def end_experiment(call: Call) -> Response:
    """End an experiment. From now on the winner holds for everyone, if there is one."""
    end, store = await call.body(End), call.house.services.store
    experiment = await store.experiments.get(call.path("experiment_id"))
    if end.winner in experiment.versions and experiment.prompt in shipped():
        await check_can_be_told(shipped()[experiment.prompt], end.winner, store.prompts)
    return answer(await store.experiments.end(experiment.id, end.winner, call.user_id))


def _compared(new: NewExperiment) -> PromptText:
    prompt = shipped().get(new.prompt)
    if prompt is None:
        raise NotFound("There is no such prompt.", param="prompt")
    if not prompt.is_in_chat:
        raise Refused("No answer is made with this prompt: nothing to compare.", param="prompt")
    if len(set(new.versions)) < len(new.versions):
        raise Refused("Compare versions that are not the same.", param="versions")
    return prompt

"""A/B experiments with prompts, for administrators: each user gets one of the versions."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.errors import NotFound, Refused
from hitsend.prompts import PromptText, shipped_prompts
from hitsend.prompts.outcomes import Outcome, evaluate
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.routes.prompts import check_version
from hitsend.store.experiments import Experiment
from hitsend.store.prompts import VersionNumber
from hitsend.wire.responses import Items


class NewExperiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prompt: str
    versions: Annotated[tuple[VersionNumber, ...], Meta(min_length=2, max_length=4)]


class End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    winner: int | None = None


class ExperimentReport(msgspec.Struct, frozen=True):
    experiment: Experiment
    outcome: Outcome


@endpoint("GET", "/backend-api/admin/experiments", Access.ADMIN)
async def list_experiments(call: Call) -> Response:
    """List experiments, newest first."""
    return json_response(Items(await call.app.services.store.experiments.list()))


@endpoint("POST", "/backend-api/admin/experiments", Access.ADMIN)
async def start_experiment(call: Call) -> Response:
    """Start an experiment: from now on each user gets one version of the prompt."""
    new = await call.read_body(NewExperiment)
    store, prompt = call.app.services.store, _find_compared_prompt(new)
    for version in new.versions:
        await check_version(prompt, version, store.prompts)
    started = await store.experiments.start(new.prompt, new.versions, call.actor)
    return json_response(started, 201)


@endpoint("GET", "/backend-api/admin/experiments/{experiment_id}", Access.ADMIN)
async def get_experiment(call: Call) -> Response:
    """Get the outcome of each version so far, and whether the difference is significant."""
    experiments = call.app.services.store.experiments
    experiment = await experiments.get(call.path_param("experiment_id"))
    trials = await experiments.trials(experiment.id)
    # In a thread: there may be tens of thousands of turns.
    found = await asyncio.to_thread(evaluate, experiment.versions, trials)
    return json_response(ExperimentReport(experiment, found))


@endpoint("POST", "/backend-api/admin/experiments/{experiment_id}/end", Access.ADMIN)
async def end_experiment(call: Call) -> Response:
    """End an experiment. The winner, if there is one, becomes the active version."""
    end, store = await call.read_body(End), call.app.services.store
    experiment = await store.experiments.get(call.path_param("experiment_id"))
    if end.winner in experiment.versions and experiment.prompt in shipped_prompts():
        await check_version(shipped_prompts()[experiment.prompt], end.winner, store.prompts)
    return json_response(await store.experiments.end(experiment.id, end.winner, call.actor))


def _find_compared_prompt(new: NewExperiment) -> PromptText:
    prompt = shipped_prompts().get(new.prompt)
    if prompt is None:
        raise NotFound("There is no such prompt.", param="prompt")
    if not prompt.is_in_chat:
        raise Refused("No answer is made with this prompt: nothing to compare.", param="prompt")
    if len(set(new.versions)) < len(new.versions):
        raise Refused("Compare versions that are not the same.", param="versions")
    return prompt

"""Every route there is, one file per noun. A route that is not in this table does not exist."""

from hitsend.server.calls import Endpoint
from hitsend.server.routes import (
    accounts,
    completions,
    conversation,
    conversations,
    health,
    invites,
    keys,
    models,
    page,
    sessions,
)

__all__ = ["ROUTES"]

ROUTES: tuple[Endpoint, ...] = (
    page.page,
    page.page_of_conversation,
    page.page_of_invite,
    page.asset,
    health.healthz,
    health.readyz,
    accounts.check,
    accounts.create_first,
    accounts.sign_in,
    accounts.sign_up,
    accounts.sign_out,
    accounts.me,
    sessions.list_sessions,
    sessions.revoke_session,
    keys.list_keys,
    keys.create_key,
    keys.revoke_key,
    invites.list_invites,
    invites.create_invite,
    invites.revoke_invite,
    models.list_models,
    models.status,
    conversations.list_conversations,
    conversations.get_conversation,
    conversations.change_conversation,
    conversations.delete_conversation,
    conversation.send,
    conversation.follow,
    conversation.stop,
    conversation.look_inside,
    completions.create_completion,
    completions.list_models,
    completions.get_model,
)

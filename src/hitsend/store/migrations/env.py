"""Alembic's entry point. `hitsend.store.migrate` provides the connection and the transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()

"""The `hitsend` command: dispatch, error output and exit codes.

The module of a command is imported only when that command runs.
"""

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError
from rich.text import Text

from hitsend import __version__
from hitsend.errors import HitsendError

FAILED = 1
INTERRUPTED = 130


def main() -> None:
    sys.exit(_run(sys.argv[1:]))


def _run(words: Sequence[str]) -> int:
    try:
        code = _app()(words, result_action="return_value")
    except HitsendError as error:
        sys.stderr.write(f"hitsend: {error.message}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has exited (`hitsend models list | head`).
        sys.stderr.close()
        return FAILED
    return code if isinstance(code, int) else 0


def _app() -> App:
    app = App(
        name="hitsend",
        help="Self-hosted chat: everything from Send to the last word, on your own machine.",
        version=__version__,
        suppress_keyboard_interrupt=False,
        help_format="plaintext",
        error_formatter=_format_error,
    )
    app.command("hitsend.cli.serve:serve", help="Serve the page and the API.")
    app.command("hitsend.cli.chat.command:chat", help="Chat in the terminal.")
    app.command("hitsend.cli.settings:settings", help="Show every setting and its origin.")
    app.command("hitsend.cli.doctor.command:doctor", help="Check the installation.")
    app.command("hitsend.cli.backup:backup", help="Copy all data into a folder, while it is used.")
    app.command("hitsend.cli.backup:restore", help="Check a backup, and restore its data.")
    app.command("hitsend.cli.compact:compact", help="Rewrite the database file without free space.")
    app.command(_models())
    app.command(_sandbox())
    app.command(_admin())
    app.command(_audit())
    return app


def _format_error(error: CycloptsError) -> Text:
    return Text(f"hitsend: {error} See hitsend --help.", no_wrap=True, overflow="ignore")


def _models() -> App:
    models = App(name="models", help="Manage model weights on this machine.")
    models.command(
        "hitsend.cli.models:list_models",
        name="list",
        help="List models: downloaded ones and available ones.",
    )
    models.command("hitsend.cli.models:pull", help="Download a model's weights.")
    models.command("hitsend.cli.models:remove", help="Delete a model's weights.")
    return models


def _sandbox() -> App:
    sandbox = App(name="sandbox", help="Manage the CPython that runs programs of models.")
    sandbox.command(
        "hitsend.cli.sandbox:install",
        help="Compile CPython with numpy, pandas and matplotlib: a minute, 2.5 GB of memory.",
    )
    sandbox.command("hitsend.cli.sandbox:remove", help="Delete the compiled CPython.")
    return sandbox


def _admin() -> App:
    admin = App(name="admin", help="Manage accounts and API keys, directly in the database.")
    admin.command("hitsend.cli.admin:create_user", help="Create an account.")
    admin.command("hitsend.cli.admin:list_users", name="list", help="List all accounts.")
    admin.command("hitsend.cli.admin:disable", help="Disable an account. Its data is kept.")
    admin.command("hitsend.cli.admin:enable", help="Enable a disabled account.")
    admin.command(
        "hitsend.cli.admin:remove_second_factor",
        help="Remove a second factor, such as a lost phone.",
    )
    admin.command(
        "hitsend.cli.admin:setup_link", help="Print the link that creates the first account."
    )
    admin.command(
        "hitsend.cli.admin:reset_password",
        help="Set someone's password, or create a link with which they choose one.",
    )
    admin.command("hitsend.cli.admin:create_key", help="Create an API key and print it, once.")
    return admin


def _audit() -> App:
    audit = App(name="audit", help="The activity log: who did what, when and from where.")
    audit.command("hitsend.cli.audit:verify", help="Check that no entry was changed or removed.")
    audit.command("hitsend.cli.audit:export", help="Print all entries as JSON lines.")
    return audit

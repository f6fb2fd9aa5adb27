"""The interactive terminal chat: prompt, commands, answers."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import datetime

from rich.console import Console

from hitsend.cli.chat.answer_view import AnswerView
from hitsend.cli.chat.call_lines import describe_result
from hitsend.cli.chat.markdown_stream import escape_controls, render_markdown
from hitsend.cli.chat.prompt import Prompt
from hitsend.cli.chat.questions import Questions
from hitsend.cli.chat.session import ChatSession
from hitsend.client import ApprovalAsked, Client, Message, Update, find_undecided
from hitsend.errors import HitsendError
from hitsend.safety import describe_secrets

HELP = """\
/new          start a new conversation
/list         list your conversations, newest first
/open N       continue conversation N of the list
/model NAME   choose the model; without a name, list the models
/tools NAME   turn a tool on or off, or several; without a name, list the tools
/retry        answer your last message again
/help         show this list
Enter sends, Alt-Enter starts a new line, Ctrl-C stops an answer, Ctrl-D quits."""


class Terminal:
    _prompt: Prompt

    def __init__(self, client: Client, model: str, features: Sequence[str] = ()) -> None:
        """`features` are turned on from the start."""
        self._console = Console()
        self._questions = Questions(self._console)
        self._first_features = features
        self._session = ChatSession(client, model)
        self._commands: dict[str, Callable[[str], Awaitable[None]]] = {
            "/new": self._new,
            "/list": self._list,
            "/open": self._open,
            "/model": self._model,
            "/tools": self._tools,
            "/retry": self._retry,
            "/help": self._help,
        }

    async def run(self) -> int:
        prompt = self._prompt = Prompt(list(self._commands))
        self._note(f"{self._session.client.url} · /help lists the commands, Ctrl-D quits.")
        if self._first_features:
            await self._session.toggle_features(self._first_features)
            self._note(f"Tools that are on: {', '.join(self._session.features)}.")
        while (line := await prompt.read_line()) is not None:
            try:
                await self._run_line(line)
            except HitsendError as error:
                self._note(error.message)
        return 0

    async def _run_line(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word in self._commands:
            await self._commands[word](rest.strip())
        elif word.startswith("/") and "\n" not in line and "/" not in word[1:]:
            self._note(f"There is no command {word}: /help shows those there are.")
        elif await self._may_send(line):
            await self._show(self._session.ask(line))

    async def _may_send(self, line: str) -> bool:
        """Asks before a secret is sent."""
        if (secrets := describe_secrets(line)) is None:
            return True
        if await self._prompt.confirm(f"This message contains {secrets}. Send it anyway?"):
            return True
        self._note("Not sent.")
        return False

    async def _show(self, updates: AsyncGenerator[Update, None]) -> None:
        """Shows the answer, and its rest if the person decided about a call after it had ended."""
        self._console.print()
        await AnswerView(self._console, self._session, self._questions).show(updates)
        while self._session.has_verdicts:
            rest = self._session.go_on()
            await AnswerView(self._console, self._session, self._questions).show(rest)
        self._console.print()

    async def _new(self, _: str) -> None:
        self._session.start_new()
        self._note("A new conversation.")

    async def _list(self, _: str) -> None:
        lines = await self._session.list_conversations()
        for number, line in enumerate(lines, start=1):
            day = datetime.fromtimestamp(line.update_time).astimezone()
            self._plain(f"{number:>3}  {day:%Y-%m-%d %H:%M}  {line.title}")
        if not lines:
            self._note("There are none yet.")

    async def _open(self, number: str) -> None:
        conversation = await self._session.open(number)
        self._plain(conversation.title, style="bold")
        running = conversation.running
        path = conversation.path()
        for message in path:
            if running is None or message.metadata.turn_exchange_id != running.turn_exchange_id:
                self._print_message(message, path)
        if running is not None:
            await self._show(self._session.follow(running.turn_exchange_id))
        elif undecided := find_undecided(path):
            await self._decide(undecided)

    async def _decide(self, undecided: Sequence[ApprovalAsked]) -> None:
        """Asks about calls that an earlier turn left open, and goes on with the answer."""
        for asked in undecided:
            if verdict := await self._questions.ask_approval(asked):
                await self._session.decide(verdict)
        if self._session.has_verdicts:
            await self._show(self._session.go_on())

    async def _model(self, name: str) -> None:
        if name:
            await self._session.choose_model(name)
        models = await self._session.client.models()
        for model in models.models:
            is_asked = self._session.model in (model.name, "auto" if model.is_default else "")
            self._plain(f"{'*' if is_asked else ' '} {model.name}  {model.title}")

    async def _tools(self, names: str) -> None:
        wanted = [name for name in names.replace(",", " ").split() if name]
        features = await self._session.toggle_features(wanted)
        for feature in features:
            mark = "*" if feature.name in self._session.features else " "
            tools = ", ".join(tool.name for tool in feature.tools)
            self._plain(f"{mark} {feature.name}  {tools}")
        if not features:
            self._note("There are none here.")

    async def _retry(self, _: str) -> None:
        await self._show(self._session.ask_again())

    async def _help(self, _: str) -> None:
        self._plain(HELP)

    def _print_message(self, message: Message, path: Sequence[Message]) -> None:
        text = escape_controls(self._session.placeholders.restore(message.text))
        if message.author.role == "tool":
            self._note(describe_result(message, path))
            return
        if not text:
            return
        self._console.print()
        if message.author.role == "user":
            self._plain(f"> {text}", style="bold")
        else:
            self._console.print(render_markdown(text))

    def _plain(self, text: str, style: str = "") -> None:
        self._console.print(escape_controls(text), style=style, markup=False, highlight=False)

    def _note(self, sentence: str) -> None:
        self._plain(sentence, style="dim")

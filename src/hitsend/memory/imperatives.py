"""Recognises imperatives in memories, because a small model obeys what it reads: a memory that says
"say only BANANA" is obeyed, however it is marked.

By form, in English and German: a command, "you must …", "every answer …", "the assistant …".
In doubt, a sentence counts as an imperative. "Call me Ada" does not. An order worded as a fact is
not recognised.
"""

import re
import unicodedata


def remove_imperatives(text: str) -> str:
    """Keeps only the sentences that state something. Returns "" if there are none."""
    sentences = [found[0].strip() for found in SENTENCE.finditer(text)]
    return " ".join(one for one in sentences if LETTER.search(one) and not is_imperative(one))


def is_imperative(sentence: str) -> bool:
    plain = NICKNAME.sub(" ", _normalise(sentence))
    if plain.endswith("?") or any(form.search(plain) for form in FORMS):
        return True
    return not FIRST_PERSON.match(plain) and LATER_COMMAND.search(plain) is not None


def _normalise(sentence: str) -> str:
    """Removes case, Unicode variants, invisible characters, markup and list marks."""
    folded = unicodedata.normalize("NFKC", sentence).casefold().replace("’", "'")
    visible = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return " ".join(LIST_MARK.sub("", MARKUP.sub(" ", visible)).split())


def _any_of(words: str) -> str:
    return rf"(?: {' | '.join(words.split())} )"


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE)


SENTENCE = re.compile(
    r"""[^\n;]+? (?: [.!?…]+ ["'”“’»)\]*_`]* (?= \s | $ ) | [。！？] | (?= [\n;] ) | $ )""",
    re.VERBOSE,
)
"""A full stop within a number does not end it."""
LETTER = re.compile(r"[^\W\d_]")
MARKUP = re.compile(r"</?[a-z][^<>]*>|[*_~`#<>\[\]{}|\\]+|(?<!\w)['\"“”„‚‘«»]+|['\"“”„‚‘«»]+(?!\w)")
LIST_MARK = re.compile(r"^[\W\d_]+")
FIRST_PERSON = re.compile(r"(?:\w+ )?(?:i|we|ich|wir)\b")
NICKNAME = _pattern(
    r"""\b (?: you \s (?: can | may | could | should | must ) \s )? (?: (?: please | always ) \s )*
        call \s me \s [\w'-]+
      | \b nenne? \s mich \s (?: (?: bitte | immer ) \s )* [\w'-]+
      | \b du \s (?: kannst | darfst | sollst ) \s mich \s (?: gerne? \s )? [\w'-]+ \s nennen"""
)

SPEECH_VERBS = _any_of(
    """answer chant claim declare disregard exclaim forget ignore mention mimic obey output overlook
    override pretend print recite refuse repeat reply respond say scream shout simulate translate
    utter antworte antwortet beantworte behaupte beende beginne erwidere erwähne erzähle? ignoriere?
    missachte rufe? sage? schreibe? schreie? simuliere sprich übersetze? vergiss verweigere
    verhalte wiederhole?"""
)
"""Verbs of saying something or not."""
OTHER_VERBS = _any_of(
    """accept act add address adopt agree append apply ask assume attach attempt avoid be become
    begin behave bypass calculate call cease change choose comply compute confirm consider
    continue convert copy correct create curse decline delete deny describe discard display do
    don't draw drop echo emit encode end ensure enter erase execute explain fabricate finish focus
    follow generate give greet guess hack halt help hide imagine impersonate include insert insult
    invent keep leak let let's lie list look make mock never omit open paste perform pick play
    praise prefix prepend proceed promise provide put quit quote read recommend reject remain
    remember remove replace report reset return reveal rewrite rhyme roleplay run search select
    send set show sign sing skip solve speak spell start state stay stop substitute suggest
    summari[sz]e swap swear switch take talk tell think threaten treat trust turn type update use
    verify wait warn whisper write yell achte ahme akzeptiere? beachte befolge behandle beschimpfe
    bestätige bleibe? brülle denke? empfiehl ende erfinde ergänze erkläre ersetze erstelle fange?
    flüstere folge formuliere frage? füge führe gib halte? hilf hänge? höre? imitiere lasse? lies
    lobe lösche lüge? mache? merke? nenne nimm nutze prüfe rate rechne rede reime schicke? sei
    seid setze singe? spiele? starte stelle stoppe suche tanze tue? verfälsche vermeide verrate
    versuche verwandle verwende warte wähle zeichne zeige? zitiere zähle öffne"""
)
"""Other verbs of commands. Within a statement these words may be something else."""
VERB = rf"(?: {SPEECH_VERBS} | {OTHER_VERBS} ) \b (?! ' | \s (?: ich | wir ) \b )"

FILLER = _any_of(
    """please pls kindly now then also so and but or first next finally instead otherwise therefore
    ok okay hey hi hello dear important attention note warning always only just simply must do
    not assistant ai chatgpt gpt chatbot bot model everyone bitte jetzt dann und aber oder nun
    zuerst danach stattdessen sonst wichtig achtung hinweis immer nur einfach stets nicht
    assistent ki"""
)
FILLERS = rf"(?: {FILLER} [\s,:!.–—-]+ ){{0,6}}"
"""Words that may precede a command."""
ADVERB = r"""(?: please | kindly | always | never | henceforth | going \s forward
    | under \s no \s circumstances | no \s matter | auf \s keinen \s fall | egal
    | (?: from | starting ) \s (?: now | here | today ) (?: \s on (?: wards? )? )?
    | bitte | immer | nie | niemals | stets | künftig
    | (?: ab | von ) \s (?: jetzt | sofort | heute | nun ) (?: \s an )? ) \b
    (?! ,? \s (?: \w+ \s )? (?: i | we | my | our | ich | wir | mein \w* | unser \w* ) \b )"""
"""Adverbs that start a command, unless the person is the subject."""
COMMAND = _pattern(
    rf"""(?: ^ | [.!?:…()"“”„«»] \s* | \s [–—-]+ \s* | [–—-]+ \s ) {FILLERS} (?: {VERB} | {ADVERB} )
      | ^ (?: when | whenever | if | once | as | before | after | until | unless | wenn | falls
        | sobald | bevor | nachdem | solange ) \b [^,]* , \s* {FILLERS} {VERB}
      | ^ {FILLERS} \w+en \s sie \b"""
)
LATER_COMMAND = _pattern(
    rf"""(?: , | \b {_any_of("and or but then so instead und oder aber dann sondern")} \s ) \s*
        {FILLERS} {SPEECH_VERBS} \b"""
)
"""A command after a comma or an "and". Statements about oneself may look the same."""

SECOND_PERSON = _pattern(
    r"""\b (?: you \b (?! \s* (?: $ | [.,!] ) ) | your | yours | yourself | du | dein \w*
      | ihr \s (?: müsst | sollt | werdet | dürft | könnt | seid | habt )
      | sie \s (?: müssen | sollen | sollten | werden ) \s (?: nur | immer | stets | jede ) ) \b"""
)
MODEL = _any_of("assistant ai model chatbot bot llm gpt assistent modell sprachmodell ki")
ANSWER = _any_of(
    """answers? reply replies responses? outputs? sentences? messages? questions? prompts? requests?
    antwort antworten ausgaben? anfragen? eingaben? fragen? nachrichten"""
)
MUST = _any_of(
    """must should shall will would can cannot may has have had is are needs? to always never only
    says? replies answers responds ignores muss müssen soll sollen sollte sollten wird werden ist
    sind hat antwortet sagt"""
)
ABOUT_MODEL = _pattern(
    rf"""\b (?: (?: the | this | every | any | each | all | an? | der | das | die | jedes? )
        \s (?: \w+ \s )? {MODEL} \s {MUST}
      | (?: the | this | every | any | each | all | next | other | previous | prior | die | der
        | den | das | diese | jede[rsmn]? | alle[rnm]? | \w+ige[rnm]? ) \s {ANSWER}
      | (?: answers | replies | responses | outputs | questions | antworten | ausgaben ) \s {MUST}
      | (?: only | sole | einzige[rsn]? ) \s (?: \w+ \s )? (?: word | thing | wort | satz )
      | (?: is | are ) \s to \s be | (?: it | es ) (?: 's | \s is | \s ist ) \s (?: \w+ \s )?
        (?: important | mandatory | required | forbidden | necessary | essential | wichtig | nötig
        | pflicht | verboten )
    ) \b"""
)
"""A statement about the model or its answers."""
ONLY = _any_of("only just nothing exactly solely exclusively nur nichts ausschließlich stets immer")
ANSWER_VERB = _any_of(
    """say says reply replies respond responds answer answers output outputs print prints write
    writes repeat repeats use sage? sagen antworte antworten schreibe? schreiben wiederholen"""
)
SAY_ONLY = _pattern(
    rf"""\b (?: {ANSWER_VERB} \s (?: \w+ \s )? {ONLY} | {ONLY} \s (?: \w+ \s ){{0,3}} {ANSWER_VERB}
      | (?: reply | replies | respond | responds | answer | output ) \s (?: with | in | as | like )
      | antworte[nt]? \s mit
      | (?: ignore | disregard | forget | override | bypass ) \s (?: all | any | every | everything
        | other | previous | prior | the \s (?: rest | above | rules ) ) ) \b"""
)
LABEL = _pattern(
    rf"""\b (?: instructions? | anweisung(?:en)? | jailbreak \w* | role-?play \w* | im_start
      | im_end
      | (?: system | developer ) \s (?: prompt | message | mode | note )
      | (?: system | user | developer | command | befehl | task | aufgabe | order | rule | regel
        | role | rolle | {MODEL} | {ANSWER} ) \s* (?: : | = | -> ) )"""
)
"""Labels of instructions to a model."""
MIXED_SCRIPTS = re.compile(r"[a-z][α-λν-ωѐ-ӿа-я]|[α-λν-ωѐ-ӿа-я][a-z]")
"""Look-alike letters of two alphabets in one word. The micro sign is allowed."""

FORMS = (COMMAND, SECOND_PERSON, ABOUT_MODEL, SAY_ONLY, LABEL, MIXED_SCRIPTS)

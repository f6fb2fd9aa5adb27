"""A password in prose, in English and German. What is a secret by its form is known elsewhere."""

import re

PASSWORD = re.compile(
    r"""\b (?: pass \s? (?: word | code | phrase ) | passwort | kennwort | pin | puk | cvv )
        (?: [\s-] code | \s number | -? nummer )?
        (?: \s (?: for | of | to | at | on | für | zu | zum | zur | von | vom | bei | beim )
            (?: \s [^\s:=]+ ){1,4}? )?
        (?: \s (?: is | was | ist | war | lautet | heißt ) | \s? [:=] ) \s? \S
      | \b (?: passwort | kennwort | pin ) \s \S+ \s (?: ist | lautet | heißt ) \b""",
    re.IGNORECASE | re.VERBOSE,
)


def tells_password(text: str) -> bool:
    return PASSWORD.search(text) is not None

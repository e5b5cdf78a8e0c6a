"""What the name of a column says: a role, gold labels, a question, or a description."""

import re
import unicodedata
from collections.abc import Sequence

from blindfuse.responses.markers import word_set

# Column names in tiers, the likeliest first: English, German, French and Spanish
_ROLES = {
    "item": (
        "item task unit example sample document doc instance object hit datapoint record case "
        "element aufgabe beispiel dokument objekt fall tache exemple objet unite cas "
        "elemento tarea ejemplo documento objeto unidad caso",
        "id idx index key uid uuid nr",
        "question image text sentence prompt url file filename input pair "
        "frage bild satz texte phrase pregunta imagen texto frase",
    ),
    "annotator": (
        "annotator worker performer user judge model rater labeler labeller coder grader evaluator "
        "reviewer assessor participant respondent classifier expert "
        "annotatorin bewerter beurteiler kodierer gutachter prufer teilnehmer benutzer modell "
        "annotateur annotatrice evaluateur codeur juge utilisateur modele "
        "anotador anotadora evaluador codificador juez usuario participante modelo",
        "source session author",
    ),
    "label": (
        "label answer response vote verdict choice rating judgment judgement annotation class "
        "category decision prediction grade winner preference passed "
        "antwort urteil bewertung klasse kategorie entscheidung "
        "reponse etiquette classe categorie jugement choix evaluation "
        "respuesta etiqueta clase categoria juicio voto eleccion evaluacion",
        "value score result output wert ergebnis valeur resultat valor resultado",
    ),
}
TIERS = {role: [word_set(tier) for tier in tiers] for role, tiers in _ROLES.items()}
"""Names of each role; two names of the same tier are ambiguous."""

_GOLD_NAMES = word_set(
    "truth gold golden ground_truth groundtruth gt true expected target reference correct actual "
    "answer_key gold_standard goldstandard goldlabel truelabel oracle wahrheit verite verdad"
)
"""Names of columns with gold labels. They are never read as responses."""

_LABEL_WORDS = word_set("label answer class category value y")
"""Words that may stand beside such a name: ``correct_answer``, ``y_true``."""

QUESTION_NAMES = word_set("question aspect criterion criteria dimension metric attribute")
"""Names of columns that distinguish several questions about one item."""

_RESULT_NAMES = word_set(
    "final consensus majority majority_vote adjudicated adjudication aggregated aggregate fused "
    "agreed resolved mv merged voted agg maj mode"
)
"""Names of columns with labels that were derived from the responses."""

_DESCRIPTIVE_WORDS = word_set(
    "text texts sentence prompt question url uri link image images file filename path input "
    "comment comments remark remarks note notes tweet title body content context length len "
    "count size duration date time timestamp datetime created updated split fold lang language "
    "dataset subset domain topic weight confidence conf certainty probability agreement "
    "difficulty explanation rationale reason reasoning email status seconds secs ms minutes "
    "total totals sum votes address mean median avg average std stdev variance entropy kappa batch "
    "seed year month week day hour "
    "kommentar kommentare bemerkung bemerkungen anmerkung anmerkungen notiz notizen hinweis "
    "begrundung titel datum zeit dauer sprache "
    "commentaire commentaires remarque remarques titre duree langue texte phrase "
    "comentario comentarios observacion observaciones notas titulo fecha idioma texto frase"
)
"""Last words of the names of columns that describe the item or the work, not its label."""

_COUNT_WORDS = word_set("n num number nb count total")
"""First words of the names of columns that count something: ``n_votes``."""

INDEX_NAME = re.compile(r"|Unnamed: \d+(_level_\d+)?|index|level_\d+|__index_level_\d+__|_id")
"""Names that pandas, Arrow and databases give to row numbers."""

_ID = re.compile(r"[\W_][Ii][Dd]$|[a-z]I[Dd]$")

_SUFFIXES = {"id", "ids", "name", "key", "uuid", "hash", "email", "code", "label"}


def base_name(column: str) -> str:
    """Return a column's name in lower case without a suffix: ``worker`` for ``WorkerId``."""
    words = _words(column)
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    base = "_".join(words)
    return base.removesuffix("id") if _has_role(base.removesuffix("id")) else base


def _has_role(base: str) -> bool:
    return any(base in tier for tiers in TIERS.values() for tier in tiers)


def _words(column: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", str(column))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    return [word for word in re.split(r"[\W_]+", spaced.casefold()) if word]


def _is_named(column: str, names: frozenset[str]) -> bool:
    """Return whether a name is one of these, with or without a word for labels beside it."""
    words = _words(column)
    others = "_".join(word for word in words if word not in _LABEL_WORDS)
    return bool({base_name(column), "_".join(words), others} & names)


def is_gold_name(column: str) -> bool:
    """Return whether the name says gold labels, as ``truth`` and ``animal_gold`` do."""
    return _is_named(column, _GOLD_NAMES) or _words(column)[-1:] in (["gold"], ["truth"])


def is_id(column: str) -> bool:
    """Return whether the name ends with "id" as a word of its own."""
    return _ID.search(str(column)) is not None


def is_known_name(column: str) -> bool:
    """Return whether the name is one of those that detection knows."""
    return is_gold_name(column) or _has_role(base_name(column))


def name_of_role(role: str, names: Sequence[str]) -> str | None:
    """Return the only likeliest name of a role, or None."""
    for tier in TIERS[role]:
        found = [name for name in names if base_name(name) in tier]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def is_descriptive(column: str) -> bool:
    """Return whether the name says a text, a date, a number, gold labels, a result or an index."""
    words, base = _words(column), base_name(column)
    return (
        is_gold_name(column)
        or _is_named(column, _RESULT_NAMES)
        or INDEX_NAME.fullmatch(str(column)) is not None
        or str(column).startswith("_")  # what Appen, Prodigy and MongoDB add
        or bool({words[-1], base} & _DESCRIPTIVE_WORDS if words else False)
        or (len(words) > 1 and words[0] in _COUNT_WORDS)
    )

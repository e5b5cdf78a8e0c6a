"""``blindfuse predict``: new items by annotators that are known already."""

import click

from blindfuse.cli.answer import Answer
from blindfuse.cli.options import EXISTING, Answers, answers_with, reads_answers, text_model


@click.command(
    epilog="""\b
Examples:
  blindfuse fuse january.csv --model model.npz
  blindfuse predict model.npz february.csv -o fused.csv
"""
)
@click.argument("model", type=EXISTING, metavar="MODEL")
@answers_with("One row an item")
@reads_answers
@click.option("--threads", type=click.IntRange(1), help="At most so many; else all.")
def command(model: str, answers: Answers, answer: Answer, threads: int | None) -> None:
    """Label the items in FILE… by MODEL, which `blindfuse fuse --model` has saved.

    Nothing is learned: each item is labelled by itself, from what is known of the annotators who
    answered it. The output is that of `blindfuse fuse`.
    """
    from blindfuse.cli.results import as_rows, item_frame
    from blindfuse.cli.summary import facts
    from blindfuse.diagnostics.expected import expect_error
    from blindfuse.diagnostics.items import look_at_items

    known = text_model(model)
    with answer.screen.working() as step:
        found = answers.read(answer.screen, step, known.classes.tolist())
        step(f"labelling {found.responses.n_items:,} items")
        responses = found.responses.recoded(known.annotators, known.classes)
        posteriors = known.posteriors(responses, threads=threads)
    labels, about = known.name_labels(posteriors), look_at_items(posteriors)
    expected = expect_error(responses, known, posteriors)
    frame = item_frame(responses.items, labels, posteriors, known.classes, about)
    wrong = f"About {100 * expected.error:.1f} % of the labels are expected to be wrong."
    labelled = f"{responses.n_items:,} items from {responses.n_labels:,} labels, by {model}."
    answer.give(
        frame,
        words=lambda: [
            facts(
                [
                    ("Labelled", labelled),
                    ("Error", wrong),
                    ("Items", about.summary()),
                ]
            )
        ],
        document=lambda: {
            "classes": known.classes.tolist(),
            "expected_error": expected.error,
            "need_another_label": int(about.needs.sum()),
            "notes": list(found.notes),
            "items": as_rows(frame),
        },
    )

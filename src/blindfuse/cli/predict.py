"""``blindfuse predict``: new items by annotators that are known already."""

import click

from blindfuse.cli.fuse_options import text_model
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.options import EXISTING, answers_with, reads_answers
from blindfuse.cli.output_options import OutputOptions


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
def command(model: str, answers: InputOptions, answer: OutputOptions, threads: int | None) -> None:
    """Label the items in FILE… by MODEL, which `blindfuse fuse --model` has saved.

    Nothing is learned: each item is labelled by itself, from what is known of the annotators who
    answered it. The output is that of `blindfuse fuse`.
    """
    from blindfuse.cli.summary import facts
    from blindfuse.cli.tables import as_rows, item_frame
    from blindfuse.diagnostics.diagnose import diagnose

    known = text_model(model)
    with answer.screen.working() as step:
        found = answers.read(answer.screen, step, known.classes.tolist())
        step(f"labelling {found.responses.n_items:,} items")
        responses = found.responses.recoded(known.annotators, known.classes)
        posteriors = known.posteriors(responses, threads=threads)
    labels, told = known.name_labels(posteriors), diagnose(responses, known, posteriors)
    frame = item_frame(responses.items, labels, posteriors, known.classes, told.items)
    labelled = f"{responses.n_items:,} items from {responses.n_responses:,} labels, by {model}."
    answer.give(
        frame,
        words=lambda: [
            facts(
                [
                    ("Labelled", labelled),
                    ("Error", told.expected.summary()),
                    ("Items", told.items.summary()),
                ]
            )
        ],
        document=lambda: {
            "classes": known.classes.tolist(),
            "expected_error": told.expected.error,
            "need_another_label": int(told.items.needs.sum()),
            "notes": list(found.notes),
            "items": as_rows(frame),
        },
    )

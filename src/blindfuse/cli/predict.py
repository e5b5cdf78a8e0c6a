"""``blindfuse predict``: label new items with a saved model."""

from typing import TYPE_CHECKING

import click

from blindfuse.cli.fusing import load_text_model
from blindfuse.cli.options import EXISTING_FILE, InputOptions, OutputOptions, takes, threads_option
from blindfuse.errors import counted

if TYPE_CHECKING:
    import blindfuse
    from blindfuse.cli.screen import Step


@click.command(
    epilog="""\b
Examples:
  blindfuse fuse january.csv --model model.npz
  blindfuse predict model.npz february.csv -o fused.csv
"""
)
@click.argument("model_path", type=EXISTING_FILE, metavar="MODEL")
@takes(output=OutputOptions, inputs=InputOptions)
@threads_option()
def predict_command(
    model_path: str, inputs: InputOptions, output: OutputOptions, threads: int | None
) -> None:
    """Label the items in FILE… with MODEL, a file written by `blindfuse fuse --model`.

    The model is not updated: each item is labelled on its own, from its responses, as
    `blindfuse fuse` would have labelled it. The output has the columns of `blindfuse fuse`.
    """
    from blindfuse.cli.screen import paragraph_table
    from blindfuse.diagnostics.items import rate_items
    from blindfuse.fusion.presentation import expected_error_document, label_columns
    from blindfuse.result import json_rows

    model = load_text_model(model_path)
    with output.screen.progress() as step:
        data = _read(model, inputs, output, step)
        step(f"labelling {data.responses.n_items:,} items")
        responses = _in_codes_of(model, data.responses)
        posteriors = model.posteriors(responses, threads=threads)
    items = rate_items(responses, model, posteriors)
    labels = model.name_labels(posteriors)
    columns = label_columns(responses.items, labels, posteriors, model.classes, items)
    source = counted(responses.n_responses, "response")
    labelled = f"{counted(responses.n_items, 'item')} from {source}."
    output.write(
        columns,
        text=lambda: [paragraph_table([("Labelled", labelled), ("Items", items.summary())])],
        document=lambda: {
            "classes": model.classes.tolist(),
            **expected_error_document(None),
            "needs_another_label": int(items.needs_another_label.sum()),
            "notes": list(data.notes),
            "items": json_rows(columns),
        },
        kind="labels",
    )


def _read(
    model: "blindfuse.Model", inputs: InputOptions, output: OutputOptions, step: "Step"
) -> "blindfuse.Read[blindfuse.Responses]":
    """Read the responses; scores are divided into levels as those that the model was fitted to."""
    from blindfuse.responses.alphabet import NO_RESPONSE

    if model.scale is None:
        abstain = NO_RESPONSE in model.symbols.tolist()
        known = model.classes if abstain else model.symbols
        return inputs.read(output.screen, step, known.tolist(), are_known=True)
    classes = model.classes.tolist()
    return inputs.read(output.screen, step, classes, kind="scores", levels=model.scale)


def _in_codes_of(
    model: "blindfuse.Model", responses: "blindfuse.Responses"
) -> "blindfuse.Responses":
    """Return the responses in the codes of the model, with its symbols."""
    from blindfuse.responses.alphabet import NO_ANCHOR, NO_RESPONSE

    names = model.annotators, model.classes, model.symbols
    if model.scale is not None:
        return responses.recoded(*names)
    if NO_RESPONSE in model.symbols.tolist():
        return responses.recoded(*names[:2]).with_abstentions().recoded(*names)
    responses = responses.recoded(model.annotators, model.symbols)
    return responses if model.is_plain else responses.with_anchor(model.classes, NO_ANCHOR)

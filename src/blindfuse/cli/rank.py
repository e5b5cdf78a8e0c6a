"""``blindfuse rank``: rank items by pairwise comparisons."""

import click

from blindfuse.cli.fusing import ResultFiles, fuse_files
from blindfuse.cli.options import ComparisonOptions, OutputOptions, takes


@click.command(
    epilog="""\b
Examples:
  blindfuse rank battles.jsonl
  blindfuse rank battles.jsonl -o ranking.csv --report ranking.html
  blindfuse rank battles.jsonl --annotators judges.csv
  blindfuse rank games.csv --left home --right guest --winner result
  blindfuse rank preferences.parquet --left chosen --right rejected
"""
)
@takes(other_files=ResultFiles, output=OutputOptions, inputs=ComparisonOptions)
def rank_command(
    inputs: ComparisonOptions, output: OutputOptions, other_files: ResultFiles
) -> None:
    """Rank the items that judges compared in FILE…, and rate the judges.

    FILE has one row per comparison: two items, the winner and, if known, the judge and the prompt,
    as battles of Chatbot Arena (model_a, model_b, winner, judge) and tables with left, right and
    winner have them. A winner is the name of one item, left or right, A or B, a tie, or the
    probability that the left item wins. Where two columns list winners and losers, such as chosen
    and rejected, no winner is needed.

    The output has the columns item, rank with its 95 % interval (rank_low, rank_high), strength
    (log odds relative to the mean item) with its interval (low, high), probability_best, tier and
    comparisons. Items of a tier are not separated from the best of it.

    --annotators writes per judge the slope (1 as the typical judge, 0 at random, negative in
    reverse), the position bias, the tie rate, their intervals, and a flag.
    """
    from blindfuse import fuse_pairs

    fuse_files(
        inputs,
        output,
        other_files,
        lambda data, step: fuse_pairs(data.responses),
        kind="comparisons",
    )

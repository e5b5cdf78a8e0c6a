"""``blindfuse rank``: rank items by pairwise comparisons."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from blindfuse.cli.fusing import FusionResult, ResultFiles, fuse_files
from blindfuse.cli.options import ComparisonOptions, OutputOptions, option, takes
from blindfuse.cli.outputs import FileWriter, OutputFile, table_writer


@dataclass(frozen=True)
class RankingFiles(ResultFiles):
    """As :class:`ResultFiles`, with the comparisons to ask for next."""

    next: Path | None = option(
        "--next",
        type=OutputFile(),
        help="Write the comparisons that would narrow the ranking most, and by whom, in a format "
        "of -o.",
    )
    budget: int = option(
        "--budget",
        type=click.IntRange(1),
        default=100,
        show_default=True,
        metavar="N",
        help="Number of comparisons of --next.",
    )

    def writers(
        self, fused: FusionResult, output: OutputOptions, *options: Any
    ) -> dict[Path, FileWriter]:
        """Return what writes the judges, the report and the next comparisons, where asked for."""
        from blindfuse import next_pairs

        writers = super().writers(fused, output, *options)
        if self.next is not None:
            asked = next_pairs(fused.fusion, self.budget)
            columns = {"left": asked.left, "right": asked.right}
            if fused.fusion.comparisons.has_judges:
                columns["annotator"] = asked.annotators
            columns["gain"] = asked.gains
            writers[self.next] = table_writer([columns], self.next, output.spreadsheet)
        return writers


@click.command(
    epilog="""\b
Examples:
  blindfuse rank battles.jsonl
  blindfuse rank battles.jsonl -o ranking.csv --report ranking.html
  blindfuse rank battles.jsonl --annotators judges.csv --next requests.csv
  blindfuse rank games.csv --left home --right guest --winner result
  blindfuse rank preferences.parquet --left chosen --right rejected
"""
)
@takes(other_files=RankingFiles, output=OutputOptions, inputs=ComparisonOptions)
def rank_command(
    inputs: ComparisonOptions, output: OutputOptions, other_files: RankingFiles
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
    reverse), the position bias, the tie rate, their intervals, and a flag. --next writes which
    comparisons to ask for, the most informative first: the gain is by how many nats one is expected
    to reduce what is uncertain about the order of all pairs.
    """
    from blindfuse import fuse_pairs

    fuse_files(
        inputs,
        output,
        other_files,
        lambda data, step: fuse_pairs(data.responses),
        kind="comparisons",
    )

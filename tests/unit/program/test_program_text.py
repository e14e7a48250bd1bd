"""Programs as people read them."""

from __future__ import annotations

from slacktide.algebra.textual import from_text
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import batch, maintain, rebuild
from slacktide.program.operator import Save
from slacktide.program.textual import program_text

SUMS = """aggregate key=[#2] [n#8 := count(#3 where (#3 > 0))]
  join inner on (#1 = #4)
    scan l [k#1:INT, g#2:STRING, v#3:INT]
    scan r [k#4:INT]
"""
LARGEST = """aggregate key=[] [largest#9 := max(#8)]
"""


def test_the_program_of_a_later_run() -> None:
    program = maintain("v", Maintainability(from_text(SUMS)), frozenset({"l", "r"})).program
    saved = program.steps[0]
    assert isinstance(saved, Save)
    chain = saved.chain
    assert (
        program_text(program)
        == f"""\
save segment {chain}
  summarise key=[g#11 := #2] [__n#9:BIGINT! := count(), count1#10:BIGINT! := count(#3 where (#3 > 0))]
    add [k#1:INT, g#2:STRING, v#3:INT, k#4:INT]
      join_bags on (#1 = #4)
        read_changes l [k#1:INT, g#2:STRING, v#3:INT]
        read_snapshot r after [k#4:INT]
      join_bags on (#1 = #4)
        read_snapshot l before [k#1:INT, g#2:STRING, v#3:INT]
        read_changes r [k#4:INT]
publish segment v
  consolidate
    add [g#2:STRING, n#8:BIGINT!]
      finish count=#9 [g#2 := #11, n#8 := #10]
        combine key=[#11]
          add [g#11:STRING, __n#9:BIGINT!, count1#10:BIGINT!]
            %1 = touched key=[#11 <=> #11]
              read_state {chain} [g#11:STRING, __n#9:BIGINT!, count1#10:BIGINT!]
              read_saved {chain} [g#11:STRING, __n#9:BIGINT!, count1#10:BIGINT!]
            read_saved {chain} [g#11:STRING, __n#9:BIGINT!, count1#10:BIGINT!]
      negate
        finish count=#9 [g#2 := #11, n#8 := #10]
          combine key=[#11]
            %1
"""
    )


def test_a_query_over_states_is_written_with_its_inputs() -> None:
    relation = from_text(LARGEST + "".join(f"  {line}\n" for line in SUMS.splitlines()))
    text = program_text(rebuild("v", Maintainability(relation)))
    assert "publish base v\n  evaluate\n    aggregate key=[] [largest#9 := max(#10)]\n" in text
    assert "    input input0\n" in text


def test_a_batch_names_its_view() -> None:
    relation = from_text(SUMS)
    assert program_text(batch("v", relation.columns)) == (
        "publish base v\n  batch v [g#2:STRING, n#8:BIGINT!]\n"
    )

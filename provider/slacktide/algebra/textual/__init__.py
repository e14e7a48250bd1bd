"""Relations as text: one line per node, inputs below and further to the right.

The text is complete: reading it gives a relation of the same digest. What goes without saying is
left out: the type of a reference is that of its column, and the type of a common call follows
from its arguments. ``!`` behind a type says that NULL cannot stand there. ::

    aggregate key=[flag#3 := #17] [quantity#5 := sum(#9)]
      filter (#12 <= DATE '1998-09-02')
        scan lineitem [l_quantity#9:DECIMAL(15,2)!, l_shipdate#12:DATE, l_returnflag#17:STRING]

The number of inputs follows from the node, so that indentation is for people alone; it ends at
forty levels. A relation that is read twice has a label, ``%1 = filter …``, and is ``%1`` the
second time. The queries of scalar subqueries, ``query(1)``, stand behind the inputs.
"""

from __future__ import annotations

from slacktide.algebra.textual.reading import from_text
from slacktide.algebra.textual.writing import to_text

__all__ = ["from_text", "to_text"]

"""The budget that outlives the process: the only mutable thing in the house, in a store.

Life of an entry: reserve (durable) -> draw -> commit the values (durable) -> reveal.

Recovery rule, for a process that dies on the way:

* Reserved, not committed: the entry stays charged. It may be drawn once more under the same id,
  with the same request, source and curve, at no further cost: the first draw was never revealed,
  because values are revealed only after commit. The second draw is recorded before it is made;
  a third is refused, the entry stays charged, and the question needs a new id.
* Committed: the stored values are returned, free, as often as asked.
* Steps of a training are charged as an allowance (`Ledger.allow`) and taken from it, durably,
  before the first of them is run. Taken, not committed: they are consumed, unless nothing of them
  left the process; then they may be run once more. Committed: the stored checkpoint is returned.
* The same id with another request, source or curve is refused.
* Two at the same id: they take turns (`Ledger.turn`), and the second finds the stored values.
  Where they do not, the first commit is stored, and the loser is handed the winner's values. Its
  own draw is thrown away unrevealed.

No connection outlives a public call, and a process makes one call at a time and forks between
calls only, so threads, forks and kills need no care from the caller. A store guards against
accidents, not against its owner: whoever can write it can replace it.
"""

from neyman.ledger._access import inspect
from neyman.ledger._allowance import Allowance, Take
from neyman.ledger._ledger import Ledger
from neyman.ledger._opening import store_of
from neyman.ledger._price import Price
from neyman.ledger._records import Entry, Groups, Reservation
from neyman.ledger._stock import Steps, Stock
from neyman.ledger._store import Store

__all__ = [
    "Allowance",
    "Entry",
    "Groups",
    "Ledger",
    "Price",
    "Reservation",
    "Steps",
    "Stock",
    "Store",
    "Take",
    "inspect",
    "store_of",
]

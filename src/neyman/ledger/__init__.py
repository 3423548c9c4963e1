"""The budget that outlives the process, in a durable store.

An entry passes through these steps: reserve (durable), draw, commit the values (durable), reveal.
If a process dies between them, these rules apply:

* Reserved, not committed: the entry stays charged. It may be drawn once more under the same id,
  with the same request, source and curve, at no further cost. The first draw was never revealed,
  because values are revealed only after commit. The second draw is recorded before it is made. A
  third draw is refused; the entry stays charged, and the question needs a new id.
* Committed: the stored values are returned, at no cost, as often as needed.
* Steps of a training are charged as an allowance (`Ledger.allow`). They are taken from it, durably,
  before the first of them is run. Taken, not committed: they are consumed, unless nothing of them
  left the process; then they may be run once more. Committed: the stored checkpoint is returned.
* The same id with another request, source or curve is refused.
* Two processes at the same id wait for each other (`Ledger.turn`), and the second finds the stored
  values. If they do not wait, the first commit is stored, and the other process gets its values.
  Its own draw is thrown away without being revealed.

No connection outlives a public call, and a process makes one call at a time and forks only between
calls. So the caller need not think of threads, forks and kills. A store guards against accidents,
not against its owner: anyone who can write to it can replace it.
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

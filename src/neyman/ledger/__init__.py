"""A privacy budget in a durable store, which outlives the process.

An entry passes through these steps: reserve (durable), draw, commit the values (durable), reveal.
If a process dies between them, these rules apply:

* If an entry is reserved but not committed, it stays charged. You may draw it once more under the
  same id, with the same request, source and curve, at no further cost. The first draw was never
  revealed, because values are revealed only after commit. The second draw is recorded before it is
  made. A third draw is refused: the entry stays charged, and the question needs a new id.
* If an entry is committed, the stored values are returned, at no cost, as often as needed.
* Steps of a training are charged as an allowance (`Ledger.allow`). They are taken from it, durably,
  before the first of them runs. If they are taken but not committed, they are consumed, unless
  nothing of them left the process; then they may run once more. If they are committed, the stored
  checkpoint is returned.
* The same id with another request, source or curve is refused.
* Two processes with the same id wait for each other (`Ledger.turn`), and the second finds the
  stored values. If they do not wait, the first commit is stored, and the other process gets its
  values. The other process discards its own draw without revealing it.

No connection outlives a public call. A process makes one call at a time and forks only between
calls. So the caller need not think of threads, forks and kills. A store protects against accidents,
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

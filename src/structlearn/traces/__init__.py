"""Traces: the steps of the library's algorithms, as plain data and JSON.

    from structlearn import traces

    trace = traces.viterbi(label=U, transition=T)
    trace.steps[5]       # {"kind": "fill", "node": ["alpha", 1, 2], "value": 12.7, "options": …}
    trace.answer, trace.value
    trace.to_json()

Traces are written by the library's own algorithms. Dynamic programs (Viterbi, forward–backward,
CKY, Eisner, messages on trees, k-best) come from the hyperedge engine; Chu-Liu/Edmonds, minimum
cuts and branch and bound report to a watcher, which costs nothing if there is none; learners report
to their callbacks. The tests replay each trace to the answer of ``argmax`` or ``fit``.
"""

from .chains import beam_search, chain_kbest, forward_backward, viterbi
from .constrained import constrained_search
from .graphs import branch_and_bound, loopy_messages, minimum_cut, tree_messages
from .learning import cutting_planes, dual_ascent, online_steps
from .parsing import chu_liu_edmonds, cky, eisner
from .trace import Trace

__all__ = [
    "Trace",
    "beam_search",
    "branch_and_bound",
    "chain_kbest",
    "chu_liu_edmonds",
    "cky",
    "constrained_search",
    "cutting_planes",
    "dual_ascent",
    "eisner",
    "forward_backward",
    "loopy_messages",
    "minimum_cut",
    "online_steps",
    "tree_messages",
    "viterbi",
]

"""The rules of the treebank grammar: data only; each rule carries its head and relations.

A rule line reads ``weight LHS -> child child ...``, where the head child is starred and every
other child names its relation to the head after a colon::

    28  VP.core.@f -> *v.tr.@f NP.obj:obj

Symbols with an upper-case initial are phrases; the part before the first dot is the label that
the tree shows, the rest are features. Lower-case symbols are categories of the lexicon. A rule
with one phrasal child passes through: it leaves no node, so that no two constituents of a tree
cover the same words.

Variables make one line stand for several: ``@f`` runs over the verb forms (or those listed after
``;``), ``@c`` over the noun classes, ``@n`` over the numbers. A line with both ``@n`` and ``@f``
runs over the pairs that agree.

Heads are lexical, in the manner of Universal Dependencies: a preposition depends on its noun, an
auxiliary or copula on what it introduces, and the first conjunct heads a coordination (whose
conjunction depends on it too).
"""

from __future__ import annotations

SENTENCES = """
50   S.top -> NP.subj.@n:nsubj *VP.@f stop:punct
5    S.top -> PP.front:obl comma:punct NP.subj.@n:nsubj *VP.@f stop:punct
2.5  S.top -> PP.front:obl NP.subj.@n:nsubj *VP.@f stop:punct
4    S.top -> ADVP.front:advmod NP.subj.@n:nsubj *VP.@f stop:punct
4    S.top -> SBAR.adv:advcl comma:punct NP.subj.@n:nsubj *VP.@f stop:punct
6    S.top -> *S.fin cc.clause:cc S.fin:conj stop:punct
3    S.top -> *S.fin comma:punct cc.clause:cc S.fin:conj stop:punct
3    S.top -> *VP.bare stop:punct
0.4  S.top -> *VP.calm stop:punct
1.5  S.top -> VP.gerund:csubj *VP.pred.z stop:punct
2.5  S.top -> do.@f:aux NP.subj.@n:nsubj *VP.bare ask:punct
1.5  S.top -> be.@f:aux NP.subj.@n:nsubj *VP.g ask:punct
1.5  S.top -> be.@f:cop NP.subj.@n:nsubj *ADJP.pred ask:punct
0.6  S.top -> md:aux NP.subj.sg:nsubj *VP.b ask:punct
0.6  S.top -> md:aux NP.subj.pl:nsubj *VP.b ask:punct
1.5  S.top -> NP.ask:nsubj *VP.z ask:punct
1    S.top -> NP.ask:nsubj *VP.d ask:punct
1    S.fin -> NP.subj.@n:nsubj *VP.@f
1    S.gap -> NP.subj.@n:nsubj *VP.gap.@f
1    NP.ask -> *wh.ask
1    NP.rel -> *wh.rel
1    SBAR.that -> that:mark *S.fin
1    SBAR.if -> if:mark *S.fin
1    SBAR.adv -> sub:mark *S.fin
"""

VERB_PHRASES = """
52   VP.@f -> VP.core.@f
16   VP.@f -> *VP.core.@f PP.verb:obl
2    VP.@f -> *VP.core.@f PP.verb:obl PP.time:obl
5    VP.@f -> *VP.core.@f ADVP.manner:advmod
4    VP.@f -> ADVP.frequency:advmod *VP.core.@f
3    VP.@f -> *VP.core.@f SBAR.adv:advcl
4    VP.@f -> *VP.core.@f cc:cc VP.core.@f:conj
9    VP.@f -> md:aux *VP.b ; z p m
4    VP.@f -> md:aux *VP.b ; d w
2    VP.@f -> md:aux not:advmod *VP.b ; z p m d w
2    VP.@f -> md:aux ADVP.frequency:advmod *VP.b ; z p m d w
3.5  VP.@f -> do.@f:aux not:advmod *VP.bare ; z p m d w
6    VP.@f -> be.@f:aux *VP.g ; z p m d w
1    VP.@f -> be.@f:aux not:advmod *VP.g ; z p m d w
1.5  VP.@f -> be.@f:aux *VP.g ; b n
5    VP.@f -> have.@f:aux *VP.n ; z p m d w
1    VP.@f -> have.@f:aux ADVP.frequency:advmod *VP.n ; z p m d w
1.5  VP.@f -> have.@f:aux *VP.n ; b
5    VP.@f -> be.@f:aux *VP.pass ; z p m d w
3    VP.@f -> be.@f:aux *VP.pass ; b n g
4    VP.@f -> be.@f:cop *ADJP.pred ; b n
7    VP.bare -> VP.core.b
2    VP.bare -> *VP.core.b PP.verb:obl
1    VP.bare -> *VP.core.b ADVP.manner:advmod
1    VP.calm -> be.b:cop *ADJP.pred

17   VP.core.@f -> *v.intr.@f
30   VP.core.@f -> *v.tr.@f NP.obj:obj
4    VP.core.@f -> *v.dit.@f NP.obj.anim:iobj NP.obj.thing:obj
2    VP.core.@f -> *v.dit.@f NP.obj.thing:obj PP.to.anim:obl
4    VP.core.@f -> *v.say.@f SBAR.that:ccomp
3    VP.core.@f -> *v.say.@f S.fin:ccomp
1    VP.core.@f -> *v.say.@f SBAR.if:ccomp ; b
6    VP.core.@f -> *v.want.@f VP.inf:xcomp
2    VP.core.@f -> *v.begin.@f VP.gerund:xcomp ; z p m d w b n
3    VP.core.@f -> *v.link.@f ADJP.pred:xcomp
2    VP.core.@f -> *v.perceive.@f NP.obj.anim:obj VP.bare:xcomp
1.5  VP.core.@f -> *v.perceive.@f NP.obj.anim:obj VP.g:xcomp
3    VP.core.@f -> *v.at.@f PP.at:obl
2    VP.core.@f -> *v.to.@f PP.to.place:obl
3    VP.core.@f -> *v.on.@f PP.on:obl
3    VP.core.@f -> *v.for.@f PP.for:obl
3    VP.core.@f -> *v.particle.@f PRT:advmod NP.obj:obj
2    VP.core.@f -> *v.particle.@f NP.obj:obj PRT:advmod
2    VP.core.@f -> *v.rise.@f PRT:advmod
12   VP.core.@f -> VP.pred.@f ; z p m d w

9    VP.pred.@f -> be.@f:cop *ADJP.pred ; z p m d w
1.5  VP.pred.@f -> be.@f:cop not:advmod *ADJP.pred ; z p m d w
4    VP.pred.@f -> be.@f:cop *NP.pred ; z m d
3    VP.pred.@f -> be.@f:cop *NP.full.pl.anim ; p w
3    VP.pred.@f -> be.@f:cop *PP.place ; z p m d w

1    VP.inf -> to:mark *VP.b
2    VP.gerund -> *v.tr.g NP.obj:obj
1    VP.gerund -> *v.intr.g
1    VP.gerund -> *v.intr.g PP.verb:obl
1    VP.gerund -> *v.to.g PP.to.place:obl
5    VP.pass -> *v.tr.n
4    VP.pass -> *v.tr.n PP.by:obl
3    VP.pass -> *v.tr.n PP.verb:obl
1    VP.pass -> *v.particle.n PRT:advmod
7    VP.gap.@f -> *v.tr.@f
1    VP.gap.@f -> *v.tr.@f PP.place:obl
1    VP.gap.@f -> *v.for.@f PP.stranded:obl
1    VP.gap.@f -> md:aux *VP.gap.b ; z p m d w
1    VP.gap.@f -> have.@f:aux *VP.gap.n ; z p m d w
1    VP.gap.@f -> be.@f:aux *VP.gap.g ; z p m d w
1    PRT -> *adv.particle
"""

NOUN_PHRASES = """
44   NP.subj.sg -> NP.full.sg.anim
9    NP.subj.sg -> NP.full.sg.thing
4    NP.subj.sg -> NP.full.sg.abs
3    NP.subj.sg -> NP.full.sg.place
5    NP.subj.sg -> NP.mass
16   NP.subj.sg -> *prp.sg
14   NP.subj.sg -> NP.name
3    NP.subj.sg -> *det.alone
1.5  NP.subj.sg -> *NP.known comma:punct NP.base.sg.anim:appos comma:punct
45   NP.subj.pl -> NP.full.pl.anim
10   NP.subj.pl -> NP.full.pl.thing
4    NP.subj.pl -> NP.full.pl.abs
22   NP.subj.pl -> *prp.pl
4    NP.subj.pl -> *NP.name cc:cc NP.name:conj
1    NP.subj.i -> *prp.i
22   NP.obj -> NP.obj.anim
34   NP.obj -> NP.obj.thing
9    NP.obj -> NP.full.@n.abs
5    NP.obj -> NP.full.@n.place
10   NP.obj -> NP.mass
9    NP.obj.anim -> NP.full.@n.anim
6    NP.obj.anim -> *prp.obj
3    NP.obj.anim -> NP.name
10   NP.obj.thing -> NP.full.@n.thing
3    NP.obj.thing -> *prp.obj
8    NP.pred -> NP.full.sg.anim
3    NP.pred -> NP.full.sg.thing
2    NP.pred -> NP.full.sg.abs

72   NP.full.@n.@c -> NP.base.@n.@c
10   NP.full.@n.@c -> *NP.base.@n.@c PP.noun:nmod
2    NP.full.@n.@c -> *NP.base.@n.@c SBAR.rel.@n:acl
2.5  NP.full.@n.@c -> *NP.base.@n.@c SBAR.rel.gap:acl
1.2  NP.full.@n.@c -> *NP.base.@n.@c S.gap:acl
1.2  NP.full.@n.anim -> *NP.base.@n.anim VP.gerund:acl
1.2  NP.full.@n.@c -> *NP.base.@n.@c VP.pass:acl
5    NP.full.pl.@c -> *NP.base.sg.@c cc:cc NP.base.sg.@c:conj
3    NP.full.pl.@c -> *NP.base.pl.@c cc:cc NP.base.pl.@c:conj
1    NP.full.pl.@c -> *NP.base.sg.@c comma:punct NP.base.sg.@c:conj cc:cc NP.base.sg.@c:conj
1    SBAR.rel.@n -> NP.rel:nsubj *VP.@f
1    SBAR.rel.gap -> NP.rel:obj *S.gap

40   NP.base.sg.@c -> det.sg:det *n.@c.sg
18   NP.base.sg.@c -> det.sg:det adj:amod *n.@c.sg
2    NP.base.sg.@c -> det.sg:det adj:amod adj:amod *n.@c.sg
2    NP.base.sg.@c -> det.sg:det ADJP.mod:amod *n.@c.sg
1.2  NP.base.sg.@c -> det.sg:det adj.nation:amod *n.@c.sg
10   NP.base.sg.@c -> poss:poss *n.@c.sg
4    NP.base.sg.@c -> poss:poss adj:amod *n.@c.sg
3    NP.base.sg.@c -> det.sg:det n.thing.sg:compound *n.@c.sg
1.5  NP.base.sg.@c -> det.sg:det n.mass:compound *n.@c.sg
9    NP.base.pl.@c -> *n.@c.pl
6    NP.base.pl.@c -> adj:amod *n.@c.pl
16   NP.base.pl.@c -> det.pl:det *n.@c.pl
8    NP.base.pl.@c -> det.pl:det adj:amod *n.@c.pl
6    NP.base.pl.@c -> num:nummod *n.@c.pl
2    NP.base.pl.@c -> det.pl:det num:nummod *n.@c.pl
2    NP.base.pl.@c -> num:nummod adj:amod *n.@c.pl
5    NP.base.pl.@c -> poss:poss *n.@c.pl
2    NP.base.pl.@c -> poss:poss adj:amod *n.@c.pl
1    NP.base.pl.@c -> adj.nation:amod *n.@c.pl
2    NP.base.pl.@c -> n.thing.sg:compound *n.@c.pl
10   NP.mass -> *n.mass
4    NP.mass -> adj:amod *n.mass
5    NP.mass -> det.mass:det *n.mass
3    NP.mass -> poss:poss *n.mass
1    NP.mass -> *NP.stuff cc:cc NP.stuff:conj
1    NP.stuff -> *n.mass
10   NP.name -> *name.person
3    NP.name -> name.person:compound *name.family
1    NP.known -> *name.person
"""

MODIFIERS = """
12   PP.noun -> p.of:case *NP.obj
9    PP.noun -> PP.place
4    PP.noun -> PP.company
4    PP.noun -> p.topic:case *NP.obj
12   PP.verb -> PP.place
6    PP.verb -> PP.company
5    PP.verb -> p.path:case *NP.site
5    PP.verb -> PP.time
3    PP.verb -> p.goal:case *NP.obj
4    PP.front -> PP.time
3    PP.front -> PP.place
4    PP.place -> p.place:case *NP.site
1    PP.company -> p.company:case *NP.obj
1    PP.by -> p.by:case *NP.obj.anim
1    PP.to.anim -> p.to:case *NP.obj.anim
3    PP.to.place -> p.to:case *NP.site
1    PP.to.place -> p.to:case *NP.obj.anim
1    PP.at -> p.at:case *NP.obj
1    PP.on -> p.on:case *NP.obj
1    PP.for -> p.for:case *NP.obj
1    PP.stranded -> *p.for
10   PP.time -> p.time:case *NP.time
1    PP.time -> p.year:case *NP.year
14   NP.site -> NP.full.sg.place
3    NP.site -> NP.full.pl.place
2    NP.site -> NP.full.sg.thing
4    NP.site -> *name.place
7    NP.time -> det.time:det *n.time.sg
2    NP.time -> det.time:det adj:amod *n.time.sg
1    NP.time -> num:nummod *n.time.pl
1    NP.year -> *num.year
12   ADJP.pred -> *adj
4    ADJP.pred -> adv.degree:advmod *adj
2    ADJP.pred -> *adj.of PP.of:obl
2    ADJP.pred -> *adj.to VP.inf:xcomp
1    ADJP.pred -> *adj cc:cc adj:conj
1    ADJP.mod -> adv.degree:advmod *adj
1    PP.of -> p.of:case *NP.obj
6    ADVP.manner -> *adv.manner
1    ADVP.manner -> adv.degree:advmod *adv.manner
1    ADVP.frequency -> *adv.frequency
1    ADVP.front -> *adv.sentence
"""

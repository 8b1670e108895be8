"""The word lists of the treebank: data only, each list from frequent to rare.

A word that belongs to several classes is in several lists ("light" in four of them): this is the
source of the treebank's ambiguity. Irregular forms follow a slash:
``base/past/participle`` for verbs, ``singular/plural`` for nouns.
"""

from __future__ import annotations

NOUNS: dict[str, str] = {
    "anim": """man/men woman/women dog child/children cat friend girl boy teacher fish/fish
        doctor horse student king bird cook farmer bear guard fly duck baker hunter judge guide
        sheep/sheep mouse/mice fox queen author patient nurse pilot wolf/wolves witness host
        poet coach neighbour sailor painter clerk native driver singer swallow goose/geese
        deer/deer rabbit bat spy captain lawyer criminal soldier expert engineer uncle aunt
        cousin visitor stranger scholar priest rival champion monkey tiger lion snake frog cow
        pig hen goat ant bee spider whale shark seal parrot crane cricket page mason tailor
        smith porter butler miller""",
    "thing": """book letter door ball table picture box light window chair boat ring paper cup
        stone saw can watch plant drink cut song well play bowl knife/knives match lamp apple
        cake leaf/leaves bag key train ship wheel rose nail hammer coat hat shoe rock tree
        flower basket bottle bell clock coin drum flag gun ladder mirror needle pen pencil pipe
        plate rope sail sign spoon stick sword tool toy wire brush comb lock model stamp track
        trap wave fork cart candle curtain blanket cannon carpet cable engine hook lens map
        medal novel poem rocket saddle shield statue vase violin wagon""",
    "place": """house garden park market village town field river kitchen forest school street
        lake bank ground yard hall station shop farm bridge port square beach hill harbour
        court cellar library church valley island road city castle camp cave corner desert mill
        mine mountain museum office palace path prison room stable tower tunnel wall wood attic
        barn canal cabin factory gallery meadow monastery orchard quarry temple theatre
        vineyard""",
    "abs": """idea story plan question reason dream answer problem secret promise walk talk
        hope look visit call report change fight dance race swim search test study attack start
        end deal move need rule turn try offer demand dispute doubt claim cry laugh smile
        attempt favour fault habit joke journey lesson matter mistake notion point project
        result signal theory threat trick view vote wish""",
    "mass": """water food music sleep bread light milk work love snow help rain fear time trade
        rest trust play hope sugar iron gold paint luck noise silence fishing honey wine
        swimming salt cooking singing dancing sand smoke dust grass hunting heat cold cotton
        painting reading coffee tea rice corn ice fuel glass hay copper silver silk steel straw
        wheat wool anger courage evidence justice knowledge pride research respect traffic
        weather writing talking walking good evil""",
    "time": """day night morning week summer winter evening hour year month spring fall second
        minute autumn season century holiday storm meal war lunch dinner""",
}

VERBS: dict[str, str] = {
    "intr": """sleep/slept/slept laugh walk fish run/ran/run fall/fell/fallen work
        sing/sang/sung swim/swam/swum eat/ate/eaten arrive smile talk play dance rest
        fly/flew/flown cook hunt wait cry dream jump rise/rose/risen change fight/fought/fought
        sail race leave/left/left wander shine grow/grew/grown drift vanish travel march rain
        bark cough disappear float gather hide/hid/hidden hurry kneel/knelt/knelt lie/lay/lain
        listen migrate nod pause plead pray retire roar shiver sigh sit/sat/sat
        stand/stood/stood stumble suffer surrender sneeze swallow tremble weep/wept/wept
        whistle yawn""",
    "tr": """see/saw/seen find/found/found eat/ate/eaten love catch/caught/caught follow like
        watch take/took/taken help make/made/made hear/heard/heard hold/held/held
        break/broke/broken carry steal/stole/stolen lose/lost/lost chase cut/cut/cut cook hunt
        read/read/read leave/left/left hit/hit/hit book light/lit/lit plant guard paint fear
        open close clean visit answer call study lead/led/led feel/felt/felt question
        hide/hid/hidden drop plan report trust judge guide water trade box nurse host coach
        warm cool dry empty change fight/fought/fought attack search test move need push pull
        praise admire believe blame build/built/built bury burn buy/bought/bought cover damage
        defend deliver destroy dispute draw/drew/drawn drink/drank/drunk drive/drove/driven
        enjoy examine fill freeze/froze/frozen gather greet hammer harm hate ignore invite kick
        kiss lock mark mend miss nail notice offer obey order pay/paid/paid photograph polish
        protect punish raise ride/rode/ridden ring/rang/rung rob sell/sold/sold share
        shut/shut/shut sign stamp stop sweep/swept/swept swallow teach/taught/taught tie touch
        track train trap turn understand/understood/understood use wash wear/wore/worn
        win/won/won wound wrap write/wrote/written""",
    "dit": """give/gave/given show/showed/shown send/sent/sent offer tell/told/told
        bring/brought/brought sell/sold/sold teach/taught/taught lend/lent/lent pay/paid/paid
        read/read/read hand write/wrote/written promise""",
    "say": """say/said/said think/thought/thought know/knew/known believe hope see/saw/seen
        dream fear hear/heard/heard claim feel/felt/felt report promise doubt notice explain
        understand/understood/understood argue deny guess admit""",
    "want": """want try hope need like plan promise love start refuse learn decide hate manage
        agree fail offer threaten expect demand""",
    "begin": """start stop keep/kept/kept like love enjoy hate finish avoid begin/began/begun
        practise""",
    "link": """seem look feel/felt/felt become/became/become grow/grew/grown turn remain appear
        smell taste sound""",
    "perceive": "see/saw/seen hear/heard/heard watch notice feel/felt/felt",
    "at": "look laugh shout smile bark stare point yell glance",
    "to": """go/went/gone talk walk run/ran/run speak/spoke/spoken listen move return
        drive/drove/driven fly/flew/flown travel sail hurry write/wrote/written""",
    "on": "depend rely work sit/sat/sat stand/stood/stood sleep/slept/slept insist step live",
    "for": "wait look hope search ask pay/paid/paid call fight/fought/fought care vote",
    "particle": """pick wake/woke/woken look give/gave/given clean dry take/took/taken turn
        put/put/put cut/cut/cut write/wrote/written throw/threw/thrown bring/brought/brought
        shut/shut/shut set/set/set""",
    "rise": """get/got/got wake/woke/woken sit/sat/sat stand/stood/stood run/ran/run
        come/came/come look lie/lay/lain fly/flew/flown settle move slow""",
}

# The forms stand in the order that the lexicon gives to z p m d w b g n.
AUXILIARIES: dict[str, str] = {
    "be": "is are am was were be being been",
    "have": "has have have had had have having had",
    "do": "does do do did did do doing done",
}

ADJECTIVES = """old young small big new good little long happy red quiet strong poor dark light
    tired cold open late fast green early hard wild empty clean sweet calm warm dry slow
    sleeping kind broken high deep lost clever heavy white black blue strange brave rich lazy
    lonely sad closed singing friendly hidden soft loud angry lovely frozen daily patient
    burning proud native smooth rough bright famous secret gentle modern hungry cool narrow
    wide honest evil expert noisy round painted rotten stolen human criminal damaged ancient
    bitter blind bold careful cheap clumsy crude curious dull eager faint fierce flat foolish
    fresh grim humble idle jealous lucky mild neat odd pale plain polite rare ripe rude sharp
    shy silly stern stiff sudden thick thin tiny ugly vast weak weary wicked wise worthy"""

# No adverb in -ly, or the adverb is another word.
ADJECTIVES_WITHOUT_LY = """old young small big little long good fast hard late early red black
    white blue green new high evil expert native human criminal hungry modern tiny patient wild
    poor"""

# Capitalised, yet no names.
NATIONALITIES = """English French German Italian Spanish Russian Chinese Indian Greek Roman
    Danish Irish Polish Turkish Welsh Egyptian"""

# Adjectives that take "of" and adjectives that take an infinitive.
ADJECTIVES_OF = "afraid full proud tired fond jealous aware sick ashamed"
ADJECTIVES_TO = "ready happy eager free able hard sad likely quick slow"

ADVERBS: dict[str, str] = {
    "manner": """quickly slowly well fast hard quietly late early together sadly badly gladly
        carefully suddenly loudly away home daily long alone outside upstairs""",
    "frequency": "often never always still also just usually soon rarely sometimes already once",
    "degree": "very too so quite rather really pretty fairly almost",
    "sentence": "today yesterday then now however perhaps sometimes later finally soon once",
    "particle": "up down out off over in on away around back",
}

PERSONS = """John Mary Rose Will Anna Mark Peter Grace Tom Lucy Bill Jack Kate Hunter Frank May
    Sam Ruth Paul Alice Oliver Ivy George Clara Daisy Henry Art Bob Pat Emma Rob Faith Martin
    Jane Sue Walter Heather Drew Dawn Victor Helen Arthur Agnes Edmund Judith"""
SURNAMES = """Baker King Brown Fisher Young White Hill Cook Stone Green Walker Hunter Page
    Marsh Bell Wood Fox Shepherd Carter Butler Mason Ford Black Taylor Weaver"""
PLACES = """London Rome Paris Oxford Bath Reading Berlin Norway Chile Turkey China Dover Kent
    Egypt Boston Denver Lisbon Vienna Madrid Geneva Cork Nice"""

NUMBERS = "two three one four five six ten seven eight nine twelve twenty thirty fifty hundred"

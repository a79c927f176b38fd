"""Lists of English words: function words, numbers, names of times, titles, pasts, words that only look inflected."""

from __future__ import annotations

# The lists were compiled by the authors of this project; no published list was copied. STOP holds English function
# words: to replace one (a negation, a quantifier, a preposition) changes what a sentence says, not how.
_STOP = """
a an the this that these those such same other others another each every either neither both all any some no none many
much more most few fewer fewest less least several enough own which what whatever whichever
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves who whom whose whoever one ones oneself
anybody anyone anything everybody everyone everything nobody nothing somebody someone something
about above across after against along alongside amid among around aside at away back before behind below beneath beside
besides between beyond by despite down during except for from in inside into near of off on onto out outside over past
per since through throughout till to toward towards under underneath unlike until up upon via with within without
and or but nor yet so if unless because although though while whereas whether than as like
am is are was were be been being do does did doing done have has had having can could may might must shall should will
would ought cannot able let became become
not never hardly ever always often sometimes again ago almost already also anywhere apart else even everywhere former
further here hence how however indeed instead just last latter maybe moreover nevertheless next now nowhere once only
otherwise perhaps quite rather somewhere still then thence there thereby therefore thus together too very well when
whenever where whereby wherever whole why yes
barely scarcely seldom nay nought nowise albeit lest notwithstanding inasmuch ere oft versus whilst
amidst amongst atop betwixt unto whence whither hither thither
"""
STOP = frozenset(_STOP.split())
_NUMBERS = """
zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion first second
third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth
seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth
hundredth thousandth millionth half halve quarter twice thrice dozen once percent nought nil null
single sole solo double doubly dual duo duet pair couple twin twain twofold triple triply treble trio triad triplet
threefold quadruple quartet quadruplet fourfold quintuple quintet quintuplet fivefold sextet tenfold hundredfold
score decade century millennium millennia
"""
NUMBERS = frozenset(_NUMBERS.split())
_CALENDAR = """
monday tuesday wednesday thursday friday saturday sunday
january february march april june july august september october november december
"""
CALENDAR = frozenset(_CALENDAR.split())
#: Before a name these end with a dot, and no sentence does.
_SHORTENED = "mr mrs ms mx dr prof st sr jr rev hon fr capt col gen lt maj sgt"
SHORTENED = frozenset(_SHORTENED.split())

#: Pasts that do not end in -ed; what they say is past all the same.
_PASTS = """
became began bent bore beheld bound bought bred broke brought built came caught chose chosen clung crept cut dealt did
drawn drew driven drove dug dwelt eaten fallen fed fell felt fled flew flung forbade foresaw forgave forgot forgotten
fought found froze frozen gave given gone got grew grown heard held hid hidden hung hurt kept knelt knew known laid
led left lent let lit lost made meant met mistook overcame overheard overtook paid put ran rang read rode rose said
sang sank sat saw seen sent set shone shook shot showed shown shrank shut slept slid sold sought spent spoke spoken
sprang spread spun stole stolen stood strode strove struck stuck stung sung swam swept swore swung taken taught
thought threw told took tore undertook understood undid upheld upset went wept withdrew withheld withstood woke won
wore worn wound written wrote
"""
PASTS = frozenset(_PASTS.split())
#: Words that end as if inflected and are not.
_BARE = """
bring ceiling cling evening fling king morning ring shilling sing sling spring sting string swing thing wing wring
ally anomaly apply assembly belly bully comply family imply jelly melancholy monopoly multiply rely reply supply bleed
breed creed embed exceed freed greed hatred heed hundred indeed kindred naked proceed sacred speed steed succeed weed
wicked atlas bias canvas chaos christmas cosmos ethos gas lens news perhaps physics politics series species
"""
BARE = frozenset(_BARE.split())

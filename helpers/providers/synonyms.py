"""Groups of interchangeable words, of which simulated vendors prefer each its own: style that shows in single words.

Compiled by the authors of this project from their own knowledge of English; no dictionary or word list was copied. The
four words of a group have one inflection and can stand for each other in statements about a text, though not in every
sentence of the language: a table for simulations and tests, not a thesaurus.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: A group is four words, the plain one first; the lines hold, in this order, verbs (says, said, say, saying),
#: adjectives, adverbs and nouns.
_TABLE = """
shows indicates reveals signals; says states remarks declares; suggests implies conveys insinuates
describes portrays depicts characterises; mentions notes cites references; begins starts commences opens
ends concludes finishes terminates; decides chooses elects resolves; keeps retains preserves conserves
believes thinks reckons feels; explains clarifies elucidates illuminates; proves demonstrates confirms establishes
tries attempts seeks endeavours; needs requires demands necessitates; gives provides offers supplies
gets obtains receives acquires; helps assists aids benefits; supports bolsters reinforces strengthens
uses employs utilises applies; fits suits matches befits; happens occurs transpires unfolds
changes alters shifts transforms; hides conceals masks obscures; admits concedes acknowledges confesses
stresses emphasises underlines highlights; repeats reiterates restates echoes; ignores overlooks disregards neglects
treats regards views perceives; expects anticipates foresees predicts; notices observes detects spots
means signifies denotes betokens; claims asserts contends maintains; tells recounts relates narrates
answers replies responds retorts; speaks talks converses chats; understands grasps comprehends realises
remembers recalls recollects evokes; praises commends lauds applauds; blames faults censures reproaches
warns cautions alerts admonishes; doubts distrusts disputes mistrusts; agrees concurs accords harmonises
depends hinges hangs relies; protects guards shields defends; avoids evades eludes shuns; calls terms labels dubs
surprises startles astonishes amazes; worries bothers disturbs unsettles; assumes presumes supposes surmises
connects links ties joins; contains includes holds comprises; judges evaluates assesses appraises
rejects dismisses spurns repudiates; likes enjoys appreciates relishes; works functions operates performs
causes prompts triggers induces; checks verifies inspects examines; repairs fixes mends restores
punishes penalises chastises disciplines
showed indicated revealed signalled; said stated remarked declared; suggested implied conveyed insinuated
mentioned noted cited referenced; described portrayed depicted characterised; decided chose elected resolved
kept retained preserved conserved; gave provided offered supplied; tried attempted sought endeavoured
needed required demanded necessitated; noticed observed detected spotted; built constructed erected assembled
hidden concealed masked obscured; happened occurred transpired unfolded; changed altered shifted transformed
wrote composed penned drafted; bought purchased procured acquired; helped assisted aided benefited
explained clarified elucidated illuminated; proved demonstrated confirmed established; believed felt reckoned imagined
expected anticipated awaited predicted; ignored overlooked disregarded neglected; caused prompted triggered induced
sent dispatched forwarded transmitted; repaired fixed mended restored; damaged harmed impaired marred
ended concluded finished terminated; blamed faulted censured reproached; praised commended lauded applauded
admitted conceded acknowledged confessed; judged evaluated assessed appraised; checked verified inspected examined
avoided evaded eluded shunned; chosen selected picked favoured; protected guarded shielded defended
frightened scared alarmed terrified; worried bothered disturbed unsettled; tired wearied fatigued drained
understood grasped comprehended realised; punished penalised chastised disciplined
suggest indicate convey insinuate; prove demonstrate confirm establish; explain clarify elucidate illuminate
mean signify denote betoken; change alter shift transform; help assist aid benefit
support bolster reinforce strengthen; ignore overlook disregard neglect; hide conceal mask obscure
avoid evade elude shun; protect guard shield defend; try attempt seek endeavour; repair fix mend restore
begin start commence open; believe think reckon feel; happen occur transpire unfold; admit concede acknowledge confess
choose select pick favour; persuade convince sway coax; build construct erect assemble
understand grasp comprehend realise; expect anticipate foresee predict; buy purchase procure acquire
depend hinge hang rely; check verify inspect examine; punish penalise chastise discipline
showing indicating revealing signalling; trying attempting seeking endeavouring; hiding concealing masking obscuring
keeping retaining preserving conserving; giving providing offering supplying; helping assisting aiding benefiting
avoiding evading eluding shunning; protecting guarding shielding defending; changing altering shifting transforming
repairing fixing mending restoring; choosing selecting picking favouring; checking verifying inspecting examining
buying purchasing procuring acquiring
large big sizable considerable; small tiny minor slight; important significant crucial weighty
main chief principal primary; clear plain patent palpable; obvious evident apparent unmistakable
careful cautious prudent meticulous; quick rapid speedy prompt; final ultimate terminal conclusive
strange peculiar curious bizarre; simple basic straightforward rudimentary; difficult tough tricky troublesome
strong powerful forceful potent; weak feeble flimsy frail; good fine solid decent; sad sorrowful mournful doleful
happy joyful cheerful blissful; brave courageous bold valiant; calm serene placid tranquil
poor needy penniless destitute; true genuine veritable factual; false spurious bogus fictitious
private personal confidential covert; common widespread prevalent frequent; dangerous perilous hazardous risky
precise specific particular definite; ordinary everyday unremarkable unexceptional
separate distinct discrete disjoint; useful helpful beneficial valuable; strict stern severe rigid
polite courteous civil respectful; stubborn headstrong tenacious mulish; foolish daft senseless mindless
clever smart bright shrewd; similar comparable parallel cognate; different dissimilar divergent disparate
steady regular persistent stable; short brief concise terse; practical pragmatic realistic sensible
quiet silent noiseless wordless; vague hazy blurry nebulous; usual customary typical conventional
reliable dependable trustworthy faithful; surprising startling striking staggering
worrying troubling disturbing distressing; angry irate indignant acrimonious
quickly rapidly swiftly promptly; slowly gradually unhurriedly steadily; clearly plainly patently demonstrably
mainly chiefly principally primarily; carefully cautiously prudently meticulously; simply merely purely basically
openly overtly candidly frankly; secretly covertly privately furtively; suddenly abruptly unexpectedly precipitately
finally ultimately eventually belatedly; probably presumably conceivably plausibly; really truly genuinely actually
exactly precisely squarely specifically; completely entirely wholly totally; nearly virtually practically essentially
firmly resolutely staunchly steadfastly; calmly serenely placidly tranquilly; honestly truthfully sincerely earnestly
gladly willingly happily cheerfully; rarely infrequently sporadically exceptionally
usually typically generally customarily; constantly continually perpetually incessantly
strongly powerfully forcefully potently; obviously evidently apparently unmistakably
politely courteously civilly respectfully; deliberately intentionally purposely knowingly
accidentally inadvertently unintentionally unwittingly; especially particularly notably specially
wrongly mistakenly falsely erroneously; rightly justly properly fittingly; briefly concisely tersely succinctly
surely certainly definitely undoubtedly; quietly silently discreetly noiselessly
greatly considerably substantially significantly; slightly marginally modestly mildly
easily effortlessly readily comfortably; angrily furiously crossly indignantly; sadly mournfully sorrowfully ruefully
nervously anxiously uneasily apprehensively; strictly sternly severely rigidly
separately independently individually singly
reason motive ground rationale; cause source root origin; details particulars specifics niceties
passage excerpt extract fragment; mistake blunder slip misstep; idea notion concept thought; sign token hint marker
evidence proof testimony confirmation; story tale narrative chronicle; purpose goal objective aim
fear dread terror fright; anger fury wrath rage; happiness gladness delight contentment; sorrow grief sadness misery
trust confidence belief reliance; duty obligation responsibility burden; courage bravery valour heroism
skill mastery proficiency competence; result outcome consequence upshot; attitude outlook approach mindset
problem difficulty trouble complication; scene episode incident occurrence; comment remark statement pronouncement
wish desire thirst keenness; lesson moral precept sermon; danger peril hazard risk; promise pledge vow guarantee
habit custom practice routine; memory recollection remembrance reminiscence; silence quietness hush stillness
conclusion judgment deduction surmise; explanation account justification clarification
interpretation explication construal exegesis; opinion viewpoint perspective standpoint
kindness generosity benevolence compassion; mood humour temper spirit; contrast disparity divergence discrepancy
clue pointer lead cue; emphasis stress accent focus; respect esteem regard admiration; guilt remorse shame contrition
cost expense outlay expenditure; plan scheme design strategy; effort exertion labour toil
friend companion comrade pal; words expressions phrases formulations; reasons motives rationales grounds
feelings emotions sentiments passions; mistakes blunders slips missteps; actions deeds doings acts
ideas notions concepts thoughts; events incidents episodes occurrences; problems difficulties troubles complications
clues pointers leads cues; friends companions comrades pals; rules regulations guidelines directives
habits customs practices routines; costs expenses outlays expenditures; results outcomes consequences effects
parts sections portions segments; neighbours locals residents inhabitants; trick ruse ploy stratagem
joke jest quip witticism; strangers outsiders newcomers foreigners; noise din racket clamour
advice counsel guidance instruction; place site locale location
"""
GROUPS: tuple[tuple[str, ...], ...] = tuple(
    tuple(group.split()) for line in _TABLE.strip().splitlines() for group in line.split(";")
)

#: Each word with the other words of its group.
SYNONYMS: dict[str, tuple[str, ...]] = {
    word: tuple(other for other in group if other != word) for group in GROUPS for word in group
}

#: The column of the words that a vendor prefers; column 0, the plain words, for vendors that are not named here.
STYLE = {"claude": 1, "gpt": 2, "gemini": 3, "llama": 1, "qwen": 2, "deepseek": 3}

_GROUP_OF = {word: group for group in GROUPS for word in group}
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


def styled(text: str, vendor: str) -> str:
    """How would a vendor word this text? Its plain words of the table in the vendor's column, all else unchanged.

    Whole words only (a hyphen or an apostrophe joins two words into one), in the case in which the plain word stood.

    >>> styled("Clearly the captain decides this. It SHOWS fear.", "gpt")
    'Patently the captain elects this. It REVEALS terror.'
    >>> styled("a well-kept book, kept by the captain's friend", "claude")
    "a well-kept book, retained by the captain's companion"
    >>> styled("He says so.", "nobody")
    'He says so.'
    """

    def reworded(found: re.Match[str]) -> str:
        word = found[0]
        group = _GROUP_OF.get(word.lower(), ())
        if not group or group[0] != word.lower():
            return word
        return _in_case(group[STYLE.get(vendor, 0)], word)

    return _WORD.sub(reworded, text)


@lru_cache(maxsize=4096)
def style_share(text: str, vendor: str) -> float:
    """Which share of a text's words from the table are those that the vendor prefers; 0.0 where it has none of them.

    >>> text = "He says that the plan shows fear."
    >>> style_share(styled(text, "claude"), "claude"), style_share(styled(text, "claude"), "gpt")
    (1.0, 0.0)
    >>> style_share("He states that the plan shows fear.", "claude")
    0.25
    >>> style_share("Nothing of the kind.", "claude")
    0.0
    """
    words = [word for word in _WORD.findall(text.lower()) if word in _GROUP_OF]
    return sum(_GROUP_OF[word][STYLE.get(vendor, 0)] == word for word in words) / len(words) if words else 0.0


def _in_case(word: str, model: str) -> str:
    """The word in the case of another: capitals throughout, a capital first letter, or as it is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word.capitalize() if model[0].isupper() else word

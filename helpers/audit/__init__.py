"""One judge asked a frozen battery of manipulations: which of them move its verdicts, and how sure that is."""

"""The page of `backhaul report` has words for each reason of a wait."""

import re

from tree import PROJECT

WORDS = (PROJECT / "Sources/CBackhaulTables/words.h").read_text()
DATA = (PROJECT / "Sources/CReportPage/page/data.js").read_text()


def test_each_reason_has_words_on_the_page():
    reasons = set(re.findall(r'BHT_VALUE\(bh_reason, \w+, "(\w+)"\)', WORDS)) - {"none"}
    shown = set(re.findall(r'(\w+): "', re.search(r"const REASONS = \{(.*?)\};", DATA, re.DOTALL)[1]))
    assert len(reasons) > 20 and shown == reasons

"""The page of our own results: every figure, word and picture of it made from `results/`.

What is read (`gather`) becomes tables (`tables`), sentences (`words`) and pictures (`pictures`),
and these the page (`page`). The same data give the same page, letter by letter.
"""

from olive_iw.reports.evidence.gather import Evidence as Evidence
from olive_iw.reports.evidence.gather import read_evidence as read_evidence
from olive_iw.reports.evidence.page import IMAGES as IMAGES
from olive_iw.reports.evidence.page import page_text as page_text
from olive_iw.reports.evidence.page import write_evidence as write_evidence

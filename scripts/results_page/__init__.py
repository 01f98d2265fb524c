"""The pages of our own results: every figure, word and picture of them made from `results/`.

Finished runs are copied there (`copies`). What is read (`gather`) is measured (`measures`) and
becomes tables (`tables`), sentences (`words`), pictures (`pictures`) and files of numbers
(`numbers`); these become the pages (`pages`). The same data give the same pages, letter by letter.
"""

from results_page.gather import Evidence as Evidence
from results_page.gather import read_evidence as read_evidence
from results_page.pages import IMAGES as IMAGES
from results_page.pages import page_texts as page_texts
from results_page.pages import write_pages as write_pages

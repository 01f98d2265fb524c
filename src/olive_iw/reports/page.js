"use strict";
// Sort a table by a column: numbers by data-sort, words by their text; missing cells stay last.
for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const table = head.closest("table");
    const body = table.tBodies[0];
    const index = [...head.parentElement.children].indexOf(head);
    const isNumber = head.classList.contains("number");
    const descending = isNumber
      ? head.getAttribute("aria-sort") !== "descending"
      : head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const key = (row) => {
      const cell = row.children[index];
      if (!isNumber) return cell.textContent;
      return cell.dataset.sort === undefined ? null : Number(cell.dataset.sort);
    };
    const order = (one, two) => {
      const [a, b] = [key(one), key(two)];
      if (a === null || b === null) return (a === null) - (b === null);
      const sign = descending ? -1 : 1;
      return sign * (isNumber ? a - b : a.localeCompare(b));
    };
    body.append(...[...body.rows].sort(order));
  });
}

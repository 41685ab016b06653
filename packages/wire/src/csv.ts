/** Characters that a spreadsheet interprets as the beginning of a formula, or skips before it. */
const formula = /^[=+\-@\t\r]/

/** Lines of cells as CSV (RFC 4180). A text that a spreadsheet would calculate gets an apostrophe before it. Null is empty. */
export const csvOf = (lines: readonly (readonly (string | number | null)[])[]): string =>
  lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')

function cellOf(cell: string | number | null): string {
  if (typeof cell !== 'string') return String(cell ?? '')
  const text = formula.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

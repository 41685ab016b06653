/** Tables for spreadsheets, made in the browser. */

type Cell = string | number

/** What a spreadsheet takes for the begin of a formula, or skips before it. */
const formula = /^[=+\-@\t\r]/

/** Lines of cells as CSV (RFC 4180). A text that a spreadsheet would calculate gets an apostrophe before it. */
export const csvOf = (lines: readonly (readonly Cell[])[]): string =>
  lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')

function cellOf(cell: Cell): string {
  if (typeof cell === 'number') return String(cell)
  const text = formula.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Has the browser save a text as a file. */
export function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

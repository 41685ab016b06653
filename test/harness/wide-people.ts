/** A file of people with 60 columns, some rows of which are faulty in known ways. */

const named = [
  'Kunden-Nr.',
  'Vorname',
  'Nachname',
  'E-Mail',
  'Mobil',
  'PLZ',
  'Ort',
  'Land',
  'Geburtsdatum',
  'Registriert am',
  'Letzter Kauf',
  'Anzahl Käufe',
  'Ø Warenkorb',
  'Rabatt %',
  'Kundengruppe',
  'Umsatz gesamt (€)',
]
/** Its columns, in their order. */
export const wideColumns: readonly string[] = [
  ...named,
  ...Array.from({ length: 59 - named.length }, (_, i) => `Merkmal ${i + 1}`),
  'Notiz',
]

/** Values of the column Umsatz that are not numbers, by their row. */
export const wideFaults: ReadonlyMap<number, string> = new Map([
  [20, 'k.A.'],
  [31, 'k.A.'],
  [46, '–'],
  [63, 'k.A.'],
  [87, 'auf Anfrage'],
  [113, 'k.A.'],
  [133, 'k.A.'],
])
/** Rows with 40 and with 62 values. */
export const shortRows: readonly number[] = [34, 82, 95, 126]
export const longRows: readonly number[] = [26, 51, 115]

/** @param rows the number of rows; the faulty rows are among the first 140 */
export function wideFile(rows = 150): string {
  const lines = Array.from({ length: rows }, (_, i) => {
    const row = i + 1
    const values = wideColumns.map((column, at) => {
      switch (column) {
        case 'Kunden-Nr.':
          return String(100_000 + row)
        case 'E-Mail':
          return `person${row}@example.com`
        case 'Umsatz gesamt (€)':
          return wideFaults.get(row) ?? `${1000 + row}.50`
        default:
          return at < named.length ? `${column} ${row}` : `${row % 7}`
      }
    })
    if (shortRows.includes(row)) return values.slice(0, 40).join(';')
    if (longRows.includes(row)) return [...values, 'x', 'y'].join(';')
    return values.join(';')
  })
  return `${wideColumns.join(';')}\n${lines.join('\n')}\n`
}

/** Sixty columns as a shop exports them, each with the values of three records. */
export const awkward: Readonly<Record<string, readonly [string, string, string]>> = {
  'Kundennr.': ['100482', '100483', '100484'],
  Anrede: ['Frau', 'Herr', 'Divers'],
  Titel: ['Dr.', '', ''],
  Vorname: ['Mila', 'Jörg-Peter', 'Ada'],
  Nachname: ['Brandt', 'von Hagen', 'Lovelace'],
  'E-Mail Address': ['Mila.Brandt@Example.com', ' jonas.h@example.org', 'none'],
  'E-Mail Address (2)': ['', 'info@example.com', ''],
  'Rechnungs-E-Mail': ['buchhaltung@example.com', '', ''],
  Handynummer: ['+43 664 5550134', '0171 5550123', ''],
  'Telefon (gesch.)': ['+49 341 5550', '', ''],
  Firma: ['', 'Bergverein e.V.', ''],
  'Straße + Hausnr.': ['Lindenweg 4', 'Am Markt 1', ''],
  Adresszusatz: ['c/o Brandt', '', ''],
  PLZ: ['04109', '4109', '1010'],
  Ort: ['Leipzig', 'München', 'Wien'],
  'Bundesland/Province': ['Sachsen', 'Bayern', ''],
  'Country/Region': ['Deutschland', 'Holland', 'Österreich'],
  'Liefer-PLZ': ['1010', '', ''],
  'Liefer-Ort': ['Wien', '', ''],
  Lieferland: ['AT', 'DE', ''],
  Sprache: ['de', 'fr', 'de'],
  Währung: ['EUR', 'CHF', 'Franken'],
  Geburtsdatum: ['23.07.1991', '03/04/1988', ''],
  Geschlecht: ['f', 'm', 'Divers'],
  'Erste Bestellung': ['03.05.2021', '01.02.2022', ''],
  Bestelldatum: ['22.11.2026 10:00', '21.11.2026 09:30', '20.11.2026 08:00'],
  'Bestellnr.': ['A-10482', 'A-10483', 'A-10484'],
  'Anzahl Bestellungen': ['3', '1', '12'],
  'Ø Warenkorb (EUR)': ['48,20', '59,90', ''],
  'order total €': ['1.001,50', '59,90', 'auf Anfrage'],
  'Retourenquote %': ['12,5', '0', ''],
  'Newsletter?': ['ja', 'nein', ''],
  'Opt-in Datum': ['14.03.2025 09:12', '', ''],
  'Double-Opt-In': ['x', '', ''],
  Werbesperre: ['nein', 'ja', 'nein'],
  'Opt-in IP': ['203.0.113.24', '', ''],
  'Quelle / utm_source': ['newsletter', '', ''],
  gclid: ['Cj0KCQ', '', ''],
  fbclid: ['IwAR2x', '', ''],
}
for (let n = Object.keys(awkward).length; n < 60; n++)
  Object.assign(awkward, { [`Merkmal ${n}`]: [`wert ${n}`, '', ''] })

const quoted = (cells: readonly string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')
/** Three records or more as CSV, each value in quotes. @param columns the values of each column, by its name */
export const csvOf = (columns: Readonly<Record<string, readonly string[]>>) => {
  const lists = Object.values(columns)
  const records = Array.from({ length: Math.max(3, ...lists.map(({ length }) => length)) }, (_, at) =>
    lists.map((values) => values[at] ?? ''),
  )
  return [Object.keys(columns), ...records].map(quoted).join('\n')
}

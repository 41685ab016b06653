/** The texts about corrected rejected records, and about the store that gets rejected records. */
export const rejectEdits = {
  edit: 'Correct the values',
  title: (row: number | null) => (row === null ? 'Correct the record' : `Correct record ${row}`),
  help: 'A replay sends these values. The original ones are kept beside them. To take a correction back, enter the value that was read.',
  was: (value: string | null) => `Read as ${value === null ? 'no value' : value === '' ? 'an empty text' : value}`,
  shortened: 'This value is too long to be corrected here. Use the API.',
  saved: 'The values were corrected. Replay the rejected records to send them.',
  restored: 'The record has the values that were read.',
  corrected: 'Corrected',
  state: 'Replay',
  structural: 'Needs a correction',
  structuralHelp:
    'The source could not read this record. Check every value before you save: the record is then sent with these values.',
  superseded: 'Superseded by newer data',
  keep: 'Keep in a store',
  kept: 'Kept by',
  nameOf: (name: string) => `Rejected records of ${name}`,
} as const

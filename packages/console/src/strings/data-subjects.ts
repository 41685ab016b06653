/** The texts of the search for one person. */
export const dataSubjects = {
  title: 'Find one person',
  help: 'Searches the rejected records that are kept. Accepted records are not kept. Each search is in the audit log, without the values.',
  values: 'Values of the person',
  valuesHelp: (n: number) =>
    `One a line, at most ${n}. Also found: the same telephone number in another form, and SHA-256 and MD5 digests.`,
  tooShort: (n: number) =>
    `Each line needs at least ${n} characters: shorter texts are found in records of other people.`,
  tooMany: (n: number) => `Enter at most ${n} lines.`,
  missing: 'Enter at least one value.',
  find: 'Find',
  searching: (n: string) => `${n} records searched…`,
  stop: 'Stop',
  none: 'Nothing is kept of this person',
  noneHelp: (n: string) => `${n} kept records were searched.`,
  found: (n: number, shown: string, searched: string) =>
    n === 1 ? `1 record found, of ${searched} kept records` : `${shown} records found, of ${searched} kept records`,
  notKept: (n: string) => `Of ${n} of these, only the kind and length of each value are kept.`,
  results: 'Records of the person',
  transfer: 'Transfer',
  reason: 'Why it was rejected',
  record: 'Record',
  rowOf: (row: string) => `row ${row}`,
  erase: 'Erase',
  eraseTitle: 'Erase this person?',
  eraseHelp:
    'The values and reasons of all rejected records of this person are erased permanently. The records stay counted, and cannot be sent again. The audit log has an event that names no one.',
  eraseElsewhere: 'What was delivered has to be erased at the destinations. Uploaded files are deleted as a whole.',
  erased: (n: number, shown: string) => (n === 1 ? '1 record was erased' : `${shown} records were erased`),
  again: (n: string) =>
    `${n} transfers are active, which can reject a record of this person again. Erase again once they have ended.`,
}

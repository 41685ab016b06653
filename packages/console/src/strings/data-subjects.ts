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
  rejectedAt: 'Rejected',
  deliveredAt: 'Resent and accepted',
  elsewhere: 'Where else to look',
  accepted: 'Accepted rows',
  acceptedHelp: 'They are not kept, so this search cannot find them. Look for the person at the destinations.',
  rejected: 'Rejected rows',
  rejectedHelp: (days: number) => `They are kept for ${days === 1 ? '1 day' : `${days} days`}, and are listed above.`,
  files: 'Uploaded files',
  noFiles: 'No uploaded file is kept.',
  filesHelp: (n: number, shown: string) =>
    n === 1
      ? '1 file is kept, and is not searched. It is deleted'
      : `${shown} files are kept, and are not searched. The last one is deleted`,
  showFiles: 'Show the files',
  users: 'People who sign in',
  noUsers: 'Nobody of this organization has one of these e-mail addresses.',
  userEvents: 'show their audit log',
  backups: 'Backups of the database',
  backupsHelp: 'They contain the rejected rows and files that were kept when they were made. Ask your operator.',
  erase: 'Erase',
  eraseTitle: 'Erase this person?',
  eraseHelp:
    'The values and reasons of all rejected records of this person are erased permanently. The records stay counted, and cannot be sent again. The audit log has an event that names no one.',
  eraseElsewhere: 'What was delivered has to be erased at the destinations. Uploaded files are deleted as a whole.',
  erased: (n: number, shown: string) => (n === 1 ? '1 record was erased' : `${shown} records were erased`),
  again: (n: string) =>
    `${n} transfers are active, which can reject a record of this person again. Erase again once they have ended.`,
}

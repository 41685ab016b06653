/** The texts of the search for one person. */
export const dataSubjects = {
  title: 'Find one person',
  help: 'Searches rejected records, events of streams and outcomes of rows. Accepted records are not kept. Each search is in the audit log, without the values.',
  values: 'Values of the person',
  valuesHelp: (n: number) =>
    `One per line, at most ${n}. The search also finds phone numbers in other formats, and SHA-256 and MD5 hashes.`,
  tooShort: (n: number) =>
    `Each line needs at least ${n} characters, because shorter texts also match records of other people.`,
  tooMany: (n: number) => `Enter at most ${n} lines.`,
  missing: 'Enter at least one value.',
  find: 'Find',
  searching: (n: string) => `${n} records searched…`,
  stop: 'Stop',
  none: 'Nothing is kept about this person',
  noneHelp: (n: string) => `${n} kept records were searched.`,
  found: (n: number, shown: string, searched: string) =>
    n === 1 ? `1 record found, of ${searched} kept records` : `${shown} records found, of ${searched} kept records`,
  notKept: (n: string) => `Of ${n} of these records, only the type and length of each value are kept.`,
  results: 'Records of the person',
  transfer: 'Transfer',
  reason: 'Why it was rejected',
  record: 'Record',
  events: 'Events and outcomes of the person',
  stream: 'Stream',
  event: 'Event',
  receivedAt: 'Stored',
  eventOf: (number: string) => `number ${number}`,
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
      ? '1 file is kept but not searched. It is deleted'
      : `${shown} files are kept but not searched. The last one is deleted`,
  showFiles: 'Show the files',
  users: 'People who sign in',
  noUsers: 'No one in this organization has one of these e-mail addresses.',
  userEvents: 'show their audit log',
  backups: 'Backups of the database',
  backupsHelp: 'They contain the rejected rows and files that were kept at the time of the backup. Ask your operator.',
  erase: 'Erase',
  eraseTitle: 'Erase this person?',
  eraseHelp:
    'The values and reasons of all rejected records of this person are erased permanently, and so are their events and outcomes. The records are still counted but cannot be sent again. The audit log gets an event that names no one.',
  eraseElsewhere: 'Erase delivered records at the destinations. Delete uploaded files as a whole.',
  erased: (n: number, shown: string) => (n === 1 ? '1 record was erased' : `${shown} records were erased`),
  again: (n: string) =>
    `Active transfers (${n}) can reject a record of this person again. Erase again once they have ended.`,
}

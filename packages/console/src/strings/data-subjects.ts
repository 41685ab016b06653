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
  acceptedHelp:
    'They are not kept, so this search cannot find them. Open this page in a sub-account to erase the person at its destinations.',
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
  eraseElsewhere: 'Erase delivered records at the destinations, too. Delete uploaded files as a whole.',
  erased: (n: number, shown: string) => (n === 1 ? '1 record was erased' : `${shown} records were erased`),
  again: (n: string) =>
    `Active transfers (${n}) can reject a record of this person again. Erase again once they have ended.`,
}

/** The texts of the erasure at destinations. */
export const erasure = {
  title: 'At destinations',
  help: 'Records that were delivered are at the platforms. These destinations of the sub-account are configured.',
  more: (n: number) => `The first destinations. Read the other ${n} by the API.`,
  none: 'No destination is configured.',
  noneReachable: 'No platform of these destinations can be asked to erase a person.',
  destination: 'Destination',
  deletes: 'What is deleted',
  result: 'Result',
  byHand: 'Its API offers no erasure here. Erase the person there yourself.',
  erase: 'Erase at destinations',
  named: (connector: string, configuration: string) =>
    configuration === '' || configuration === connector ? connector : `${connector}: ${configuration}`,
  askTitle: 'Erase this person at destinations?',
  askAction: (n: number) => (n === 1 ? 'Erase at 1 destination' : `Erase at ${n} destinations`),
  askHelp:
    'The platforms are asked to delete everything about the person. This cannot be undone. Check what each value is: platforms expect phone numbers such as +4930123456.',
  kindOf: (value: string) => `What ${value} is`,
  kinds: { email: 'E-mail address', phone: 'Phone number', externalId: 'Your ID of the person' },
  usedBy: (values: string) => `Asked by: ${values}.`,
  noIdentifier: 'No value is of a kind that the platform accepts.',
  unknownBecause: (why: string) => `Not known: ${why} Erase again.`,
  outcome: (value: string, outcome: 'requested' | 'deleted' | 'notFound' | 'refused' | 'unknown') =>
    ({
      requested: `${value}: requested.`,
      deleted: `${value}: deleted.`,
      notFound: `${value}: not found.`,
      refused: `${value}: refused.`,
      unknown: `${value}: not known. Erase again.`,
    })[outcome],
}

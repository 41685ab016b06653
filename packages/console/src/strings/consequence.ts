import type { ReadMeaning, WriteMeaning } from '@penstock/wire'
import { count } from '../components/numbers.ts'
import type { Cure } from '../screens/connection/consequence.ts'

/**
 * The two sides as a sentence calls them.
 * @param rows how many rows the source has, if it is known
 */
export type Names = {
  readonly source: string
  readonly destination: string
  readonly rows?: { readonly n: number; readonly isEstimate: boolean } | undefined
}

const allRows = ({ rows }: Names): string => {
  if (!rows || rows.n < 2) return 'all rows'
  return rows.isEstimate ? `all rows (about ${count(rows.n)})` : `all ${count(rows.n)} rows`
}
type Sentence = (names: Names) => { readonly title: string; readonly help: string }

const onlyLast = (what: string): Sentence => {
  return ({ destination }) => ({
    title: `After each transfer, ${destination} contains only ${what}.`,
    help: 'All other rows are replaced.',
  })
}
const noMirror: Sentence = () => ({
  title: 'A mirror needs all rows.',
  help: 'Rows that a transfer does not read would look like rows that left the source.',
})
const stay = ({ source, destination }: Names) => `Rows deleted in ${source} stay in ${destination}.`

/** The consequence of the settings of both sides, in one sentence. */
export const consequence = {
  sentence: {
    all: {
      add: (names) => ({
        title: `Every transfer adds ${allRows(names)} again.`,
        help: `Each row arrives in ${names.destination} once per transfer.`,
      }),
      update: (names) => ({
        title: `Each transfer reads ${allRows(names)} and updates rows with the same key.`,
        help: stay(names),
      }),
      replace: ({ source, destination }) => ({
        title: `Each transfer replaces all rows of ${destination}.`,
        help: `Rows deleted in ${source} are removed.`,
      }),
      mirror: ({ source, destination }) => ({
        title: `After each transfer, ${destination} has the same rows as ${source}.`,
        help: 'Deleted rows are removed.',
      }),
    },
    new: {
      add: () => ({ title: 'Each transfer adds the rows of new files.', help: 'A file that changes is added again.' }),
      update: (names) => ({
        title: 'Each transfer updates the rows of new and changed files. Nothing is added twice.',
        help: stay(names),
      }),
      replace: onlyLast('the rows of new files'),
      mirror: noMirror,
    },
    changed: {
      add: ({ destination }) => ({
        title: 'A row that changes is added again.',
        help: `Earlier versions of the row stay in ${destination}.`,
      }),
      update: (names) => ({
        title: 'Each transfer updates the rows that changed. Nothing is added twice.',
        help: stay(names),
      }),
      replace: onlyLast('the rows that changed'),
      mirror: noMirror,
    },
    log: {
      add: () => ({ title: 'Each change is added as a row.', help: 'This is good for a history.' }),
      update: () => ({ title: 'Each change and deletion arrives once, in order.', help: 'Deleted rows are removed.' }),
      replace: onlyLast('the last changes'),
      mirror: () => ({
        title: 'The change log already removes deleted rows.',
        help: 'A mirror needs all rows. Rows of a log are updated by key.',
      }),
    },
  } satisfies Record<ReadMeaning, Record<WriteMeaning, Sentence>>,
  theSource: 'the source',
  theDestination: 'the destination',
  noKey: { title: 'Rows cannot be updated without a key.', help: 'Choose the columns that identify a row.' },
  chooseKey: 'Choose key columns',
  cure: {
    readAll: 'Read all rows',
    readNew: 'Read new rows only',
    sendChanged: 'Send changed rows only',
    readLog: 'Read the change log',
    update: 'Update by key',
  } satisfies Record<Cure, string>,
  readOnce: 'The file is read once. Another transfer would add all of its rows again.',
  oncePerFile: 'Another transfer would add all rows of the file again.',
  changeSettings: 'Change the settings',
}

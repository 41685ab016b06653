import type { Chunk, Finding } from '@penstock/connector'
import type { ConsentPurpose } from '../../../consent-purpose.ts'
import { type KnownSignal, knownSignals, textIn } from './consent.ts'

/** Names of the strings that a signal reads. */
const strings = { tcf: 'TCF string', gpp: 'GPP string', usPrivacy: 'US Privacy string' } as const

/**
 * Explains why records of a preview lack consent although nobody refused: a column is missing, values cannot be read, or records
 * contain no answer. A transfer skips these records.
 */
export async function lintConsent(
  purposes: readonly ConsentPurpose[],
  { columns, rows, errors }: Pick<Chunk, 'columns' | 'rows' | 'errors'>,
): Promise<Finding[]> {
  const known = await knownSignals(purposes, columns)
  const readable = rows.filter((_, at) => !errors?.has(at))
  return purposes.flatMap(({ name, signals }) => {
    const own = known.get(name) ?? []
    // Without any column a transfer fails, and its error explains why.
    if (own.length === 0 || readable.length === 0) return []
    const missing = signals
      .filter(({ column }) => !columns.includes(column))
      .map(({ column }) => columnMissing(name, column))
    const silent = readable.filter((row) => own.every((signal) => textIn(row, signal) === '')).length
    return [
      ...missing,
      ...own.flatMap((signal) => lintSignal(name, signal, readable)),
      ...(silent === 0 ? [] : [silentRecords(name, own, `${silent} of ${readable.length}`)]),
    ]
  })
}

function lintSignal(purpose: string, known: KnownSignal, rows: Chunk['rows']): Finding[] {
  const { signal, says } = known
  const { column, kind, values = [] } = signal
  const answers = rows.map((row) => textIn(row, known)).flatMap((text) => (text === '' ? [] : [says(text)]))
  if (answers.length === 0) return []
  if (kind === 'values') {
    if (answers.some((answer) => answer)) return []
    const message = `No record agrees to the purpose “${purpose}” by the column ${column}: ${ofRows(answers.length, rows.length)} a value in it, but not one of these: ${values.join(', ')}. If consent is written in another way, add its value to the purpose.`
    return [{ code: 'consent_never_given', message, column }]
  }
  const unread = answers.filter((answer) => answer === undefined).length
  if (unread === 0) return []
  const message = `${ofRows(unread, rows.length)} a text in the column ${column} that does not say anything as a ${strings[kind]}, for the purpose “${purpose}”. This counts as no consent. Check the column, and the kind of it in the purpose.`
  return [{ code: 'consent_unreadable', message, column }]
}

const ofRows = (n: number, all: number): string => (n === 1 ? `1 of ${all} records has` : `${n} of ${all} records have`)

const columnMissing = (purpose: string, column: string): Finding => ({
  code: 'consent_column_missing',
  message: `The source has no column ${column}, so other columns say whether a person agreed to the purpose “${purpose}”. Add it to the source, or remove it from the purpose.`,
  column,
})

const silentRecords = (purpose: string, signals: readonly KnownSignal[], share: string): Finding => ({
  code: 'consent_missing',
  message: `${share} records say nothing about the purpose “${purpose}”: ${signals.map(({ signal }) => signal.column).join(', ')} ${signals.length === 1 ? 'is' : 'are'} empty. They are not sent.`,
  ...(signals.length === 1 && signals[0] && { column: signals[0].signal.column }),
})

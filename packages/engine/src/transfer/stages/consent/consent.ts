import { type Chunk, ConnectorError, type Row } from '@penstock/connector'
import { type ConsentUse, consentOptOuts } from '@penstock/wire/rules'
import type { ConsentPurpose } from '../../../consent-purpose.ts'
import { skipCode } from '../../../skipped.ts'
import { inSlices } from '../../../slices.ts'
import type { MappedChunk } from '../../filled-batch.ts'

/** Which rows have the consent that a connection requires, by the purposes of its sub-account. */

type Signal = ConsentPurpose['signals'][number]

/** Whether the text of a column means yes; undefined if it cannot be read, which is treated as no. */
type Answer = (text: string) => boolean | undefined

/** A signal whose column exists in the source. */
export type KnownSignal = { readonly signal: Signal; readonly index: number; readonly says: Answer }

/** Whether a person agreed to a purpose, by a row of the source. */
export type Agrees = (row: Row) => boolean

const code = skipCode('noConsent')
/** Maximum characters of the strings whose answers a signal caches: the same strings occur in many rows. */
const rememberedMax = 2 ** 20

/** @returns whether the person of a row agreed to each purpose, by its name @throws ConnectorError if a purpose has no column in the source */
export async function readConsent(
  purposes: readonly ConsentPurpose[],
  columns: readonly string[],
): Promise<ReadonlyMap<string, Agrees>> {
  const known = await knownSignals(purposes, columns)
  return new Map(
    purposes.map(({ name, signals }) => {
      const own = known.get(name) ?? []
      if (own.length === 0) throw noColumn(name, signals)
      return [name, (row) => agrees(row, own)]
    }),
  )
}

/** The signals of purposes whose columns exist in the source, by the name of the purpose. */
export async function knownSignals(
  purposes: readonly ConsentPurpose[],
  columns: readonly string[],
): Promise<ReadonlyMap<string, readonly KnownSignal[]>> {
  const isString = purposes.some(({ signals }) => signals.some(({ kind }) => kind !== 'values'))
  const strings = isString ? await import('./strings.ts') : undefined
  return new Map(
    purposes.map(({ name, signals }) => [
      name,
      signals.flatMap((signal) => {
        const index = columns.indexOf(signal.column)
        return index < 0 ? [] : [{ signal, index, says: answerOf(signal, strings) }]
      }),
    ]),
  )
}

/** The text of a signal in a row; empty if the row has no text. */
export const textIn = (row: Row, { index }: Pick<KnownSignal, 'index'>): string => String(row[index] ?? '').trim()

/** At least one column means yes, and no column means no. */
function agrees(row: Row, signals: readonly KnownSignal[]): boolean {
  let isSaid = false
  for (const signal of signals) {
    const text = textIn(row, signal)
    if (text === '') continue
    if (!signal.says(text)) return false
    isSaid = true
  }
  return isSaid
}

function answerOf(signal: Signal, strings: typeof import('./strings.ts') | undefined): Answer {
  const { kind, values = [], purposes = [], vendor, optOuts = consentOptOuts } = signal
  if (kind === 'values') {
    const yes = new Set(values.map((value) => value.trim().toLowerCase()))
    return (text) => yes.has(text.toLowerCase())
  }
  if (kind === 'usPrivacy') return (text) => strings?.agreesByUsPrivacy(text)
  if (kind === 'gpp') return remembered((text) => strings?.agreesByGpp(text, optOuts))
  return remembered((text) => strings?.agreesByTcf(text, purposes, vendor))
}

function remembered(answer: Answer): Answer {
  const known = new Map<string, boolean | undefined>()
  let characters = 0
  return (text) => {
    if (known.has(text)) return known.get(text)
    const says = answer(text)
    characters += text.length
    if (characters > rememberedMax) {
      known.clear()
      characters = text.length
    }
    known.set(text, says)
    return says
  }
}

/**
 * Skips rows without the required consent. Rows that remove something at the destination pass, because people who withdraw their
 * consent must be removed.
 * @param required all of these purposes need consent
 * @param removes whether a mapped row removes something
 */
export async function skipWithoutConsent(
  required: readonly Agrees[],
  mapped: MappedChunk,
  { rows: sourceRows, errors: broken, removed }: Pick<Chunk, 'rows' | 'errors' | 'removed'>,
  removes: (row: Row) => boolean,
): Promise<MappedChunk> {
  const { rows, errors } = mapped
  const skipped = mapped.skipped?.slice() ?? new Uint8Array(rows.length)
  let isPassed = true
  await inSlices(rows.length, (from, until) => {
    for (let at = from; at < until; at++) {
      if (skipped[at] !== 0 || errors.has(at) || broken?.has(at) || removed?.has(at) || removes(rows[at] ?? []))
        continue
      if (required.every((agreesTo) => agreesTo(sourceRows[at] ?? []))) continue
      skipped[at] = code
      isPassed = false
    }
  })
  return isPassed ? mapped : { ...mapped, skipped }
}

/** A consent field of a destination that the mapping does not fill: its place in a row, and the values for yes and no. */
export type ConsentField = {
  readonly index: number
  readonly agrees: Agrees
  readonly granted: string | null
  readonly denied: string | null
}

/** Fills the consent fields of the platform. */
export function fillConsent(
  fields: readonly ConsentField[],
  mapped: MappedChunk,
  { rows: sourceRows }: Pick<Chunk, 'rows'>,
): MappedChunk {
  if (fields.length === 0) return mapped
  const rows = mapped.rows.map((row, at) => {
    if (mapped.skipped?.[at] || mapped.errors.has(at)) return row
    const filled = [...row]
    for (const { index, agrees: agreesTo, granted, denied } of fields)
      filled[index] = agreesTo(sourceRows[at] ?? []) ? granted : denied
    return filled
  })
  return { ...mapped, rows }
}

/** Whether a person agreed to all purposes with a use. */
export function agreesToUse(
  use: ConsentUse,
  purposes: readonly ConsentPurpose[],
  consent: ReadonlyMap<string, Agrees>,
): Agrees {
  const all = purposes.filter(({ uses }) => uses.includes(use)).flatMap(({ name }) => consent.get(name) ?? [])
  return (row) => all.every((agreesTo) => agreesTo(row))
}

const noColumn = (name: string, signals: readonly Signal[]): ConnectorError =>
  new ConnectorError(
    'invalid_setting',
    `The source has no column that says whether a person agreed to the purpose “${name}”: ${signals.map(({ column }) => column).join(', ')}. Correct the purposes of the sub-account.`,
    { side: 'Destination' },
  )

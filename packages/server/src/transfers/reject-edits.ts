import type { Cell, Row } from '@penstock/connector'
import { type BodyOf, type FieldError, limits } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { bytesLeft } from '../organizations/limits.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import { type MasterKey, seal } from '../secrets/seal.ts'
import { holdRunnable } from './queries.ts'
import * as queries from './reject-queries.ts'
import { openText, places } from './sealed.ts'
import { requireTransfer, type TransferDeps } from './transfers.ts'

/** Corrections of rejected records: a replay sends the corrected values. The original ones are kept beside them. */

type Edit = BodyOf<'editRejects'>['edits'][number]

/** Why a record that the source could not read is not sent as it was read. */
const unchanged =
  'changes nothing, but the source could not read the record: change a value, or give all of its columns'

/**
 * Stores corrected values of rejected records, all or nothing. Refuses with `transfer_active` while the transfer or a replay of it is
 * active: a replay sends the same values from its beginning to its end, also after a crash.
 */
export async function editRejects(
  { db: tx, account, id, transferId, body: { edits } }: Call<'editRejects'>,
  { keyring, config }: TransferDeps,
): Promise<Answer<'editRejects'>> {
  if (!(await holdRunnable.first(tx, { accountId: account.id, id }))) refuse('not_found')
  await requireTransfer(tx, account, id, transferId)
  const found = await queries.findEditable.first(tx, { transferId })
  if (found?.active) refuse('transfer_active')
  const numbers = edits.map(({ number }) => number)
  const kept = new Map((await queries.lockRejects.all(tx, { transferId, numbers })).map((row) => [row.number, row]))
  const columns = found?.sourceColumns ?? []
  refuseFieldErrors(edits.flatMap((edit, i) => errorsOf(edit, i, { kept, columns, numbers })))
  const key = found?.dataKeyId ? await openDataKey(tx, keyring, found.dataKeyId) : undefined
  const textOf = (edit: Edit): string | null =>
    key ? editedText(key, { transferId, columns }, kept.get(edit.number)?.sealed ?? null, edit) : null
  const texts = edits.map((edit) => (Object.keys(edit.record).length > 0 ? textOf(edit) : null))
  refuseFieldErrors(
    edits.flatMap(({ number, record }, i) =>
      kept.get(number)?.structural &&
      texts[i] !== null &&
      Object.keys(record).length < columns.length &&
      texts[i] === textOf({ number, record: {} })
        ? [{ field: `body.edits.${i}.record`, message: unchanged }]
        : [],
    ),
  )
  refuseFieldErrors(
    texts.flatMap((text, i) =>
      text !== null && text.length > limits.rejectEditedLengthMax
        ? [{ field: `body.edits.${i}.record`, message: 'makes the record too large to be kept' }]
        : [],
    ),
  )
  const sealed = texts.map((text, i) =>
    key && text !== null ? seal(key, places.edit(transferId, numbers[i] ?? 0), text) : null,
  )
  const before = [...kept.values()].reduce((sum, { editedBytes }) => sum + editedBytes, 0)
  const addedBytes = sealed.reduce((sum, one) => sum + (one?.byteLength ?? 0), -before)
  const { left, max, setting } = await bytesLeft(tx, config, account.organizationId, 'rejects-mb')
  if (addedBytes > left) {
    const message = `the organization keeps at most ${max / 1024 ** 2} MiB of values of rejected records; ${setting} sets it: correct fewer records`
    refuseFieldErrors([{ field: 'body.edits', message }])
  }
  const edited = sealed.map((one) => one?.toString('base64') ?? null)
  await queries.saveEdits.run(tx, { transferId, addedBytes, numbers, edited })
  const restored = edited.filter((one) => one === null).length
  return {
    reply: { edited: edits.length - restored, restored },
    // Without values.
    audited: { after: { records: edits.map(({ number, record }) => ({ number, columns: Object.keys(record) })) } },
  }
}

function errorsOf(
  { number, record }: Edit,
  i: number,
  {
    kept,
    columns,
    numbers,
  }: {
    kept: ReadonlyMap<number, { sealed: Buffer | null; replayed: boolean; erased: boolean; superseded: boolean }>
    columns: readonly string[]
    numbers: readonly number[]
  },
): FieldError[] {
  const field = `body.edits.${i}.number`
  if (numbers.indexOf(number) !== i) return [{ field, message: 'is there twice' }]
  const row = kept.get(number)
  if (!row) return [{ field, message: 'is not the number of a rejected record that is kept' }]
  if (row.replayed) return [{ field, message: 'was delivered by a replay: there is nothing to correct' }]
  if (row.superseded) {
    return [
      {
        field,
        message: 'is superseded: a later record with the same key was delivered, which a replay must not replace',
      },
    ]
  }
  if (!row.sealed) {
    return [{ field, message: row.erased ? 'was erased' : 'is not kept whole, so that it cannot be sent again' }]
  }
  return Object.keys(record)
    .filter((column) => !columns.includes(column))
    .map((column) => ({ field: `body.edits.${i}.record.${column}`, message: 'is not a column of the record' }))
}

/** The corrected record as JSON text, as the record itself is kept. */
function editedText(
  key: MasterKey,
  { transferId, columns }: { transferId: string; columns: readonly string[] },
  sealed: Buffer | null,
  { number, record }: Edit,
): string {
  const row: Row = sealed ? JSON.parse(openText(key, places.reject(transferId, number), sealed)) : []
  return JSON.stringify(
    columns.map((column, i) =>
      Object.hasOwn(record, column) ? cellOf(record[column] ?? null, row[i] ?? null) : row[i],
    ),
  )
}

/** A text as the kind of value that was read. */
function cellOf(text: string | null, read: Cell): Cell {
  if (text === null || text === read) return text
  if (typeof read === 'number' && text.trim() !== '' && String(Number(text)) === text.trim()) return Number(text)
  if (typeof read === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

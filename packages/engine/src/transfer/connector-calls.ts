import {
  asConnectorError,
  type Batch,
  type Chunk,
  ConnectorError,
  type ConnectorErrorCode,
  type Delivery,
  type Json,
  type RowFault,
  type SourceReader,
} from '@penstock/connector'
import { missingConnector } from '@penstock/connectors/installed/missing'
import type { Role } from '@penstock/wire/rules'
import { quoteValues } from '../quoted-reasons.ts'
import { type SideSecrets, withoutSecrets } from '../side-secrets.ts'
import { addedConnectorOf, isUnloadable, isUnloadableConnector } from '../unloadable.ts'

/** Calls of connectors. Errors of connectors are distinguished from errors of our own code and database. */

/** A connector threw something other than a `ConnectorError`, or returned an impossible result. */
export class ConnectorDefect extends Error {
  override readonly name = 'ConnectorDefect'
  readonly side: Role
  constructor(side: Role, cause: unknown) {
    super('The connector has a defect.', { cause })
    this.side = side
  }
}

/** A side of the connection, and the function that removes its secrets from its reports. */
export type CalledSide = { readonly side: Role; readonly redact: SideSecrets['redact'] }

/** Whether the error was caused by a side of the connection. */
export const isOfTheSides = (error: unknown): boolean =>
  asConnectorError(error) !== undefined || error instanceof ConnectorDefect

/** The side of the connection where an error happened; `null` if it belongs to neither side. */
export const sideOf = (error: unknown): Role | null =>
  (error instanceof ConnectorDefect ? error.side : asConnectorError(error)?.side) ?? null

/** The code of an error that was caused by a side. */
export const codeOf = (error: unknown): ConnectorErrorCode | 'connector_failed' =>
  asConnectorError(error)?.code ?? 'connector_failed'

/** Calls a connector. Throws a `ConnectorError` without secrets, a `ConnectorDefect`, or the signal's reason once that is aborted. */
export async function ofConnector<T>(
  signal: AbortSignal,
  { side, redact }: CalledSide,
  call: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  try {
    return await withoutSecrets(redact, call, side)
  } catch (error) {
    signal.throwIfAborted()
    if (asConnectorError(error) || isUnloadable(error)) throw error
    if (isUnloadableConnector(error)) throw missingCode(side, error)
    throw new ConnectorDefect(side, error)
  }
}

function missingCode(side: Role, cause: Error): ConnectorError {
  const { slug, place } = addedConnectorOf(cause)
  const { code, message } = missingConnector(slug, place, 'a file of it is missing or damaged', cause)
  return new ConnectorError(code, message, { side, cause })
}

/** A connector's reader with guarded calls. */
export function guarded(reader: SourceReader, signal: AbortSignal, redact: SideSecrets['redact']): SourceReader {
  const source = { side: 'Source', redact } as const
  const ofSource = <T>(call: () => Promise<T>) => ofConnector(signal, source, call)
  return {
    ...(reader.total ? { total: reader.total } : {}),
    fixed: reader.fixed ?? false,
    ...(reader.follows && { follows: reader.follows }),
    ...(reader.plan !== undefined && { plan: reader.plan }),
    ...(reader.rawFormat && { rawFormat: reader.rawFormat }),
    ...(reader.divide && {
      divide: async (bounds) => {
        const division = await ofSource(async () => reader.divide?.(bounds))
        return division && { ...division, columns: () => ofSource(() => division.columns()) }
      },
    }),
    async *read(after, until) {
      const chunks = reader.read(after, until)[Symbol.asyncIterator]()
      try {
        for (;;) {
          const next = await ofSource(() => chunks.next())
          if (next.done) return
          yield withoutSecretsInErrors(next.value, redact)
        }
      } finally {
        await chunks.return?.()
      }
    },
    close: () => reader.close(),
  }
}

/** A source can quote a server's message in the errors of its records. */
const withoutSecretsInErrors = (chunk: Chunk, redact: SideSecrets['redact']): Chunk =>
  chunk.errors && chunk.errors.size > 0
    ? { ...chunk, errors: new Map([...chunk.errors].map(([at, error]) => [at, redact(error)])) }
    : chunk

/**
 * The same delivery without secrets in its rejections. Throws if a rejection does not belong to this batch: the counts would be
 * wrong.
 */
export function checked(delivery: Delivery, { columns, rows }: Batch, redact: SideSecrets['redact']): Delivery {
  const indexes = new Set<number>()
  let rejected = 0
  for (const { index, count = 1 } of delivery.rejected ?? []) {
    if (index === undefined) rejected += count
    else if (rows[index] === undefined || indexes.has(index)) {
      throw new Error('A destination rejected a row that it was not sent, or one row twice')
    } else indexes.add(index)
  }
  if (rejected + indexes.size > rows.length) throw new Error('A destination rejected more rows than it was sent')
  const quoted = delivery.rejected?.map((rejection) => quoteValues(rejection, columns, rows))
  const clean = withoutSecretsInReasons(quoted ? { ...delivery, rejected: quoted } : delivery, redact)
  return delivery.answers
    ? { ...clean, answers: delivery.answers.map((one) => withoutSecretsInJson(one, redact)) }
    : clean
}

/** A platform can repeat a secret in its answer about a row. */
function withoutSecretsInJson(value: Json | null, redact: SideSecrets['redact']): Json | null {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((one: Json) => withoutSecretsInJson(one, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [redact(key), withoutSecretsInJson(one as Json, redact)]),
  )
}

/** The same delivery, without secrets in the reasons and fields of its rejections. Most reasons are alike. */
export function withoutSecretsInReasons(delivery: Delivery, redact: SideSecrets['redact']): Delivery {
  if (!delivery.rejected?.length) return delivery
  const known = new Map<string, string>()
  const clean = (text: string) => {
    const found = known.get(text) ?? redact(text)
    known.set(text, found)
    return found
  }
  const cleanFault = ({ reason, field }: RowFault): RowFault => ({
    reason: clean(reason),
    ...(field === undefined ? {} : { field: clean(field) }),
  })
  const rejected = delivery.rejected.map(({ reason, field, others, ...where }) => ({
    ...where,
    ...cleanFault({ reason, ...(field !== undefined && { field }) }),
    ...(others && { others: others.map(cleanFault) }),
  }))
  return { ...delivery, rejected }
}

import {
  asConnectorError,
  type Chunk,
  type ChunkWindow,
  ConnectorError,
  type Json,
  type SourceContext,
  type SourceReader,
} from '@penstock/connector'
import { isObject, numberIn, objectIn, textIn } from '../../platform-api/json.ts'
import type { RestApi } from '../api.ts'
import { addDays, daysFrom, todayIn } from '../report-days.ts'
import type { ReadFacts, ReportRequest } from '../report-facts.ts'
import { openApi } from './open-api.ts'
import { accountOf, isRefusedAlone, listedAccounts } from './report-accounts.ts'
import { cellReader } from './report-cells.ts'
import { divideReports, partIn, refusedIn, throughIn, throughOf } from './report-parts.ts'
import { asksOf, factsFor, namedAccounts, planOf } from './report-plan.ts'
import { type ReportPlace, unitsOf } from './report-ranges.ts'
import type { ReportPosition, ReportReading } from './report-reading.ts'
import { scopeOf } from './report-scope.ts'
import { isTooLarge, readUnit, tooLarge } from './report-unit.ts'

/** A day behind all days. */
const never = '9999-12-31'

/** The platform's API, by the connector's secrets and settings. */
export const apiOf = ({ platformApi }: ReadFacts, context: Pick<SourceContext, 'secrets' | 'settings'>): RestApi =>
  typeof platformApi === 'function' ? platformApi(context) : platformApi

/** The data that is read, by the settings. In a backfill, its days take the place of the first and the last day that the connection names. */
function planIn(facts: ReadFacts, { settings, range }: Pick<SourceContext, 'settings' | 'range'>) {
  if (!range) return planOf(facts, settings)
  if (!facts.days) {
    const message = 'The report of this connection has no days. Start a transfer without a range: it reads everything.'
    throw new ConnectorError('invalid_setting', message)
  }
  const oldest = addDays(todayIn('UTC'), -facts.days.backMax - 1)
  if (range.from < oldest) {
    const message = `The platform has no reports before ${oldest}. Begin the backfill on this day or later.`
    throw new ConnectorError('invalid_setting', message)
  }
  return planOf(facts, { ...settings, startDate: range.from, endDate: range.to })
}

/** Opens a reader of the reports of all accounts of a connection, account after account and day after day. */
export async function openReports(stated: ReadFacts, context: SourceContext): Promise<SourceReader> {
  const facts = factsFor(stated, context.settings)
  const plan = planIn(facts, context)
  const named = namedAccounts(facts, context.settings)
  const api = apiOf(facts, context)
  const client = await openApi(context, api, facts.auth)
  const reading: ReportReading = { facts, api, client, plan, cells: cellReader(plan.columns, facts) }
  return {
    read: (after) => readReports(reading, context, named, after),
    divide: (bounds) => divideReports(reading, context, named, throughOf(facts, context.cursor), bounds),
    close: async () => {},
  }
}

async function* readReports(
  reading: ReportReading,
  context: SourceContext,
  named: readonly string[],
  after: Json | undefined,
): AsyncGenerator<Chunk> {
  const { facts, plan, cells } = reading
  const through: Record<string, string> = { ...throughOf(facts, context.cursor) }
  const before = { ...through }
  const place = placeIn(facts, after)
  const part = context.part && partIn(context.part.key)
  // After a crash, a day that has begun meanwhile is left to the next transfer.
  const began = numberIn(objectIn(after).began) ?? part?.began ?? Date.now()
  if (isObject(after)) Object.assign(through, throughIn(facts, after))
  /** Only refusals in this part: other parts may have read later days of the account. */
  const refusals = part && new Set(refusedIn(after))
  const standing = () => ({ through: { ...through }, ...(refusals?.size && { refused: [...refusals] }) })
  const ofPart = part?.accounts.map(({ account }) => account)
  const all = ofPart ?? (named.length > 0 ? named : await listedAccounts(reading, context))
  const isAlone = part?.alone ?? all.length === 1
  const accounts = leftOf(all, ofPart !== undefined || named.length > 0, place)
  let failure: ConnectorError | undefined
  let isSeen = place !== undefined
  for (const [index, account] of accounts.entries()) {
    const here = place?.account === account ? place : undefined
    // It was refused.
    if (here?.from === never) continue
    try {
      const { about, zone } = await accountOf(reading, account, context)
      const today = todayIn(zone, began)
      const range = part?.accounts.find((one) => one.account === account)?.days
      const isSample = context.sample !== undefined
      const asked = { through: before[account], today, resumed: here, range, isSample }
      for (const { from, to, rest } of unitsOf(reading, asked)) {
        const metrics = plan.metrics
        const asks = asksOf(facts, plan, metrics)
        const request = { ...plan, columns: cells.names, account, about, from, to, zone, asks, ids: [], context }
        const position = here?.from === from && here.ends[0] === to ? here : undefined
        for await (const { rows, bytes, place: next, day, window, settles } of readDays(
          reading,
          request,
          rest,
          position,
        )) {
          isSeen = true
          // Days that are read again do not take it back.
          if (facts.days && day !== undefined && day > (through[account] ?? '')) through[account] = day
          yield {
            columns: cells.names,
            types: cells.types,
            rows,
            bytes,
            ...(window && { window }),
            ...(settles && { settles }),
            checkpoint: { account, ...next, began, ...standing() },
            cursor: standing(),
          }
        }
      }
    } catch (error) {
      const refused = asConnectorError(error)
      if (!refused || isAlone || !(await isRefusedAlone(reading, context, error))) throw error
      failure ??= refused
      const next = accounts[index + 1]
      refusals?.add(account)
      const chunk = refusedAccount(reading, account, next, refused, { began, ...standing() })
      yield { ...chunk, ...(part && { cursor: standing() }) }
    }
  }
  // Accounts of other parts may have been read.
  if (!isSeen && failure && !part) throw failure
}

/** An account that cannot be read stops no other one: it is a row that is rejected, with the reason. */
function refusedAccount(
  { api, cells: { names, types } }: ReportReading,
  account: string,
  next: string | undefined,
  { message }: ConnectorError,
  others: { readonly [key: string]: Json },
): Chunk {
  return {
    columns: names,
    types,
    rows: [names.map(() => null)],
    errors: new Map([[0, `The account ${account} of ${api.name} was not read. ${message}`]]),
    bytes: 0,
    checkpoint: next === undefined ? { account, from: never, ...others } : { account: next, from: '', ...others },
  }
}

/** The accounts that are still to be read. */
function leftOf(all: readonly string[], isNamed: boolean, place: ReportPlace | undefined): readonly string[] {
  if (!place) return all
  if (isNamed) return all.slice(Math.max(0, all.indexOf(place.account)))
  // One that the platform lists no more is passed over.
  return all.filter((account) => account >= place.account)
}

/** @param place where reading resumes @param day the last day that is complete with these rows */
type DaysPiece = {
  readonly rows: Chunk['rows']
  readonly bytes: number
  readonly place: { readonly [key: string]: Json }
  readonly day: string | undefined
  readonly window: ChunkWindow | undefined
  /** Whether a report was started, which must be found again after a crash. */
  readonly settles: boolean
}

/** Reads some days of one account. If their report is too large, it is requested in halves, down to one day or month. */
async function* readDays(
  reading: ReportReading,
  request: ReportRequest,
  rest: readonly string[],
  position?: ReportPosition,
): AsyncGenerator<DaysPiece> {
  const { from, to, account } = request
  const isResumed = position?.cursor !== undefined || position?.skip !== undefined || position?.after !== undefined
  let hasRows = isResumed
  const scope = scopeOf(reading, request)
  try {
    for await (const { rows, bytes, next } of readUnit(reading, request, position)) {
      const begins = !hasRows
      hasRows ||= rows.length > 0
      // Between two requests, rows can have moved from one page to another.
      const ends = next === undefined && !(isResumed && isPaged(reading, request))
      const behind = { from: addDays(to, 1), ...(rest.length > 0 && { ends: rest }) }
      const place = next ? { from, ends: [to, ...rest], ...stored(next) } : behind
      yield {
        rows,
        bytes,
        place,
        day: next ? undefined : to,
        window: scope && { scope, key: reading.plan.key, begins, ends },
        settles: next?.job !== undefined && rows.length === 0,
      }
    }
    return
  } catch (error) {
    if (!isTooLarge(error)) throw error
    // Rows that were delivered would come twice.
    if (hasRows || from === to || reading.facts.days?.by === 'month') {
      const days = from === to ? from : `${from} to ${to}`
      throw tooLarge(
        `The report of the account ${account} of ${reading.api.name} for ${days} is too large. Choose fewer metrics or breakdowns, or a higher level.`,
      )
    }
  }
  const middle = addDays(from, Math.floor(daysFrom(from, to) / 2) - 1)
  yield* readDays(reading, { ...request, to: middle }, [to, ...rest])
  yield* readDays(reading, { ...request, from: addDays(middle, 1) }, rest)
}

const isPaged = ({ facts: { report } }: ReportReading, request: ReportRequest): boolean =>
  (typeof report === 'function' ? report(request) : report).form === 'pages'

/** A position in the form of a checkpoint: without absent values. */
const stored = ({ job, cursor, skip, ids, after }: ReportPosition): { [key: string]: Json } => ({
  ...(job !== undefined && { job }),
  ...(cursor !== undefined && { cursor }),
  ...(skip !== undefined && { skip }),
  ...(ids !== undefined && { ids }),
  ...(after !== undefined && { after }),
})

function placeIn({ accounts: { normal = (id) => id } }: ReadFacts, after: Json | undefined): ReportPlace | undefined {
  const { account, from, day, ends, job, cursor, skip, ids, after: behind } = objectIn(after)
  // Checkpoints of version 0.1.0 contain only one day of a report.
  const first = typeof from === 'string' ? from : day
  if (typeof account !== 'string' || typeof first !== 'string') return undefined
  return {
    account: normal(account),
    from: first,
    ends: Array.isArray(ends) ? ends.map(String) : job === undefined ? [] : [first],
    job: textIn(job),
    cursor: textIn(cursor),
    skip: typeof skip === 'number' ? skip : undefined,
    ids: Array.isArray(ids) ? ids.map(String) : undefined,
    after: textIn(behind),
  }
}

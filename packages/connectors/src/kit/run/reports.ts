import {
  asConnectorError,
  type Chunk,
  type ChunkWindow,
  ConnectorError,
  type Json,
  type SourceContext,
  type SourceReader,
  type WindowScope,
} from '@penstock/connector'
import { isObject, numberIn, objectIn, textIn } from '../../platform-api/json.ts'
import { pagesOf } from '../../platform-api/polling.ts'
import type { RestApi } from '../api.ts'
import type { ReportColumn } from '../report-columns.ts'
import { addDays, daysFrom, eachDay, isZone, todayIn } from '../report-days.ts'
import type { AccountFacts, ReadFacts, ReportRequest } from '../report-facts.ts'
import { openApi } from './open-api.ts'
import { cellReader } from './report-cells.ts'
import { asksOf, bounded, namedAccounts, planOf } from './report-plan.ts'
import type { ReportPosition, ReportReading } from './report-reading.ts'
import { isTooLarge, readUnit, tooLarge } from './report-unit.ts'

/**
 * Where reading resumes: on a day of an account. `ends` are the last days of the reports that come next, if they are not as long as
 * usual: of one that was begun, and of its halves. The same rows have to come in the same order after a crash.
 */
type Place = ReportPosition & { readonly account: string; readonly from: string; readonly ends: readonly string[] }

/** The last day of each account that was read. */
type Through = Readonly<Record<string, string>>

/** Errors of one account, which stop no other. */
const refusedAlone = ['permission_denied', 'object_not_found', 'account_restricted'] as const
/** A day behind all days. */
const never = '9999-12-31'

/** The platform's API, by the connector's secrets and settings. */
export const apiOf = ({ platformApi }: ReadFacts, context: Pick<SourceContext, 'secrets' | 'settings'>): RestApi =>
  typeof platformApi === 'function' ? platformApi(context) : platformApi

/** Opens a reader of the reports of all accounts of a connection, account after account and day after day. */
export async function openReports(facts: ReadFacts, context: SourceContext): Promise<SourceReader> {
  const plan = planOf(facts, context.settings)
  const named = namedAccounts(facts, context.settings)
  const api = apiOf(facts, context)
  const client = await openApi(context, api, facts.auth)
  const reading: ReportReading = { facts, api, client, plan, cells: cellReader(plan.columns, facts.nulls) }
  return {
    read: (after) => readReports(reading, context, named, after),
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
  const through: Record<string, string> = { ...throughIn(facts, context.cursor) }
  const before = { ...through }
  const place = placeIn(facts, after)
  // After a crash, a day that has begun meanwhile is left to the next transfer.
  const began = numberIn(objectIn(after).began) ?? Date.now()
  if (isObject(after)) Object.assign(through, throughIn(facts, after))
  const all = named.length > 0 ? named : await listedAccounts(reading, context)
  const accounts = leftOf(all, named.length > 0, place)
  let failure: ConnectorError | undefined
  let isSeen = place !== undefined
  for (const [index, account] of accounts.entries()) {
    try {
      const { about, zone } = await accountOf(reading, account, context)
      const here = place?.account === account ? place : undefined
      const today = todayIn(zone, began)
      for (const { from, to, rest } of unitsOf(reading, before[account], today, here, context.sample !== undefined)) {
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
            checkpoint: { account, ...next, began, through: { ...through } },
            cursor: { through: { ...through } },
          }
        }
      }
    } catch (error) {
      const refused = asConnectorError(error)
      if (!refused || !refusedAlone.some((code) => code === refused.code)) throw error
      failure ??= refused
      if (all.length === 1) throw error
      const next = accounts[index + 1]
      yield refusedAccount(reading, account, next, refused, { began, through: { ...through } })
    }
  }
  if (!isSeen && failure) throw failure
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

/** All accounts that the platform lists for these credentials, in the order of their IDs, so that reading can resume. */
async function listedAccounts({ facts, client, api }: ReportReading, context: SourceContext): Promise<string[]> {
  const { label, id, normal = (text) => text } = facts.accounts
  const listing = facts.listed?.accountIds
  if (!listing) throw new ConnectorError('invalid_setting', `${label}: name at least one.`)
  const other =
    (listing.platformApi ?? listing.auth)
      ? openApi(context, listing.platformApi ?? api, listing.auth ?? facts.auth)
      : client
  const asked = await other
  const form = listing.id ?? id
  const found = new Set<string>()
  const read = async (cursor: string | undefined) => {
    if ('read' in listing) return await listing.read(asked, cursor, context)
    const answer = await asked.askObject(listing.page(cursor, context))
    return { items: listing.found(answer), next: listing.next?.(answer, cursor) }
  }
  for await (const { items } of pagesOf(read)) {
    for (const item of items) {
      const account = textIn(item.id)?.trim() ?? ''
      if (form.test(account)) found.add(normal(account))
    }
    bounded(label, [...found])
  }
  if (found.size > 0) return [...found].sort()
  throw new ConnectorError('object_not_found', `${api.name} lists no account for these credentials.`)
}

/** The accounts that are still to be read. */
function leftOf(all: readonly string[], isNamed: boolean, place: Place | undefined): readonly string[] {
  if (!place) return all
  if (isNamed) return all.slice(Math.max(0, all.indexOf(place.account)))
  // One that the platform lists no more is passed over.
  return all.filter((account) => account >= place.account)
}

async function accountOf(
  { facts: { accounts, days }, client }: ReportReading,
  account: string,
  context: SourceContext,
): Promise<{ about: AccountFacts; zone: string }> {
  const call = accounts.get?.(account, context)
  const first = call ? (accounts.about?.(await client.ask(call), account) ?? {}) : {}
  const about = { ...first, ...(await accounts.more?.(client, account)) }
  const { zone = 'account' } = days ?? {}
  if (zone === 'account') return { about, zone: about.zone !== undefined && isZone(about.zone) ? about.zone : 'UTC' }
  const name = 'fixed' in zone ? zone.fixed : (textIn(context.settings[zone.setting]) ?? 'UTC')
  if (isZone(name)) return { about, zone: name }
  throw new ConnectorError('invalid_setting', `There is no time zone ${name}; enter one such as Europe/Berlin.`)
}

/** @param rest the last days of the reports that come behind this one, if they are not as long as usual */
type Unit = { readonly from: string; readonly to: string; readonly rest: readonly string[] }

/**
 * The reports to ask for of an account, the first days first. In a sample, one of the newest day before today. Without days, it is all
 * that there is today.
 */
function* unitsOf(
  { facts: { days }, plan }: ReportReading,
  through: string | undefined,
  today: string,
  resumed: Place | undefined,
  isSample: boolean,
): Generator<Unit> {
  if (!days) {
    if (resumed === undefined || resumed.from <= today) yield { from: today, to: today, rest: [] }
    return
  }
  const newest = addDays(today, -(days.newest ?? 0))
  const last = plan.endDate !== undefined && plan.endDate < newest ? plan.endDate : newest
  if (isSample) {
    const day = last < today ? last : addDays(today, -1)
    return yield { from: day, to: day, rest: [] }
  }
  // The days that the platform restates are read again.
  const next = through === undefined ? addDays(today, -days.lookBack) : addDays(through, 1 - plan.lookBackDays)
  const oldest = addDays(today, -days.backMax)
  const begin = through === undefined ? (plan.startDate ?? next) : latest(plan.startDate ?? next, next)
  let from = latest(begin, oldest)
  if (resumed) {
    from = latest(resumed.from, from)
    // A report that was begun is read to its end, although its days may now be others.
    let first = resumed.from
    for (const [index, to] of resumed.ends.entries()) {
      yield { from: first, to, rest: resumed.ends.slice(index + 1) }
      first = addDays(to, 1)
      from = first
    }
  }
  const chunk = typeof days.chunk === 'function' ? days.chunk(plan.level) : days.chunk
  while (from <= last) {
    const end = addDays(from, chunk - 1)
    const to = end < last ? end : last
    yield { from, to, rest: [] }
    from = addDays(to, 1)
  }
}

const latest = (a: string, b: string): string => (a > b ? a : b)

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

/** Reads some days of one account. If their report is too large, it is asked for in halves, down to one day. */
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
    if (hasRows || from === to) {
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

/** Everything that the platform has of an account on some days takes the place of what it had before, unless the setting says otherwise. */
function scopeOf({ facts, plan }: ReportReading, { account, from, to }: ReportRequest): WindowScope | undefined {
  if (plan.settings.vanishedRows === 'Keep') return undefined
  const named = (is: (column: ReportColumn | undefined) => boolean): string =>
    facts.always.find((name) => is(facts.columns[name])) ?? ''
  return {
    [named((column) => column?.of === 'account')]: [account],
    ...(facts.days && { [named((column) => column?.isDay === true)]: eachDay(from, to) }),
  }
}

const isPaged = ({ facts: { report } }: ReportReading, request: ReportRequest): boolean =>
  (typeof report === 'function' ? report(request) : report).form === 'pages'

/** A position as a checkpoint has it: without what is not there. */
const stored = ({ job, cursor, skip, ids, after }: ReportPosition): { [key: string]: Json } => ({
  ...(job !== undefined && { job }),
  ...(cursor !== undefined && { cursor }),
  ...(skip !== undefined && { skip }),
  ...(ids !== undefined && { ids }),
  ...(after !== undefined && { after }),
})

const throughIn = ({ accounts: { normal = (id) => id } }: ReadFacts, value: unknown): Through =>
  Object.fromEntries(
    Object.entries(objectIn(objectIn(value).through))
      .filter(([, day]) => /^\d{4}-\d{2}-\d{2}$/.test(String(day)))
      .map(([account, day]) => [normal(account), String(day)]),
  )

function placeIn({ accounts: { normal = (id) => id } }: ReadFacts, after: Json | undefined): Place | undefined {
  const { account, from, day, ends, job, cursor, skip, ids, after: behind } = objectIn(after)
  // Checkpoints of version 0.1.0 have the one day of a report.
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

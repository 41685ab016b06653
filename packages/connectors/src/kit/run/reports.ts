import {
  asConnectorError,
  type Cell,
  type CheckStep,
  type Chunk,
  type ConnectorContext,
  ConnectorError,
  checkSteps,
  type Json,
  type Row,
  type SourceContext,
  type SourceReader,
  type Values,
} from '@penstock/connector'
import { assertConnectivity } from '../../platform-api/call.ts'
import type { PlatformClient } from '../../platform-api/client.ts'
import { isObject, type JsonObject, objectIn, textIn } from '../../platform-api/json.ts'
import { pagesOf, pollUntilDone } from '../../platform-api/polling.ts'
import type { ReportColumn, ReportRequest, ReportSource } from '../report-facts.ts'
import { openApi } from './open-api.ts'

/** Where reading resumes: on a day of an account, in a job that runs already, on one of its pages. */
type Place = {
  readonly account: string
  readonly day: string
  readonly job?: string | undefined
  readonly cursor?: string | undefined
}

/** The last day of each account that was read. */
type Through = Readonly<Record<string, string>>

const accountsMax = 1_000
/** How often a job is started again that the platform dropped. */
const startsMax = 3
/** Errors of one account, which stop no other. */
const refusedAlone = ['permission_denied', 'object_not_found', 'account_restricted'] as const

/** Opens a reader of the reports of all accounts of a connection, account after account and day after day. */
export async function openReports(facts: ReportSource, context: SourceContext): Promise<SourceReader> {
  const plan = planOf(facts, context.settings)
  const client = await openApi(context, facts.platformApi, facts.auth)
  return {
    read: (after) => readReports(facts, context, client, plan, after),
    close: async () => {},
  }
}

type Plan = {
  readonly accounts: readonly string[]
  readonly level: string
  readonly breakdowns: readonly string[]
  readonly metrics: readonly string[]
  readonly columns: readonly string[]
  readonly startDate: string | undefined
  readonly endDate: string | undefined
  readonly lookBackDays: number
}

function planOf(facts: ReportSource, settings: Values): Plan {
  const { accounts: about, levels, always, usualMetrics, days } = facts
  const accounts = [
    ...new Set(
      String(settings.accountIds ?? '')
        .split(/[\s,;]+/)
        .filter(Boolean),
    ),
  ]
  const strange = accounts.find((account) => !about.id.test(account))
  if (accounts.length === 0 || accounts.length > accountsMax || strange !== undefined) {
    const message = `${about.label} must be 1 to ${accountsMax} IDs, separated by commas, such as ${about.example}.`
    throw new ConnectorError('invalid_setting', message)
  }
  const chosen = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])
  const level = textIn(settings.level) ?? Object.keys(levels)[0] ?? ''
  const breakdowns = chosen(settings.breakdowns)
  const metrics = chosen(settings.metrics).length > 0 ? chosen(settings.metrics) : usualMetrics
  const [startDate, endDate] = [textIn(settings.startDate), textIn(settings.endDate)]
  if (startDate !== undefined && endDate !== undefined && endDate < startDate) {
    throw new ConnectorError('invalid_setting', 'The last day must not be before the first day.')
  }
  return {
    accounts,
    level,
    breakdowns,
    metrics,
    columns: [...new Set([...always, ...(levels[level] ?? []), ...breakdowns, ...metrics])],
    startDate,
    endDate,
    lookBackDays: Number(settings.lookBackDays ?? days.lookBack),
  }
}

async function* readReports(
  facts: ReportSource,
  context: SourceContext,
  client: PlatformClient,
  plan: Plan,
  after: Json | undefined,
): AsyncGenerator<Chunk> {
  const through: Record<string, string> = { ...throughIn(context.cursor) }
  const before = { ...through }
  const place = placeIn(after)
  if (isObject(after)) Object.assign(through, throughIn(after))
  const from = place ? Math.max(0, plan.accounts.indexOf(place.account)) : 0
  let failure: ConnectorError | undefined
  let seen = place !== undefined
  for (const account of plan.accounts.slice(from)) {
    try {
      const zone = await zoneOf(facts, client, account, context)
      const here = place?.account === account ? place : undefined
      for (const day of daysOf(facts, plan, before[account], zone, here?.day, context.sample !== undefined)) {
        const to: ReportRequest = { ...plan, account, day, context }
        const resumed = here?.day === day ? here : undefined
        for await (const { rows, bytes, checkpoint, isLast } of readDay(facts, client, plan, to, resumed)) {
          seen = true
          if (isLast) through[account] = day
          yield {
            columns: plan.columns,
            rows,
            bytes,
            checkpoint: { ...checkpoint, through },
            cursor: { through: { ...through } },
          }
        }
      }
    } catch (error) {
      const refused = asConnectorError(error)
      if (!refused || !refusedAlone.some((code) => code === refused.code)) throw error
      failure ??= refused
      if (plan.accounts.length === 1) throw error
      yield refusedAccount(facts, plan, account, refused, through)
    }
  }
  if (!seen && failure) throw failure
}

/** An account that cannot be read stops no other one: it is a row that is rejected, with the reason. */
function refusedAccount(
  { platformApi: { name } }: ReportSource,
  plan: Plan,
  account: string,
  { message }: ConnectorError,
  through: Through,
): Chunk {
  const at = plan.accounts.indexOf(account)
  const next = plan.accounts[at + 1] ?? account
  return {
    columns: plan.columns,
    rows: [plan.columns.map(() => null)],
    errors: new Map([[0, `The account ${account} of ${name} was not read. ${message}`]]),
    bytes: 0,
    checkpoint: { account: next, day: next === account ? '9999-12-31' : '', through },
  }
}

async function zoneOf(
  { accounts }: ReportSource,
  client: PlatformClient,
  account: string,
  context: ConnectorContext,
): Promise<string> {
  const zone = accounts.zoneOf(await client.askObject(accounts.get(account, context))) ?? 'UTC'
  try {
    new Intl.DateTimeFormat('en-CA', { timeZone: zone })
    return zone
  } catch {
    return 'UTC'
  }
}

/** The days to read of an account, the first ones first. In a sample, yesterday alone. */
function* daysOf(
  { days }: ReportSource,
  plan: Plan,
  through: string | undefined,
  zone: string,
  resumed: string | undefined,
  isSample: boolean,
): Generator<string> {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date())
  const last = plan.endDate !== undefined && plan.endDate < today ? plan.endDate : today
  if (isSample) return yield plan.endDate === last ? last : addDays(today, -1)
  const begin = plan.startDate ?? addDays(today, -days.lookBack)
  // The days that the platform restates are read again.
  const next = through === undefined ? begin : addDays(through, 1 - plan.lookBackDays)
  const oldest = addDays(today, -days.backMax)
  let day = [begin, next, oldest, resumed ?? ''].reduce((a, b) => (a > b ? a : b))
  for (; day <= last; day = addDays(day, 1)) yield day
}

/** @param day YYYY-MM-DD */
const addDays = (day: string, count: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + count * 86_400_000).toISOString().slice(0, 10)

type DayPage = {
  readonly rows: Row[]
  readonly bytes: number
  readonly checkpoint: { [key: string]: Json }
  readonly isLast: boolean
}

/** Reads the report of one day of one account. A job that runs already is read, not started once more. */
async function* readDay(
  facts: ReportSource,
  client: PlatformClient,
  plan: Plan,
  to: ReportRequest,
  place: Place | undefined,
): AsyncGenerator<DayPage> {
  const { account, day } = to
  let started = place?.job
  if (started === undefined) {
    started = await startJob(facts, client, to)
    // No rows yet; but after a crash, the job is found.
    yield { rows: [], bytes: 0, checkpoint: { account, day, job: started }, isLast: false }
  }
  const job = await finishedJob(facts, client, to, started)
  const readPage = async (cursor: string | undefined) => {
    const answer = await client.askObject(facts.job.page(job, cursor, to))
    return { items: facts.job.rows(answer), next: facts.job.next(answer), bytes: Buffer.byteLength(answer.text) }
  }
  // Pages of a job that was started again are others.
  const cursor = job === place?.job ? place.cursor : undefined
  for await (const { items, next, bytes } of pagesOf(readPage, cursor)) {
    const rows = items.map((item) => rowOf(facts, plan.columns, item))
    const isLast = next === undefined
    const checkpoint = isLast ? { account, day: addDays(day, 1) } : { account, day, job, cursor: next }
    yield { rows, bytes, checkpoint, isLast }
  }
}

async function startJob(
  { job, platformApi: { name } }: ReportSource,
  client: PlatformClient,
  to: ReportRequest,
): Promise<string> {
  const id = job.started(await client.askObject({ method: 'POST', ...job.start(to) }))
  if (id !== undefined) return id
  throw new ConnectorError('malformed_response', `${name} did not return the ID of the report.`)
}

/** Waits until a job is done, and resolves with its ID: that of another one if the platform dropped it. */
async function finishedJob(
  facts: ReportSource,
  client: PlatformClient,
  to: ReportRequest,
  started: string,
): Promise<string> {
  const { job, platformApi } = facts
  let id = started
  for (let starts = 0; ; starts++) {
    const state = await pollUntilDone(
      `The report of ${platformApi.name}`,
      async () => {
        const found = await stateOf(facts, client, to, id)
        return found === 'running' ? undefined : found
      },
      { totalMs: job.totalMs, signal: to.context.signal },
    )
    if (state === 'done') return id
    if (state === 'failed' || starts === startsMax) {
      throw new ConnectorError(
        'platform_error',
        `${platformApi.name} could not make the report of the account ${to.account} for ${to.day}.`,
      )
    }
    id = await startJob(facts, client, to)
  }
}

async function stateOf({ job }: ReportSource, client: PlatformClient, to: ReportRequest, id: string) {
  try {
    return job.stateOf(await client.askObject(job.state(id, to)))
  } catch (error) {
    if (asConnectorError(error)?.code === 'object_not_found') return 'gone'
    throw error
  }
}

function rowOf({ columns }: ReportSource, names: readonly string[], item: JsonObject): Cell[] {
  return names.map((name) => cellOf(columns[name]?.type ?? 'text', item[name]))
}

/** A missing figure is null, and not zero. Numbers keep all their digits. */
function cellOf(type: ReportColumn['type'], value: unknown): Cell {
  if (value === undefined || value === null || value === '') return null
  if (type === 'json' || typeof value === 'object') return JSON.stringify(value)
  const text = String(value)
  const number = Number(text)
  const isExact = type === 'whole' && /^-?\d+$/.test(text) && Number.isSafeInteger(number)
  return isExact ? number : text
}

const throughIn = (value: unknown): Through =>
  Object.fromEntries(
    Object.entries(objectIn(objectIn(value).through)).filter(([, day]) => /^\d{4}-\d{2}-\d{2}$/.test(String(day))),
  ) as Through

function placeIn(after: Json | undefined): Place | undefined {
  const { account, day, job, cursor } = objectIn(after)
  if (typeof account !== 'string' || typeof day !== 'string') return undefined
  return { account, day, job: textIn(job), cursor: textIn(cursor) }
}

/** The check of a source of reports: whether the platform answers, knows the credentials, and lets them read reports. */
export const checkReports = (facts: ReportSource, context: ConnectorContext): Promise<readonly CheckStep[]> =>
  checkSteps(
    ['connectivity', (one) => assertConnectivity(one, `${new URL(facts.platformApi.baseUrl).origin}/`)],
    [
      'authentication',
      async (one) => {
        const client = await openApi(one, facts.platformApi, facts.auth)
        await client.askObject(facts.check.authentication(one))
        return `${facts.platformApi.name} accepts the credentials.`
      },
    ],
    [
      'permissions',
      async (one) => {
        const client = await openApi(one, facts.platformApi, facts.auth)
        if (facts.check.permissions) {
          const lacking = facts.check.lacks?.(await client.askObject(facts.check.permissions(one)))
          if (lacking !== undefined) throw new ConnectorError('permission_denied', lacking)
        }
        if (one.settings.accountIds === undefined) return 'The credentials may read reports.'
        const { accounts } = planOf(facts, one.settings)
        for (const account of accounts.slice(0, checkedMax)) await client.askObject(facts.accounts.get(account, one))
        return 'The credentials may read reports, and have access to the accounts.'
      },
    ],
  )(context)

/** A check looks at so many accounts. */
const checkedMax = 10

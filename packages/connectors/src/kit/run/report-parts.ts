import { cursorsOf, type Division, type DivisionBounds, type Json, type SourceContext } from '@penstock/connector'
import { objectIn } from '../../platform-api/json.ts'
import { todayIn } from '../report-days.ts'
import type { ReadFacts } from '../report-facts.ts'
import { accountOf, isRefusedAlone, listedAccounts } from './report-accounts.ts'
import { type DayRange, unitsOf } from './report-ranges.ts'
import type { ReportReading } from './report-reading.ts'
import { scopeColumns } from './report-scope.ts'

/** Reports in parts: each part has some accounts, or some days of them, and all days of a window. */

/** The last day of each account that was read. */
export type Through = Readonly<Record<string, string>>

/** An account of a part. @param days its days in the part; all if absent */
export type PartAccount = { readonly account: string; readonly days?: DayRange }

export type ReportsPart = {
  readonly accounts: readonly PartAccount[]
  /** When the transfer was divided, in milliseconds: all parts have the same today. */
  readonly began: number
  /** Whether the connection reads only this account. Then a refusal is the error of the transfer. */
  readonly alone: boolean
}

/** Accounts of a part, at least: a part is a job of a worker. */
const accountsMin = 2
/** Reports of a part, at least, if accounts are divided by days. */
const reportsMin = 4

/** A part, by the key that `divideReports` gave it. */
export const partIn = (key: Json): ReportsPart => key as ReportsPart

/**
 * Divides the reports of a connection: by accounts if it has several for each reader, otherwise by days.
 * @param named the accounts that the connection names; if empty, the platform lists them
 * @param through the last day of each account that was read
 * @returns `undefined` if that is one part, or if the platform allows only one reader
 */
export async function divideReports(
  reading: ReportReading,
  context: SourceContext,
  named: readonly string[],
  through: Through,
  { partsMax }: DivisionBounds,
): Promise<Division | undefined> {
  const { facts, cells } = reading
  const readers = Math.min(facts.readers ?? 1, partsMax)
  if (readers < 2) return undefined
  const began = Date.now()
  const all = named.length > 0 ? named : await listedAccounts(reading, context)
  const byDays = facts.days !== undefined && all.length < accountsMin * readers
  if (!byDays) await assertOneOpens(reading, context, all)
  const units = byDays ? await reportsOf(reading, context, all, through, began) : all.map((account) => ({ account }))
  const count = Math.min(readers, Math.floor(units.length / (byDays ? reportsMin : accountsMin)))
  if (count < 2) return undefined
  const parts = Array.from({ length: count }, (_, at) => {
    const own = units.slice(Math.floor((at * units.length) / count), Math.floor(((at + 1) * units.length) / count))
    const accounts = joined(own)
    const part: ReportsPart = { accounts, began, alone: all.length === 1 }
    return { key: part as unknown as Json, name: nameOf(accounts), share: own.length / units.length }
  })
  return { parts, apart: scopeColumns(facts), columns: async () => cells.names }
}

/** The reports of all accounts, one after the other. Of an account that is refused, nothing is known. */
async function reportsOf(
  reading: ReportReading,
  context: SourceContext,
  accounts: readonly string[],
  through: Through,
  began: number,
): Promise<PartAccount[]> {
  const units: PartAccount[] = []
  const refusals: unknown[] = []
  for (const account of accounts) {
    try {
      const { zone } = await accountOf(reading, account, context)
      const found = unitsOf(reading, { through: through[account], today: todayIn(zone, began) })
      for (const { from, to } of found) units.push({ account, days: { from, to } })
    } catch (error) {
      if (!(await isRefusedAlone(reading, context, error))) throw error
      units.push({ account })
      refusals.push(error)
    }
  }
  if (refusals.length > 0 && refusals.length === accounts.length) throw refusals[0]
  return units
}

/** Fails with the first refusal if all accounts are refused: a part does not know how other parts end. */
async function assertOneOpens(reading: ReportReading, context: SourceContext, accounts: readonly string[]) {
  let failure: unknown
  for (const account of accounts) {
    try {
      await accountOf(reading, account, context)
      return
    } catch (error) {
      if (!(await isRefusedAlone(reading, context, error))) throw error
      failure ??= error
    }
  }
  throw failure
}

/** The same reports, with days of an account that follow each other as one range. */
function joined(units: readonly PartAccount[]): readonly PartAccount[] {
  const accounts: PartAccount[] = []
  for (const unit of units) {
    const last = accounts.at(-1)
    if (last?.account === unit.account && last.days && unit.days) {
      accounts[accounts.length - 1] = { account: unit.account, days: { from: last.days.from, to: unit.days.to } }
    } else {
      accounts.push(unit)
    }
  }
  return accounts
}

function nameOf(accounts: readonly PartAccount[]): string {
  const [first, last] = [accounts[0], accounts.at(-1)]
  const days = first?.days && accounts.length === 1 ? `, ${first.days.from} to ${first.days.to}` : ''
  return first === last ? `${first?.account}${days}` : `${first?.account} to ${last?.account}`
}

/** The last day of each account that a cursor or a checkpoint says. */
export const throughIn = ({ accounts: { normal = (id) => id } }: ReadFacts, value: unknown): Through =>
  Object.fromEntries(
    Object.entries(objectIn(objectIn(value).through))
      .filter(([, day]) => /^\d{4}-\d{2}-\d{2}$/.test(String(day)))
      .map(([account, day]) => [normal(account), String(day)]),
  )

/** The accounts that were refused in a part, as its cursor or checkpoint says. */
export const refusedIn = (value: unknown): readonly string[] => {
  const { refused } = objectIn(value)
  return Array.isArray(refused) ? refused.map(String) : []
}

/**
 * The last day of each account that was read, by the cursor of the transfer before. If parts read days of the same account, it is the
 * latest day, but if the account was refused in some of them, the earliest of theirs: behind it, days can be missing.
 */
export function throughOf(facts: ReadFacts, cursor: Json | undefined): Through {
  const through: Record<string, string> = {}
  const refused = new Map<string, string>()
  for (const one of cursorsOf(cursor)) {
    const own = throughIn(facts, one)
    for (const account of refusedIn(one)) {
      const [day, other] = [own[account] ?? '', refused.get(account)]
      refused.set(account, other === undefined || day < other ? day : other)
    }
    for (const [account, day] of Object.entries(own)) if (day > (through[account] ?? '')) through[account] = day
  }
  for (const [account, day] of refused) {
    if (day === '') delete through[account]
    else through[account] = day
  }
  return through
}

import { ConnectorError, type Values } from '@penstock/connector'
import { textIn } from '../../platform-api/json.ts'
import type { ReportColumn } from '../report-columns.ts'
import type { FreeNames, ReadFacts, ReportChoice, ReportRequest } from '../report-facts.ts'

/** The data that a connection reads, by its settings. */
export type ReportPlan = ReportChoice & {
  /** The columns of a row, in their order, by the names that the destination sees. */
  readonly columns: ReadonlyMap<string, ReportColumn>
  /** The columns by which the rows of all days and accounts differ. */
  readonly key: readonly string[]
  readonly startDate: string | undefined
  readonly endDate: string | undefined
  readonly lookBackDays: number
}

/** The facts, with the changes that the settings make. Throws `invalid_setting`. */
export function factsFor(stated: ReadFacts, settings: Values): ReadFacts {
  const { days = stated.days, ...others } = stated.changed?.(settings) ?? {}
  const { days: _, ...rest } = { ...stated, ...others }
  return days === 'none' || days === undefined ? rest : { ...rest, days }
}

const accountsMax = 1_000
/** A checkpoint has the last day of each account, and is bounded. */
const accountBytesMax = 10_240

/** Reads the settings. Throws `invalid_setting`. */
export function planOf(facts: ReadFacts, settings: Values): ReportPlan {
  const { levels, always, presets, days, free = {} } = facts
  const preset = presets[textIn(settings.preset) ?? ''] ?? Object.values(presets)[0]
  const level = textIn(settings.level) ?? preset?.level ?? Object.keys(levels)[0] ?? ''
  const ofLevel = levels[level]
  if (!ofLevel) throw new ConnectorError('invalid_setting', `The level ${level} does not exist. Choose another level.`)
  const [otherBreakdowns, otherMetrics] = [
    freeNames(free.breakdowns, settings.otherBreakdowns),
    freeNames(free.metrics, settings.otherMetrics),
  ]
  const breakdowns = chosen(settings.breakdowns, otherBreakdowns, preset?.breakdowns)
  const metrics = chosen(settings.metrics, otherMetrics, preset?.metrics)
  const names = [...always, ...ofLevel.key, ...(ofLevel.columns ?? []), ...breakdowns, ...metrics]
  const columns = new Map(
    names.map((name) => {
      const column =
        facts.columns[name] ??
        (otherMetrics.includes(name)
          ? freeColumn('metric', name, free.metrics)
          : freeColumn('dimension', name, free.breakdowns))
      if (column.levels && !column.levels.includes(level)) throw notOfLevel(name, level, column.levels)
      return [name, column]
    }),
  )
  const [startDate, endDate] = [textIn(settings.startDate), textIn(settings.endDate)]
  if (startDate !== undefined && endDate !== undefined && endDate < startDate) {
    throw new ConnectorError('invalid_setting', 'The last day must not be before the first day.')
  }
  const choice = { level, breakdowns, metrics, settings }
  const refused = facts.refuses?.(choice)
  if (refused !== undefined) throw new ConnectorError('invalid_setting', refused)
  const usual = always.filter((name) => facts.columns[name]?.of === 'account' || facts.columns[name]?.isDay)
  return {
    ...choice,
    columns,
    key: [...new Set([...usual, ...ofLevel.key, ...breakdowns])],
    startDate,
    endDate,
    lookBackDays: Number(settings.lookBackDays ?? days?.lookBack ?? 0),
  }
}

/** The choice of a connection, or the preset's choice if it chose nothing. */
function chosen(listed: unknown, entered: readonly string[], usual: readonly string[] = []): readonly string[] {
  const own = [...(Array.isArray(listed) ? listed.map(String) : []), ...entered]
  return own.length > 0 ? [...new Set(own)] : usual
}

const notOfLevel = (name: string, level: string, levels: readonly string[]) =>
  new ConnectorError(
    'invalid_setting',
    `${name} is not a column of the level ${level}. Choose the level ${levels.join(' or ')}.`,
  )

function freeNames(facts: FreeNames | undefined, value: unknown): readonly string[] {
  if (!facts) return []
  const names = facts.spaced ? listed(value) : namesIn(value)
  const strange = names.find((name) => !facts.pattern.test(name))
  if (strange === undefined && names.length <= 100) return names
  const message = `${facts.label} must be at most 100 names of the platform, separated by commas, such as ${facts.example}.`
  throw new ConnectorError('invalid_setting', message)
}

const freeColumn = (kind: ReportColumn['kind'], name: string, facts: FreeNames | undefined): ReportColumn => ({
  kind,
  type: facts?.type ?? (kind === 'metric' ? 'decimal' : 'text'),
  description: '',
  ...(facts?.at && { at: facts.at(name) }),
})

/** Texts that are separated by commas, semicolons or spaces, each once. */
const namesIn = (value: unknown): string[] => [
  ...new Set(
    String(value ?? '')
      .split(/[\s,;]+/)
      .filter(Boolean),
  ),
]

/** Texts with spaces that are separated by commas or semicolons, each once. */
const listed = (value: unknown): string[] => [
  ...new Set(
    String(value ?? '')
      .split(/[,;]/)
      .map((name) => name.trim())
      .filter(Boolean),
  ),
]

/** The accounts that a connection names. Empty if it reads all. Throws `invalid_setting`. */
export function namedAccounts({ accounts: { normal = (id) => id, ...about } }: ReadFacts, settings: Values): string[] {
  const entered = namesIn(settings.accountIds)
  const accounts = [...new Set(entered.map(normal))]
  const strange = entered.find((account) => !about.id.test(account))
  if ((accounts.length === 0 && !about.all) || strange !== undefined) {
    const message = `${about.label} must be 1 to ${accountsMax} IDs, separated by commas, such as ${about.example}.`
    throw new ConnectorError('invalid_setting', message)
  }
  return bounded(about.label, accounts)
}

/** The accounts, if they are not too many for one connection. */
export function bounded(label: string, accounts: string[]): string[] {
  const bytes = accounts.reduce((sum, account) => sum + Buffer.byteLength(account) + 16, 0)
  if (accounts.length <= accountsMax && bytes <= accountBytesMax) return accounts
  const message = `${label}: one connection cannot read ${accounts.length} accounts. Create several connections, each with a part of the accounts.`
  throw new ConnectorError('invalid_setting', message)
}

/** The platform's names of the requested columns. @param metrics the metrics of this request */
export function asksOf(facts: ReadFacts, plan: ReportPlan, metrics: readonly string[]): ReportRequest['asks'] {
  const asked = (names: readonly string[]): readonly string[] => [
    ...new Set(
      names.flatMap((name) => {
        const { ask } = plan.columns.get(name) as ReportColumn
        return ask === null ? [] : [ask ?? name]
      }),
    ),
  ]
  const level = facts.levels[plan.level]
  return {
    always: asked(facts.always),
    level: asked([...(level?.key ?? []), ...(level?.columns ?? [])]),
    breakdowns: asked(plan.breakdowns),
    metrics: asked(metrics),
  }
}

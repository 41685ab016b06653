import { operatorActor } from '../audit/record.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Logger } from '../log.ts'
import type { FiguresRow } from '../organizations/limit-queries.ts'
import { errorOfLimit, figuresOf, limitsOf, setLimit } from '../organizations/limits.ts'
import { print, printTable } from './print.ts'
import { withRuntime } from './runtime.ts'

/** The figures and the limits of organizations, for the operator. */

type Json = { json?: boolean }

const shown = (row: FiguresRow) => ({
  organizationId: row.id,
  name: row.name,
  accounts: row.accounts,
  connections: {
    'In-progress': row.inProgress,
    active: row.active,
    broken: row.broken,
    offline: row.offline,
    disabled: row.disabled,
    deleted: row.deleted,
  },
  schedules: row.schedules,
  transfers: { running: row.transfersRunning, queued: row.transfersQueued },
  rowsThisMonth: row.rowsThisMonth,
  uploads: row.uploads,
  bytes: { rejects: row.rejectBytes, uploads: row.uploadBytes, digests: row.digestBytes, logs: row.logBytes },
})

/** Counts by kind in one cell, without zeros. */
const inWords = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ') || '0'

const flat = (row: FiguresRow) => {
  const { connections, transfers, bytes, ...rest } = shown(row)
  return {
    ...rest,
    connections: inWords(connections),
    transfers: inWords(transfers),
    bytes: inWords(bytes),
  }
}

/** `penstock org list --figures`. */
export async function listFigures(config: Config, log: Logger, json: boolean): Promise<void> {
  const rows = await withRuntime(config, log, ({ database }) => figuresOf(database, null))
  printTable(json ? rows.map(shown) : rows.map(flat), json, 'There is no organization yet.')
}

export async function showOrganizationCommand(config: Config, log: Logger, id: string, { json }: Json): Promise<void> {
  const { row, limits } = await withRuntime(config, log, async ({ database }) => {
    const [found] = await figuresOf(database, id)
    return { row: found, limits: await limitsOf(database, config, id) }
  })
  if (!row) return
  const value = {
    ...shown(row),
    limits: limits.map(({ name, max, own, setting, what }) => ({ limit: name, value: max, own, setting, what })),
  }
  const figures = Object.entries(flat(row)).map(([key, of]) => `${key.padEnd(17)}${of}`)
  const ofLimits = limits.map(({ name, max, setting, what, own }) => {
    const amount = max === 0 ? 'no limit' : String(max)
    return `limit ${name.padEnd(16)}${amount.padEnd(12)}${what} (${own ? 'set for this organization' : setting})`
  })
  print(value, json, [...figures, ...ofLimits].join('\n'))
}

export async function limitOrganizationCommand(
  config: Config,
  log: Logger,
  organizationId: string,
  name: string,
  text: string,
  { json }: Json,
): Promise<void> {
  const value = text === 'default' ? null : /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  const error = errorOfLimit(name, value)
  if (error !== undefined) throw new ConfigError([error])
  const actor = operatorActor()
  const changed = await withRuntime(config, log, ({ database }) =>
    database.transaction((tx) => setLimit(tx, { organizationId, name, value }, actor), actor),
  )
  const is = value === null ? 'the setting' : value
  const words = changed ? 'is now' : 'was already'
  print(
    { organizationId, limit: name, value, changed },
    json,
    `The limit ${name} of organization ${organizationId} ${words} ${is}.`,
  )
}

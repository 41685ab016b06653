import { transferStatuses } from '@penstock/wire'
import { operatorActor } from '../audit/record.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Logger } from '../log.ts'
import type { OperatorFilter } from '../transfers/list-queries.ts'
import {
  cancelTransferOfOperator,
  findTransferOfOperator,
  listTransfersOfOperator,
  type OperatorTransfer,
} from '../transfers/operator.ts'
import { print, printTable } from './print.ts'
import { withRuntime } from './runtime.ts'

/** `penstock transfer`: the transfers of all organizations, for the operator. */

type Json = { json?: boolean }
type ListOptions = Json & {
  status?: string[]
  organization?: string
  account?: string
  connection?: string
  worker?: string
  olderThan?: string
  limit?: string
}

const limitMax = 10_000
const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 }
const active = ['queued', 'running'] as const
const words = [...transferStatuses, 'active', 'retrying', 'all']

/** @throws ConfigError that lists every wrong option */
function readFilter(options: ListOptions): OperatorFilter {
  const { status = ['active'], olderThan = '0s', limit = '100' } = options
  const errors: string[] = []
  for (const word of status) {
    if (!words.includes(word)) errors.push(`The status ${word} does not exist. Choose one of ${words.join(', ')}.`)
  }
  const age = /^(\d{1,6})([smhd])$/.exec(olderThan)
  if (!age) errors.push('--older-than must be a number with a unit, such as 90s, 15m, 2h or 7d.')
  const most = /^\d{1,5}$/.test(limit) ? Number(limit) : 0
  if (most < 1 || most > limitMax) errors.push(`--limit must be a whole number from 1 to ${limitMax}.`)
  if (errors.length > 0) throw new ConfigError(errors)
  const isNamed = (name: (typeof transferStatuses)[number]) =>
    status.includes(name) ||
    status.includes('all') ||
    (active.some((each) => each === name) && (status.includes('active') || status.includes('retrying')))
  return {
    statuses: transferStatuses.filter(isNamed),
    retrying: status.every((word) => word === 'retrying'),
    organizationId: options.organization ?? null,
    accountId: options.account ?? null,
    connectionId: options.connection ?? null,
    worker: options.worker ?? null,
    olderThanSeconds: Number(age?.[1]) * unitSeconds[(age?.[2] ?? 's') as keyof typeof unitSeconds],
    limit: most,
  }
}

const rounded = (seconds: number | null) => (seconds === null ? null : Math.round(seconds))

const shown = (row: OperatorTransfer) => ({
  transferId: row.id,
  organizationId: row.organizationId,
  accountId: row.accountId,
  connectionId: row.connectionId,
  status: row.status,
  trigger: row.trigger,
  attempt: row.attempt,
  worker: row.worker,
  heartbeatSeconds: rounded(row.heartbeatSeconds),
  read: row.read,
  accepted: row.accepted,
  rejected: row.rejected,
  createdTime: row.createdTime.toISOString(),
  waitsFor: row.waitsFor,
})

export async function listTransfersCommand(config: Config, log: Logger, options: ListOptions): Promise<void> {
  const filter = readFilter(options)
  const rows = await withRuntime(config, log, ({ database }) => listTransfersOfOperator(database, filter, config))
  printTable(rows.map(shown), options.json, 'There are no such transfers.')
}

export async function showTransferCommand(config: Config, log: Logger, id: string, { json }: Json): Promise<void> {
  const { transfer, parts } = await withRuntime(config, log, ({ database }) =>
    findTransferOfOperator(database, id, config),
  )
  const value = {
    ...shown(transfer),
    connection: transfer.connection,
    cancelling: transfer.cancelling,
    error: transfer.errorCode === null ? null : { code: transfer.errorCode, message: transfer.errorMessage },
    startedTime: transfer.startedTime?.toISOString() ?? null,
    finishedTime: transfer.finishedTime?.toISOString() ?? null,
    parts: parts.map((part) => ({ ...part, heartbeatSeconds: rounded(part.heartbeatSeconds) })),
  }
  const cell = (of: unknown) => {
    if (of === null) return '-'
    return typeof of === 'object' ? JSON.stringify(of) : String(of)
  }
  const { parts: listed, error, ...single } = value
  const entries = Object.entries({ ...single, error: error && `${error.code}: ${error.message}` })
  const lines = entries.map(([key, of]) => `${key.padEnd(18)}${cell(of)}`)
  const ofParts = listed.map(
    ({ number, ...part }) =>
      `part ${number}: ${Object.entries(part)
        .map(([key, of]) => `${key} ${cell(of)}`)
        .join(', ')}`,
  )
  print(value, json, [...lines, ...ofParts].join('\n'))
}

export async function cancelTransferCommand(config: Config, log: Logger, id: string, { json }: Json): Promise<void> {
  const actor = operatorActor()
  const { status, changed } = await withRuntime(config, log, ({ database }) =>
    database.transaction((tx) => cancelTransferOfOperator(tx, id, actor), actor),
  )
  const ends = changed ? 'will be cancelled at the end of its batch' : 'is being cancelled already'
  const text = status === 'cancelled' ? 'is cancelled' : ends
  print({ transferId: id, status, changed }, json, `Transfer ${id} ${text}.`)
}

import type { AuditActor } from '@penstock/wire'
import { record } from '../audit/record.ts'
import type { Config } from '../config.ts'
import type { Db, Transaction } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import * as queries from './limit-queries.ts'
import { organizationExists } from './queries.ts'

/**
 * The limits of an organization: the settings, or what the operator set for this organization
 * (`org limit`). Every rule that refuses because of one asks here.
 */

type Definition = {
  /** The setting with the limit for organizations without their own limit. */
  readonly setting: string
  /** What is counted, in the words that the operator sees. */
  readonly what: string
  /** Whether 0 means no limit. Other limits are at least 1. */
  readonly zeroIsNone: boolean
  readonly of: (config: LimitSettings) => number
}
export type LimitSettings = Pick<Config, 'quotas' | 'transfers'>

const mib = 1024 ** 2

export const limitDefinitions = {
  accounts: {
    setting: 'PENSTOCK_QUOTA_ACCOUNTS',
    what: 'sub-accounts',
    zeroIsNone: false,
    of: ({ quotas }) => quotas.accounts,
  },
  connections: {
    setting: 'PENSTOCK_QUOTA_CONNECTIONS',
    what: 'connections of one sub-account',
    zeroIsNone: false,
    of: ({ quotas }) => quotas.connections,
  },
  schedules: {
    setting: 'PENSTOCK_QUOTA_SCHEDULES',
    what: 'enabled schedules',
    zeroIsNone: false,
    of: ({ quotas }) => quotas.enabledSchedules,
  },
  transfers: {
    setting: 'PENSTOCK_QUOTA_TRANSFERS',
    what: 'concurrent transfers; more of them wait',
    zeroIsNone: true,
    of: ({ transfers }) => transfers.perOrganization,
  },
  'rows-per-month': {
    setting: 'PENSTOCK_QUOTA_ROWS_PER_MONTH',
    what: 'rows delivered in a calendar month, UTC',
    zeroIsNone: true,
    of: ({ quotas }) => quotas.rowsPerMonth,
  },
  'requests-per-minute': {
    setting: 'PENSTOCK_QUOTA_REQUESTS_PER_MINUTE',
    what: 'requests in a minute to one API process, of all clients and people',
    zeroIsNone: true,
    of: ({ quotas }) => quotas.requestsPerMinute,
  },
  'upload-files': {
    setting: 'PENSTOCK_QUOTA_UPLOAD_FILES',
    what: 'uploaded files',
    zeroIsNone: false,
    of: ({ quotas }) => quotas.uploadFiles,
  },
  'uploads-mb': {
    setting: 'PENSTOCK_QUOTA_UPLOADS_MB',
    what: 'MiB of uploaded files',
    zeroIsNone: false,
    of: ({ quotas }) => quotas.uploadsMb,
  },
  'rejects-mb': {
    setting: 'PENSTOCK_QUOTA_REJECTS_MB',
    what: 'MiB of values of rejected records',
    zeroIsNone: false,
    of: ({ quotas }) => quotas.rejectsMb,
  },
  'digests-mb': {
    setting: 'PENSTOCK_QUOTA_DIGESTS_MB',
    what: 'MiB of digests of sent rows',
    zeroIsNone: false,
    of: ({ quotas }) => quotas.digestsMb,
  },
} as const satisfies Record<string, Definition>

export type LimitName = keyof typeof limitDefinitions
const limitNames = Object.keys(limitDefinitions) as LimitName[]
const valueMax = 1_000_000_000_000

/** A limit as it applies to one organization. */
export type Limit = {
  readonly max: number
  /** The source of the limit: a setting, or the command of the operator. */
  readonly setting: string
}

/** The setting or the command that sets a limit of an organization. @param isOwn whether the operator set it for this organization */
export const settingOf = (name: LimitName, isOwn: boolean): string =>
  isOwn ? `the command \`org limit ${name}\` of Penstock` : limitDefinitions[name].setting

const limitOf = (name: LimitName, own: number | undefined, config: LimitSettings): Limit => ({
  max: own ?? limitDefinitions[name].of(config),
  setting: settingOf(name, own !== undefined),
})

export const findLimit = async (
  db: Db,
  config: LimitSettings,
  organizationId: string,
  name: LimitName,
): Promise<Limit> => limitOf(name, (await queries.findLimit.first(db, { organizationId, name }))?.value, config)

/** The same in bytes, of a limit in MiB. */
async function findLimitInBytes(
  db: Db,
  config: LimitSettings,
  organizationId: string,
  name: LimitName & `${string}-mb`,
): Promise<Limit> {
  const { max, setting } = await findLimit(db, config, organizationId, name)
  return { max: max * mib, setting }
}

/** Refuses with `quota_exceeded` an upload that would exceed the files or the bytes of its organization. Uploads of it wait here. */
export async function requireUploadCapacity(
  tx: Transaction,
  config: LimitSettings,
  { organizationId, sizeBytes }: { organizationId: string; sizeBytes: number },
): Promise<void> {
  await queries.holdLimit.first(tx, { organizationId, name: 'uploads' })
  const files = await findLimit(tx, config, organizationId, 'upload-files')
  const bytes = await findLimitInBytes(tx, config, organizationId, 'uploads-mb')
  const kept = (await queries.keptUploads.first(tx, { organizationId })) ?? { files: 0, bytes: 0 }
  const refuseMore = (most: string, setting: string) =>
    refuse('quota_exceeded', [
      {
        field: 'uploads',
        message: `the organization keeps at most ${most}; ${setting} sets it: delete files that are not needed, or wait until they expire`,
      },
    ])
  if (kept.files >= files.max) refuseMore(`${files.max} uploaded files`, files.setting)
  if (kept.bytes + sizeBytes > bytes.max) refuseMore(`${bytes.max / mib} MiB of uploaded files`, bytes.setting)
}

/** Organizations that cannot start a transfer this month, with the reason in words. */
export async function withoutRows(
  db: Db,
  { quotas }: Pick<Config, 'quotas'>,
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(organizationIds)]
  const rows = await queries.withoutRows.all(db, { organizationIds: ids, rowsMax: quotas.rowsPerMonth })
  return new Map(
    rows.map(({ organizationId, rows: used, rowsMax, own }) => {
      const words = `the organization delivered ${used} of ${rowsMax} rows this month (UTC); ${settingOf('rows-per-month', own)} sets it: a transfer can start next month`
      return [organizationId, words]
    }),
  )
}

/** Refuses with `quota_exceeded` if the organization has delivered its rows of this month. A transfer that is active continues. */
export async function requireRowsLeft(db: Db, config: Pick<Config, 'quotas'>, organizationId: string): Promise<void> {
  const message = (await withoutRows(db, config, [organizationId])).get(organizationId)
  if (message !== undefined) refuse('quota_exceeded', [{ field: 'id', message }])
}

/** Bytes that an organization can still store. 0 if it stores more than its limit. */
export async function bytesLeft(
  db: Db,
  config: LimitSettings,
  organizationId: string,
  name: 'rejects-mb' | 'digests-mb',
): Promise<Limit & { left: number }> {
  const limit = await findLimitInBytes(db, config, organizationId, name)
  const kept = name === 'rejects-mb' ? queries.keptRejectBytes : queries.keptDigestBytes
  const { bytes = 0 } = (await kept.first(db, { organizationId })) ?? {}
  return { ...limit, left: Math.max(0, limit.max - bytes) }
}

// For the operator

/** The error of a limit. Undefined if it is valid. @param value null: the limit of the settings */
export function errorOfLimit(name: string, value: number | null): string | undefined {
  if (!isLimit(name)) return `The limit ${name} does not exist. Choose one of ${limitNames.join(', ')}.`
  if (value === null) return undefined
  const min = limitDefinitions[name].zeroIsNone ? 0 : 1
  if (Number.isInteger(value) && value >= min && value <= valueMax) return undefined
  const none = min === 0 ? ' (0 is no limit)' : ''
  return `The limit ${name} must be a whole number from ${min} to ${valueMax}${none}, or default.`
}

const isLimit = (name: string): name is LimitName => Object.hasOwn(limitDefinitions, name)

/** Sets or resets a limit of an organization. @returns whether that changes anything. @throws if the organization is unknown */
export async function setLimit(
  tx: Transaction,
  { organizationId, name, value }: { organizationId: string; name: string; value: number | null },
  actor: AuditActor,
): Promise<boolean> {
  if (!(await organizationExists.first(tx, { id: organizationId }))) throw unknownOrganization(organizationId)
  await queries.holdLimit.first(tx, { organizationId, name })
  const was = (await queries.findLimit.first(tx, { organizationId, name }))?.value ?? null
  if (was === value) return false
  if (value === null) await queries.dropLimit.run(tx, { organizationId, name })
  else await queries.saveLimit.run(tx, { organizationId, name, value })
  await queries.announceLimit.first(tx, {})
  record(tx, {
    organizationId,
    actor,
    action: 'org limit',
    targetId: organizationId,
    before: { [name]: was },
    after: { [name]: value },
  })
  return true
}

const unknownOrganization = (id: string) =>
  new Error(`The organization ${id} does not exist. penstock org list shows all organizations.`)

/** The figures of organizations, all of them unless one is named. @throws if that one is unknown */
export async function figuresOf(db: Db, organizationId: string | null): Promise<queries.FiguresRow[]> {
  const rows = await queries.figuresOf.all(db, { organizationId })
  if (organizationId !== null && rows.length === 0) throw unknownOrganization(organizationId)
  return rows
}

/** All limits of an organization, with what sets each. */
export async function limitsOf(
  db: Db,
  config: LimitSettings,
  organizationId: string,
): Promise<(Limit & { name: LimitName; what: string; own: boolean })[]> {
  const own = new Map((await queries.listLimits.all(db, { organizationId })).map(({ name, value }) => [name, value]))
  return limitNames.map((name) => ({
    ...limitOf(name, own.get(name), config),
    name,
    what: limitDefinitions[name].what,
    own: own.has(name),
  }))
}

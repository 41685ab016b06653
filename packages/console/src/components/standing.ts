import type { ConnectionStatus, ScheduleEntry, Transfer, TransferErrorCode, transferErrors } from '@penstock/wire'

/**
 * How a connection, its last transfer, its next one and a configuration are doing. Every screen derives it here, so that a list,
 * a page and a menu show the same word for the same facts. The words are in `strings/standing.ts`.
 */

/** The status of a connection as people see it: an active connection fails if its newest transfer does. */
export type Standing = ConnectionStatus | 'failing'
export const standings = [
  ...(['In-progress', 'active', 'failing', 'broken'] as const),
  ...(['offline', 'disabled', 'deleted'] as const),
] satisfies readonly Standing[]

/** The facts of a transfer that count. A test is not one: it does not change how a connection is doing. */
export type Told = Pick<Transfer, 'status' | 'error'>

const isActive = ({ status }: Told): boolean => status === 'queued' || status === 'running'

/** How the newest transfer went; `retrying` after a temporary error. */
export type LastResult = Transfer['status'] | 'retrying' | 'never'
export function lastResultOf(transfer: Told | null | undefined): LastResult {
  if (!transfer) return 'never'
  return isActive(transfer) && transfer.error ? 'retrying' : transfer.status
}

/** @param transfer the newest one, if there is one and it is known */
export function standingOf(status: ConnectionStatus, transfer: Told | null | undefined): Standing {
  if (status !== 'active') return status
  const result = lastResultOf(transfer)
  return result === 'failed' || result === 'retrying' ? 'failing' : 'active'
}

/** Codes after which credentials must be replaced, or a click must connect again. */
type CredentialsCode = {
  [Code in TransferErrorCode]: (typeof transferErrors)[Code]['action'] extends 'reauthenticate' ? Code : never
}[TransferErrorCode]
const credentials: Readonly<Record<CredentialsCode, true>> = { invalid_credentials: true, expired_credentials: true }
/** Whether a person must accept something before a transfer can succeed. */
const decisions: readonly string[] = ['columns_changed', 'confirmation_needed'] satisfies readonly TransferErrorCode[]

export const refusesCredentials = (transfer: Told | null | undefined): boolean =>
  transfer?.status === 'failed' && Object.hasOwn(credentials, transfer.error?.code ?? '')

export const waitsForDecision = (transfer: Told | null | undefined): boolean =>
  transfer?.status === 'failed' && decisions.includes(transfer.error?.code ?? '')

/** When the next transfer starts. `seconds` since 1970. */
export type NextRun =
  | { readonly kind: 'scheduled'; readonly seconds: number }
  | {
      readonly kind:
        | 'now'
        | 'retry'
        | 'decision'
        | 'credentials'
        | 'cause'
        | 'activation'
        | 'answer'
        | 'enabling'
        | 'never'
        | 'paused'
        | 'manual'
    }

/** @param schedule undefined: there is none, or it is not known */
export function nextRunOf(
  status: ConnectionStatus,
  transfer: Told | null | undefined,
  schedule: Pick<ScheduleEntry, 'enabled' | 'paused' | 'nextTime'> | null | undefined,
): NextRun {
  if (status === 'deleted') return { kind: 'never' }
  if (transfer && isActive(transfer)) return { kind: transfer.error ? 'retry' : 'now' }
  if (status === 'In-progress') return { kind: 'activation' }
  if (status === 'disabled') return { kind: 'enabling' }
  if (status === 'offline') return { kind: 'answer' }
  if (status === 'broken') return { kind: refusesCredentials(transfer) ? 'credentials' : 'cause' }
  if (waitsForDecision(transfer)) return { kind: 'decision' }
  if (!schedule) return { kind: 'manual' }
  if (!schedule.enabled || schedule.paused || schedule.nextTime === null) return { kind: 'paused' }
  return { kind: 'scheduled', seconds: schedule.nextTime }
}

/** How the pipe of a connection is drawn. Only `flows` moves. */
export type PipeState = 'open' | 'flows' | 'waits' | 'closed' | 'dashed'
export function pipeOf(status: ConnectionStatus, transfer: Told | null | undefined): PipeState {
  if (status === 'In-progress' || status === 'deleted') return 'dashed'
  if (status !== 'active' || waitsForDecision(transfer)) return 'closed'
  const result = lastResultOf(transfer)
  if (result === 'failed') return 'closed'
  return result === 'running' ? 'flows' : result === 'retrying' ? 'waits' : 'open'
}

/** Whether a configuration is known to work. */
export type ConfigurationStanding = 'missing' | 'unchecked' | 'works' | 'failed'
/** A check, or a transfer that used the configuration. `time` in seconds since 1970; `why` says how it failed. */
export type Evidence = { readonly ok: boolean; readonly time: number; readonly why?: string }

/**
 * The newest evidence decides. Evidence from before the configuration was saved says nothing about it.
 * @param savedTime in seconds since 1970; undefined: unknown, so that all evidence counts
 */
export function configurationStandingOf(
  configured: boolean,
  savedTime: number | undefined,
  evidence: readonly (Evidence | undefined)[],
): { standing: ConfigurationStanding; why: string | undefined } {
  const newest = newestOf(evidence.filter((one) => one && (savedTime === undefined || one.time >= savedTime)))
  const standing = !configured ? 'missing' : newest === undefined ? 'unchecked' : newest.ok ? 'works' : 'failed'
  return { standing, why: standing === 'failed' ? newest?.why : undefined }
}

const newestOf = (evidence: readonly (Evidence | undefined)[]): Evidence | undefined =>
  evidence.reduce((newest, one) => (one && (!newest || one.time > newest.time) ? one : newest), undefined)

/** Codes of errors that the configuration of a side causes, as opposed to one table or the rows. */
export const configurationCodes: readonly TransferErrorCode[] = [
  ...(['account_restricted', 'address_not_allowed', 'certificate_not_trusted', 'clock_skewed'] as const),
  ...(['expired_credentials', 'host_key_not_trusted', 'host_not_found', 'insecure_address'] as const),
  ...(['invalid_address', 'invalid_credentials', 'not_supported', 'path_not_allowed', 'permission_denied'] as const),
  ...(['terms_not_accepted', 'unreachable', 'wrong_protocol'] as const),
]

/** Whether the configuration of a side caused an error. */
export const blamesConfiguration = (error: Transfer['error'] | undefined): boolean =>
  configurationCodes.some((code) => code === error?.code)

/** The evidence of the newest transfer about the configuration of a side; undefined: none. */
export function evidenceOf(
  transfer: (Told & Pick<Transfer, 'finishedTime'>) | null | undefined,
  side: 'source' | 'destination',
): Evidence | undefined {
  if (!transfer || transfer.finishedTime === null) return undefined
  const { status, error, finishedTime: time } = transfer
  if (status === 'succeeded' || status === 'partial') return { ok: true, time }
  const isBlamed = status === 'failed' && error?.side === side && blamesConfiguration(error)
  return isBlamed ? { ok: false, time, why: error.message } : undefined
}

/** The identifiers of the configurations of both sides of a connection, as far as they are known. */
export type UsedConfigurations = { readonly id: string } & Readonly<
  Record<'source' | 'destination', string | undefined>
>
type Ended = Told & Pick<Transfer, 'connectionId' | 'finishedTime'>

/** The newest evidence of transfers about each configuration, by its identifier. */
export function evidenceByConfiguration(
  connections: readonly UsedConfigurations[],
  transfers: readonly Ended[],
): ReadonlyMap<string, Evidence> {
  const used = new Map(connections.map((one) => [one.id, one]))
  const found = new Map<string, Evidence>()
  for (const transfer of transfers) {
    for (const side of ['source', 'destination'] as const) {
      const configuration = used.get(transfer.connectionId)?.[side]
      if (configuration === undefined) continue
      const newest = newestOf([found.get(configuration), evidenceOf(transfer, side)])
      if (newest) found.set(configuration, newest)
    }
  }
  return found
}

/** Whether a transfer says nothing about one of the sides, so that the transfers before it decide how that side is doing. */
export const isSilent = (transfer: Ended): boolean =>
  !evidenceOf(transfer, 'source') || !evidenceOf(transfer, 'destination')

import { type AttentionEntry, type AttentionReason, attentionReasons } from '@penstock/wire'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { useRead } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { count } from '../../components/numbers.ts'
import { pathOf } from '../../shell/account.ts'
import { overview as say } from '../../strings/overview.ts'
import { configureAt } from '../connectors/of-account.ts'
import { type Reconnect, refusedSide } from '../connectors/reconnect.tsx'
import { groupedMax, useFailing } from '../failing/use-failing.ts'
import { blamedSide } from '../transfer/blame.ts'
import { ownStep } from '../transfer/next-steps.ts'

/** Problems, each with one action. */

export const attentionSize = 10
const namedConnectorsMax = 5
const againMs = 30_000

export type Kind = AttentionReason | 'connector'
export type Concern = {
  key: string
  kind: Kind
  /** Name of the affected resource, and its address. */
  name: string
  to: string
  accountName?: string
  why: string
  /** The one thing to do. */
  action: { label: string; to: string }
  /** Where a platform no longer accepts the credentials: what it takes to connect again, if that needs a click alone. */
  refused?: Omit<ComponentProps<typeof Reconnect>, 'children'>
}
export type Attention = {
  concerns: readonly Concern[]
  /** Connections on all pages. */
  total: number
  /** Connectors without a configuration that are not named, and the way to them. */
  moreConnectors: { n: number; to: string } | undefined
}

/** The reason that the address asks for. */
export const useReason = (): AttentionReason | undefined => reasonOf(useAddress())
export const reasonOf = ({ value }: Pick<ListAddress, 'value'>): AttentionReason | undefined =>
  attentionReasons.find((one) => one === value('reason'))

/** A page of what needs attention. Without a reason, failing connections are grouped above these. */
export const attentionOf = (accountId: string | undefined, reason: AttentionReason | undefined, page: number) => ({
  accountId,
  query: { reason, size: attentionSize, offset: page * attentionSize, ...(reason ? {} : { failing: false }) },
})

/** The connectors of a sub-account that are not configured: the first few, and how many there are. */
export const useBareConnectors = (accountId: string | undefined) =>
  useRead('listAddedConnectors', bareConnectorsOf(accountId ?? ''), { enabled: accountId !== undefined })
export const bareConnectorsOf = (accountId: string) => ({
  accountId,
  query: { configured: false, size: namedConnectorsMax },
})

/** The page of what needs attention that the address names. After the last connection come connectors, of a sub-account. */
export function useAttention(accountId: string | undefined): UseQueryResult<Attention, Error> {
  const { page } = useAddress()
  const reason = useReason()
  const attention = useRead('listAttention', attentionOf(accountId, reason, page), {
    againAfterMs: againMs,
    keep: true,
  })
  const bare = useBareConnectors(accountId)
  const isRead = attention.data !== undefined && (accountId === undefined || bare.data !== undefined || bare.isError)
  const concerns = attention.data?.reply.map((entry) => ofEntry(entry, accountId === undefined)) ?? []
  const total = attention.data?.total ?? 0
  const isLast = (page + 1) * attentionSize >= total
  const { connectors, more } = bare.data && isLast && !reason ? ofBare(bare.data, accountId, concerns) : none
  const data = isRead ? { concerns: [...concerns, ...connectors], total, moreConnectors: more } : undefined
  return { ...attention, data } as UseQueryResult<Attention, Error>
}

/** Whether all that the list needs is known, or could not be read: what is beneath it does not move any more. */
export function useIsListed(accountId: string | undefined): boolean {
  const reason = useReason()
  const attention = useAttention(accountId)
  const failing = useFailing(accountId, { size: groupedMax, enabled: reason === undefined })
  const isKnown = reason !== undefined || failing.data !== undefined || failing.isError
  return isKnown && (attention.data !== undefined || attention.isError)
}

const none = { connectors: [], more: undefined }

const configureOf = (accountId: string | undefined, connectorId: string, configurationId: string | null = null) =>
  pathOf(accountId, configureAt(connectorId, configurationId ?? undefined))

/** The configuration of a side of a connection; null: the first one of its connector. */
const configurationOf = (entry: AttentionEntry, side: AttentionEntry['src']) =>
  side === entry.src ? entry.srcConfigurationId : entry.destConfigurationId

/** The problem of a connection, with its action. @param namesAccount whether the page is about several sub-accounts */
export function ofEntry(entry: AttentionEntry, namesAccount: boolean): Concern {
  const kind = entry.reasons[0] ?? 'not_configured'
  const to = pathOf(entry.accountId, `connections/${entry.id}`)
  const side = refusedSide(entry, entry.lastTransfer)
  return {
    key: entry.id,
    kind,
    name: entry.name,
    to,
    ...(namesAccount ? { accountName: entry.accountName } : {}),
    ...whatToDo(kind, entry, to),
    ...(side ? { refused: { connection: entry, side, failedTime: entry.lastTransfer?.finishedTime ?? null } } : {}),
  }
}

function whatToDo(kind: AttentionReason, entry: AttentionEntry, to: string): Pick<Concern, 'why' | 'action'> {
  const { accountId, lastTransfer: transfer } = entry
  const error = transfer?.error
  const ofTransfer = { to: `${to}/transfers/${transfer?.id}` }
  switch (kind) {
    case 'broken':
    case 'offline': {
      const failure = transfer?.status === 'failed' ? error : null
      const side = blamedSide(entry, failure)
      const words = say[kind]
      return {
        why: failure?.message ?? words.why,
        // A click leads where the error is repaired: a table that is not there is no matter of the connector.
        action:
          ownStep(failure, entry) ??
          (side
            ? {
                label: words.action(side.connectorName),
                to: configureOf(accountId, side.connectorId, configurationOf(entry, side)),
              }
            : { label: say.lookInto, to }),
      }
    }
    case 'transfer_failed':
      return { why: error?.message ?? say.failedWhy, action: { label: say.failedDo, ...ofTransfer } }
    case 'transfer_retrying':
      return { why: error?.message ?? say.failedWhy, action: { label: say.retryingDo, ...ofTransfer } }
    case 'transfer_partial': {
      const { rejected = 0, read = 0 } = transfer?.records ?? {}
      return {
        why: say.partialWhy(count(rejected), count(read)),
        action: { label: say.partialDo, ...ofTransfer },
      }
    }
    case 'dependency_failed':
      return { why: say.dependencyWhy, action: { label: say.lookInto, to } }
    case 'log_kept':
      return { why: say.logWhy, action: { label: say.lookInto, to } }
    case 'not_configured': {
      const side = entry.src.configured ? entry.dest : entry.src
      const { connectorId, connectorName } = side
      return {
        why: say.unfinishedWhy(connectorName),
        action: {
          label: say.unfinishedDo(connectorName),
          to: configureOf(accountId, connectorId, configurationOf(entry, side)),
        },
      }
    }
  }
}

type Bare = NonNullable<ReturnType<typeof useBareConnectors>['data']>

function ofBare({ reply, total }: Bare, accountId: string | undefined, concerns: readonly Concern[]) {
  const connectors = reply.flatMap(({ connectorId, name }): Concern[] => {
    const to = configureOf(accountId, connectorId)
    // Each action is shown once.
    if (concerns.some(({ action }) => action.to === to)) return []
    const action = { label: say.connectorDo(name), to }
    return [{ key: connectorId, kind: 'connector', name, to, why: say.connectorWhy, action }]
  })
  const n = total - reply.length
  return { connectors, more: n > 0 ? { n, to: pathOf(accountId, 'connectors') } : undefined }
}

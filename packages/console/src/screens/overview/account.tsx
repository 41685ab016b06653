import { Box, Grid } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import type { ListAddress } from '../../components/address.ts'
import { Failure } from '../../components/failure.tsx'
import { count } from '../../components/numbers.ts'
import { Page } from '../../components/page.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { useAccount } from '../../shell/account.ts'
import { connections } from '../../strings/connections.ts'
import { overview as say } from '../../strings/overview.ts'
import { useFailedCount } from '../connectors/use-standing.ts'
import { bareConnectorsOf, useBareConnectors, useIsListed } from './attention.ts'
import { ByStatus, totalOf, useCounts } from './by-status.tsx'
import { Figures } from './figures.tsx'
import { figuresOf, Moved, useMoved } from './moved.tsx'
import { NeedsAttention } from './needs-attention.tsx'
import { readOverview } from './read-overview.ts'
import { Start } from './start.tsx'

const addedOf = (accountId: string) => ({ accountId, query: { size: 1 } })

export const readAhead = (accountId = '', address: ListAddress) =>
  Promise.all([
    readOnce('listAddedConnectors', addedOf(accountId)),
    readOnce('listAddedConnectors', bareConnectorsOf(accountId)),
    readOverview(accountId, address),
  ])

/** How one sub-account is doing. */
export function Component() {
  const { accountId, account } = useAccount()
  const added = useRead('listAddedConnectors', addedOf(accountId))
  const bare = useBareConnectors(accountId)
  const { counts, error } = useCounts(accountId)
  const moved = useMoved(accountId)
  const isListed = useIsListed(accountId)
  const addedTotal = added.data?.total
  const bareTotal = bare.data?.total
  const connectionsTotal = counts && totalOf(counts)
  const isKnown = counts !== undefined && addedTotal !== undefined && bareTotal !== undefined
  const isNew = isKnown && connectionsTotal === 0 && counts.deleted === 0
  const failedCount = useFailedCount(accountId)
  const forbidden = useForbidden('createConnection')
  const failure = added.error ?? bare.error ?? error
  const base = `/accounts/${accountId}`
  const configured = (addedTotal ?? 0) - (bareTotal ?? 0)
  return (
    <Page
      title={account?.name ?? say.title}
      actions={
        // Not offered before it is known whether it stays, or a click would be lost; its place is kept.
        !isNew && (
          <Box style={isKnown || failure ? undefined : { visibility: 'hidden' }}>
            <ReasonedButton
              to={`${base}/connections/new`}
              leftSection={<IconPlus size={18} aria-hidden />}
              reason={forbidden}
            >
              {connections.new}
            </ReasonedButton>
          </Box>
        )
      }
    >
      {failure && <Failure error={failure} onRetry={() => void added.refetch()} />}
      {failure && !counts ? null : isNew ? (
        <Start
          to={`${base}/start`}
          steps={[
            { ...say.steps.connectors, to: `${base}/catalogue`, isDone: addedTotal > 0 },
            { ...say.steps.configure, to: `${base}/connectors`, isDone: configured > 0 && bareTotal === 0 },
            { ...say.steps.connection, to: `${base}/connections/new`, isDone: false },
          ]}
        />
      ) : (
        <>
          <Figures
            figures={[
              {
                label: say.connections,
                value: connectionsTotal === undefined ? undefined : count(connectionsTotal),
                note: counts && say.active(count(counts.active)),
                to: `${base}/connections`,
              },
              {
                label: say.connectors,
                value: addedTotal === undefined ? undefined : count(addedTotal),
                note:
                  bareTotal === undefined
                    ? undefined
                    : bareTotal > 0
                      ? say.notConfigured(count(bareTotal))
                      : failedCount > 0
                        ? say.checksFailed(failedCount, count(failedCount))
                        : say.allConfigured,
                to: `${base}/connectors`,
              },
              ...figuresOf(accountId, moved.data),
            ]}
          />
          <NeedsAttention accountId={accountId} />
          {/* Beneath a list of unknown length: what is shown before the list would move. */}
          {isListed && (
            <Grid>
              <Grid.Col span={{ base: 12, lg: 8 }}>
                <Moved accountId={accountId} moved={moved} />
              </Grid.Col>
              <Grid.Col span={{ base: 12, lg: 4 }}>
                <ByStatus accountId={accountId} counts={counts} />
              </Grid.Col>
            </Grid>
          )}
        </>
      )}
    </Page>
  )
}

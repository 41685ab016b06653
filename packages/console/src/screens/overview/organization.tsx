import { Grid } from '@mantine/core'
import { readOnce, useRead } from '../../api/queries.ts'
import type { ListAddress } from '../../components/address.ts'
import { Failure } from '../../components/failure.tsx'
import { count } from '../../components/numbers.ts'
import { Page } from '../../components/page.tsx'
import { overview as say } from '../../strings/overview.ts'
import { useIsListed } from './attention.ts'
import { ByStatus, totalOf, useCounts } from './by-status.tsx'
import { Figures } from './figures.tsx'
import { figuresOf, Moved, useMoved } from './moved.tsx'
import { NeedsAttention } from './needs-attention.tsx'
import { readOverview } from './read-overview.ts'
import { Start } from './start.tsx'

const accountsOf = { query: { size: 1 } }

export const readAhead = (_: unknown, address: ListAddress) =>
  Promise.all([readOnce('listAccounts', accountsOf), readOverview(undefined, address)])

/** How the whole organization is doing. */
export function Component() {
  const accounts = useRead('listAccounts', accountsOf)
  const { counts, error } = useCounts(undefined)
  const moved = useMoved(undefined)
  const isListed = useIsListed(undefined)
  const accountsTotal = accounts.data?.total
  const connectionsTotal = counts && totalOf(counts)
  const isNew = connectionsTotal === 0 && counts?.deleted === 0 && accountsTotal !== undefined
  // With a single sub-account, the next steps link into it.
  const only = accountsTotal === 1 ? accounts.data?.reply[0] : undefined
  const failure = accounts.error ?? error
  return (
    <Page title={say.title}>
      {failure && <Failure error={failure} onRetry={() => void accounts.refetch()} />}
      {failure && !counts ? null : isNew ? (
        <Start
          to="/start"
          steps={[
            { ...say.steps.account, to: '/accounts', isDone: accountsTotal > 0 },
            { ...say.steps.connectors, to: only ? `/accounts/${only.id}/catalogue` : '/accounts', isDone: false },
            { ...say.steps.connection, to: only ? `/accounts/${only.id}/connections/new` : '/accounts', isDone: false },
          ]}
        />
      ) : (
        <>
          <Figures
            figures={[
              {
                label: say.accounts,
                value: accountsTotal === undefined ? undefined : count(accountsTotal),
                to: '/accounts',
              },
              {
                label: say.connections,
                value: connectionsTotal === undefined ? undefined : count(connectionsTotal),
                note: counts && say.active(count(counts.active)),
                to: '/connections',
              },
              ...figuresOf(undefined, moved.data),
            ]}
          />
          <NeedsAttention accountId={undefined} />
          {/* Beneath a list of unknown length: what is shown before the list would move. */}
          {isListed && (
            <Grid>
              <Grid.Col span={{ base: 12, lg: 8 }}>
                <Moved accountId={undefined} moved={moved} />
              </Grid.Col>
              <Grid.Col span={{ base: 12, lg: 4 }}>
                <ByStatus accountId={undefined} counts={counts} />
              </Grid.Col>
            </Grid>
          )}
        </>
      )}
    </Page>
  )
}

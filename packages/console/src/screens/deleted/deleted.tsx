import { Alert, Badge, Box, Button, Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type Connection, limits } from '@penstock/wire'
import { IconPlugOff, IconRestore } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useForbidden, useMe } from '../../api/me.ts'
import { readOnce, useRead, useWrite } from '../../api/queries.ts'
import { AccountName } from '../../components/account-name.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { Failure } from '../../components/failure.tsx'
import { notifyDone } from '../../components/notify.ts'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { foundOf } from '../../components/pager.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { NameLink, ResourceTable } from '../../components/resource-table.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Sides } from '../../components/sides.tsx'
import { Time, useNow } from '../../components/time.tsx'
import { useAccountId } from '../../shell/account.ts'
import { audit } from '../../strings/audit.ts'
import { components } from '../../strings/components.ts'
import { deleted as say } from '../../strings/deleted.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
/** From here on the time that is left is shown as short. */
const shortDays = 7

type Refusal = { connection: Connection; error: unknown }

const listOf = (accountId: string | undefined, address: ListAddress) => ({
  accountId,
  query: { ...foundOf(address), status: 'deleted' },
})
export const readAhead = (accountId: string | undefined, place: ListAddress) =>
  readOnce('listConnections', listOf(accountId, place))

/** The connections that can still be restored. */
export function Component() {
  const accountId = useAccountId()
  const address = useAddress()
  const query = useRead('listConnections', listOf(accountId, address), { keep: true })
  const q = address.value('q')
  const deletions = useDeletions(accountId)
  const restore = useWrite('restoreConnection')
  const forbidden = useForbidden('restoreConnection')
  const navigate = useNavigate()
  const [refusal, setRefusal] = useState<Refusal>()
  const bringBack = async (connection: Connection) => {
    setRefusal(undefined)
    try {
      await restore.mutateAsync({ accountId: connection.accountId, id: connection.id })
      const open = () => navigate(`/accounts/${connection.accountId}/connections/${connection.id}`)
      notifyDone(say.restored(connection.name), open, say.open)
    } catch (error) {
      setRefusal({ connection, error })
    }
  }
  return (
    <Page title={say.title} help={say.help(limits.restoreWindowDays)}>
      <Toolbar>
        <SearchBox label={say.search} />
      </Toolbar>
      {refusal && <Refused {...refusal} />}
      <ResourceTable
        label={say.title}
        layout="fixed"
        query={query}
        empty={<Empty title={q ? say.noneFound : say.none} help={q ? undefined : say.noneHelp} />}
        columns={[
          {
            header: say.name,
            cell: ({ id, accountId: ofAccount, name }) => (
              <>
                <NameLink to={`/accounts/${ofAccount}/connections/${id}`}>{name}</NameLink>
                {accountId === undefined && (
                  <Box fz="sm">
                    <AccountName accountId={ofAccount} page="deleted" />
                  </Box>
                )}
              </>
            ),
          },
          {
            header: say.sides,
            from: 'md',
            w: '28%',
            folded: ({ src, dest }) => (
              <Box c="dimmed">
                <Sides src={src} dest={dest} size={16} wraps />
              </Box>
            ),
            cell: ({ src, dest }) => <Sides src={src} dest={dest} />,
          },
          {
            header: say.deletedAt,
            from: 'lg',
            w: '18%',
            folded: true,
            cell: ({ id, updatedTime }) => (
              <>
                <Time seconds={updatedTime} />
                {deletions.get(id) && (
                  <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                    {say.by(deletions.get(id) ?? '')}
                  </Text>
                )}
              </>
            ),
          },
          {
            header: say.restorable,
            from: 'sm',
            w: 190,
            folded: true,
            cell: ({ updatedTime }) => <TimeLeft deletedTime={updatedTime} />,
          },
        ]}
        actions={(connection) => (
          <ReasonedButton
            variant="light"
            size="xs"
            leftSection={<IconRestore size={16} aria-hidden />}
            aria-label={say.restoreNamed(connection.name)}
            loading={restore.isPending && restore.variables.id === connection.id}
            reason={forbidden ?? (connection.editable ? undefined : say.otherEnvironment(connection.env))}
            onClick={() => void bringBack(connection)}
          >
            {say.restore}
          </ReasonedButton>
        )}
        actionsW={136}
      />
    </Page>
  )
}

/** Why a connection could not be restored; where a connector is missing, the way to it. */
function Refused({ connection, error }: Refusal) {
  if (!(error instanceof PenstockError && error.code === 'connector_not_added')) return <Failure error={error} />
  const blamed = new Set(error.details.map(({ field }) => field))
  const side = blamed.has('srcConnector') ? connection.src : blamed.has('destConnector') ? connection.dest : undefined
  const search = side ? `?q=${encodeURIComponent(side.connectorName)}` : ''
  return (
    <Alert color="red" icon={<IconPlugOff aria-hidden />} title={say.cannot(connection.name)} role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{say.connectorGone(side?.connectorName ?? say.anyConnector)}</Text>
        <Button
          component={Link}
          to={`/accounts/${connection.accountId}/catalogue${search}`}
          size="compact-sm"
          variant="light"
          color="red"
        >
          {say.findConnector}
        </Button>
        {error.requestId && (
          <Text size="xs" c="dimmed" ff="monospace">
            {components.requestId(error.requestId)}
          </Text>
        )}
      </Stack>
    </Alert>
  )
}

/** As many deletions are read; older ones have no name. */
const deletionsMax = 500

/**
 * The names of the people who deleted the connections, by identifier: from the audit log, for people who can read it. The time is rounded to
 * hours, so that the page does not read the log again and again.
 */
function useDeletions(accountId: string | undefined): ReadonlyMap<string, string> {
  const forbidden = useForbidden('listAudit')
  const isKnown = useMe() !== undefined
  const from = Math.floor(useNow() / hourMs) * (hourMs / 1000) - (limits.restoreWindowDays + 1) * (dayMs / 1000)
  const { data } = useRead(
    'listAudit',
    { accountId, query: { action: 'deleteConnection', from, size: deletionsMax } },
    { enabled: isKnown && forbidden === undefined },
  )
  // The newest deletion of a connection comes first.
  return new Map(
    data?.reply
      .toReversed()
      .flatMap(({ targetId, actor, outcome }) =>
        targetId && outcome === 'done' ? [[targetId, actor.name ?? audit.kind[actor.kind]]] : [],
      ),
  )
}

const untilDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** @param deletedTime seconds since 1970; nothing of a deleted connection changes after it */
function TimeLeft({ deletedTime }: { deletedTime: number }) {
  // The clock of the page may be some seconds behind.
  const days = limits.restoreWindowDays - Math.max(0, useNow() - deletedTime * 1000) / dayMs
  const until = untilDay.format(new Date(deletedTime * 1000 + limits.restoreWindowDays * dayMs))
  return (
    <>
      <Text size="sm">{say.until(until)}</Text>
      <Badge variant="dot" color={days < shortDays ? 'orange' : 'gray'} fw={500} display="flex" w="fit-content">
        {days <= 1 ? say.lastDay : say.left(Math.ceil(days))}
      </Badge>
    </>
  )
}

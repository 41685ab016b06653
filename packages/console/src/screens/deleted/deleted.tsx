import { Alert, Button, Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type Connection, limits } from '@penstock/wire'
import { IconPlugOff } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { readOnce, useRead, useWrite } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { Failure } from '../../components/failure.tsx'
import { notifyDone } from '../../components/notify.tsx'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { useAccountId } from '../../shell/account.ts'
import { components } from '../../strings/components.ts'
import { deleted as say } from '../../strings/deleted.ts'
import { DeletedTable } from './table.tsx'

type Refusal = { connection: Connection; error: unknown }

const listOf = (accountId: string | undefined, { value, page }: ListAddress) => ({
  accountId,
  query: { q: value('q') || undefined, status: 'deleted', size: pageSize, offset: page * pageSize },
})
export const readAhead = (accountId: string | undefined, place: ListAddress) =>
  readOnce('listConnections', listOf(accountId, place))

/** The connections that can still be restored. */
export function Component() {
  const accountId = useAccountId()
  const address = useAddress()
  const query = useRead('listConnections', listOf(accountId, address), { keep: true })
  const q = address.value('q')
  const restore = useWrite('restoreConnection')
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
      <PagedList
        query={query}
        empty={<Empty title={q ? say.noneFound : say.none} help={q ? undefined : say.noneHelp} />}
      >
        {(reply) => (
          <DeletedTable
            connections={reply}
            showsAccount={accountId === undefined}
            restoring={restore.isPending ? restore.variables.id : undefined}
            onRestore={(connection) => void bringBack(connection)}
          />
        )}
      </PagedList>
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

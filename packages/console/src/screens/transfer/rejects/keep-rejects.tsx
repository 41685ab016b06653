import { Anchor, Text } from '@mantine/core'
import { type Connection, rejectedRecordsConnectorId } from '@penstock/wire'
import { IconArchive } from '@tabler/icons-react'
import { Fragment } from 'react'
import { Link, useNavigate } from 'react-router'
import { useForbiddenOf } from '../../../api/me.ts'
import { useRead, useWrite } from '../../../api/queries.ts'
import { notifyFailure } from '../../../components/notify.ts'
import { ReasonedButton } from '../../../components/reasoned.tsx'
import { rejects as say } from '../../../strings/rejects.ts'
import { beginDraft } from '../../new-connection/draft.ts'
import { pathOfConnection } from '../paths.ts'

/** Connections that are named; there is usually one. */
const storesShown = 3

/** Begins a connection that writes the rejected records of this one to a store of the user, or leads to the one that does. */
export function KeepRejects({ connection: { accountId, id, name, src } }: { connection: Connection }) {
  const forbidden = useForbiddenOf()
  const add = useWrite('addConnectors')
  const navigate = useNavigate()
  const stores = useRead('listConnectionDetails', { accountId, query: { rejectsOf: id, size: storesShown } })
  // Such a connection cannot be the source of another one.
  if (src.connectorId === rejectedRecordsConnectorId) return null
  const begin = async () => {
    await add.mutateAsync({ accountId, body: { connectorIds: [rejectedRecordsConnectorId] } })
    beginDraft(accountId, rejectedRecordsConnectorId, { name: say.nameOf(name), settings: { connection: id } })
    const picks = new URLSearchParams({ source: rejectedRecordsConnectorId, step: 'destination' })
    await navigate(`/accounts/${accountId}/connections/new?${picks}`)
  }
  const kept = stores.data?.reply ?? []
  if (kept.length > 0) {
    return (
      <Text size="sm">
        {say.keptBy}{' '}
        {kept.map((store, at) => (
          <Fragment key={store.id}>
            {at > 0 && ', '}
            <Anchor component={Link} to={pathOfConnection({ accountId, connectionId: store.id })} fz="inherit">
              {store.name}
            </Anchor>
          </Fragment>
        ))}
      </Text>
    )
  }
  return (
    <ReasonedButton
      variant="default"
      size="sm"
      leftSection={<IconArchive size={16} aria-hidden />}
      reason={forbidden('createConnection') ?? forbidden('addConnectors')}
      onClick={() => void begin().catch(notifyFailure)}
    >
      {say.keep}
    </ReasonedButton>
  )
}

import { Anchor, Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type AddedConnector, limits } from '@penstock/wire'
import { useState } from 'react'
import { Link } from 'react-router'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { ConnectionBadge } from '../../components/status.tsx'
import { pathOf } from '../../shell/account.ts'
import { components } from '../../strings/components.ts'
import { connectors as say } from '../../strings/connectors.ts'
import { failures } from '../../strings/failures.ts'
import { usesOf } from './connector-table.tsx'
import { forgetCheck } from './kept-checks.ts'

const namedMax = 8

type Props = { accountId: string; connector: AddedConnector; onClose: () => void }

/** Removes a connector; where connections hold it, says which. */
export function RemoveConnector(props: Props) {
  const { accountId, connector, onClose } = props
  const remove = useWrite('removeConnector')
  const [held, setHeld] = useState(usesOf(connector) > 0)
  if (held) return <Held {...props} />
  return (
    <Confirm
      title={say.removeTitle(connector.name)}
      action={say.remove}
      {...(connector.configured ? { name: connector.name } : {})}
      onClose={onClose}
      onConfirm={async () => {
        try {
          await remove.mutateAsync({ accountId, id: connector.connectorId })
        } catch (error) {
          // A connection was made in the meantime.
          if (error instanceof PenstockError && error.code === 'connector_in_use') setHeld(true)
          throw error
        }
        forgetCheck({ accountId, connectorId: connector.connectorId })
        notifyDone(say.removed(connector.name))
      }}
    >
      {connector.configured ? say.removeHelp : say.removeHelpEmpty}
    </Confirm>
  )
}

function Held({ accountId, connector: { connectorId, name }, onClose }: Props) {
  // The list is searched by name, which can be a part of another connector's name. The matching connections are picked
  // from it.
  const query = useRead('listConnections', { accountId, query: { q: name, size: limits.pageSizeMax } })
  return (
    <Modal opened onClose={onClose} title={say.heldTitle(name)}>
      <Stack>
        <Text size="sm">{failures.message('connector_in_use')}</Text>
        <Loaded query={query} lines={2}>
          {({ reply }) => {
            const holders = reply.filter(
              ({ src, dest, deleted }) =>
                !deleted && (src.connectorId === connectorId || dest.connectorId === connectorId),
            )
            return (
              <>
                <List size="sm" listStyleType="none" spacing="xs">
                  {holders.slice(0, namedMax).map((connection) => (
                    <List.Item key={connection.id} style={{ overflowWrap: 'anywhere' }}>
                      <Group gap="xs">
                        <Anchor component={Link} to={pathOf(accountId, `connections/${connection.id}`)} fz="inherit">
                          {connection.name}
                        </Anchor>
                        <ConnectionBadge status={connection.status} />
                      </Group>
                    </List.Item>
                  ))}
                </List>
                {holders.length > namedMax && (
                  <Anchor
                    component={Link}
                    to={`${pathOf(accountId, 'connections')}?q=${encodeURIComponent(name)}`}
                    fz="sm"
                  >
                    {say.showHolders(count(holders.length))}
                  </Anchor>
                )}
              </>
            )
          }}
        </Loaded>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {components.close}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

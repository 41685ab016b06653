import { Text } from '@mantine/core'
import type { ConnectionDetails, Transfer } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'
import { connection as say } from '../../strings/connection.ts'

/** The line is among the first ones of an attempt. */
const linesRead = 50

/** Which way the rows of the latest transfer went, and why, if the destination can load files itself. */
export function RouteLine({ connection, latest }: { connection: ConnectionDetails; latest: Transfer | undefined }) {
  const { accountId, id, dest } = connection
  const definition = useRead('getConnectorDefinition', { id: dest.connectorId })
  const loads = definition.data?.reply.destination?.fields.some(({ name }) => name === 'loadFiles') ?? false
  const of = { accountId, id, transferId: latest?.id ?? '', query: { size: linesRead } }
  const log = useRead('listTransferLog', of, { enabled: loads && latest !== undefined })
  const line = log.data?.reply.findLast(({ kind }) => kind === 'route')
  if (!loads || line === undefined) return null
  return (
    <Text size="sm" c="dimmed" ta="center" mt="xs" aria-label={say.route}>
      {line.text}
    </Text>
  )
}

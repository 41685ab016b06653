import { Alert, Anchor, Text } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { IconCopyPlus } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { connection as say } from '../../strings/connection.ts'
import { type Repeats, repeatsOf } from './repeats.ts'

/** Whether every transfer of the connection would add all rows again; `undefined` if not, or not known yet. */
export function useRepeats({
  src,
  dest,
  srcConnectionConfig,
  destConnectionConfig,
}: ConnectionDetails): Repeats | undefined {
  const source = useRead('getConnectorDefinition', { id: src.connectorId }).data?.reply
  const destination = useRead('getConnectorDefinition', { id: dest.connectorId }).data?.reply
  if (!source || !destination) return undefined
  return repeatsOf(
    { definition: source.source, config: srcConnectionConfig },
    { definition: destination.destination, config: destConnectionConfig },
  )
}

/** Warns that rows are added again, and leads to the settings to change. */
export function RowsComeAgain({
  connection: { accountId, id },
  repeats,
}: {
  connection: ConnectionDetails
  repeats: Repeats
}) {
  return (
    <Alert color="yellow" icon={<IconCopyPlus aria-hidden />} title={say.rowsComeAgain} role="alert">
      <Text size="sm">{say.rowsComeAgainHelp(repeats)}</Text>
      <Anchor
        component={Link}
        size="sm"
        c="var(--mantine-color-text)"
        underline="always"
        to={`/accounts/${accountId}/connections/new?${new URLSearchParams({ connection: id, step: 'settings' })}`}
      >
        {say.changeSettings}
      </Anchor>
    </Alert>
  )
}

import { Alert, Anchor, Button, List, Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import type { ConnectionDetails } from '@penstock/wire'
import { IconClipboardList } from '@tabler/icons-react'
import { Link } from 'react-router'
import { Failure } from '../../components/failure.tsx'
import { pathOf } from '../../shell/account.ts'
import { components } from '../../strings/components.ts'
import { connection as say } from '../../strings/connection.ts'
import { configureAt } from '../connectors/of-account.ts'

/** The reason why an action was refused. Each missing value has a link to the place where the user can add it. */
export function Refusal({
  error,
  connection,
  onEdit,
  onDismiss,
}: {
  error: unknown
  connection: ConnectionDetails
  onEdit: () => void
  onDismiss: () => void
}) {
  if (!(error instanceof PenstockError && error.code === 'connection_not_ready')) {
    return (
      <Stack gap="xs" align="stretch">
        <Failure error={error} />
        <Button variant="subtle" size="compact-sm" color="gray" style={{ alignSelf: 'flex-end' }} onClick={onDismiss}>
          {say.dismiss}
        </Button>
      </Stack>
    )
  }
  return (
    <Alert
      color="yellow"
      role="alert"
      icon={<IconClipboardList aria-hidden />}
      title={say.notReady}
      withCloseButton
      closeButtonLabel={say.dismiss}
      onClose={onDismiss}
    >
      <Text size="sm">{say.notReadyHelp}</Text>
      <List size="sm" mt="xs" spacing={6}>
        {error.details.map(({ field, message }) => (
          <List.Item key={field}>
            {sentence(message)} <Fix field={field} connection={connection} onEdit={onEdit} />
          </List.Item>
        ))}
      </List>
      <Text size="xs" c="dimmed" ff="monospace" mt="sm">
        {components.requestId(error.requestId)}
      </Text>
    </Alert>
  )
}

/** The service names a connector's own configuration or the settings that the connection makes for it. */
function Fix({ field, connection, onEdit }: { field: string; connection: ConnectionDetails; onEdit: () => void }) {
  const key = /^src/.test(field) ? 'src' : 'dest'
  const side = connection[key]
  if (!/^(src|dest)Connector(\.|$)/.test(field)) {
    return (
      <Anchor component="button" type="button" fz="inherit" onClick={onEdit}>
        {say.fixSettings}
      </Anchor>
    )
  }
  return (
    <Anchor
      component={Link}
      fz="inherit"
      to={pathOf(connection.accountId, configureAt(side.connectorId, connection[`${key}ConfigurationId`]))}
    >
      {say.fixConnector(side.connectorName)}
    </Anchor>
  )
}

/** The service's messages put the field last, as in “is required: Table”: puts it first, and ends the sentence. */
function sentence(message: string): string {
  const [, label, rest] = /^(is required): (.*)$/.exec(message) ?? []
  const text = label && rest ? `${rest} ${label}` : message
  return /[.!?]$/.test(text) ? text : `${text}.`
}

import { Alert, Anchor, List, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Link } from 'react-router'
import { describe } from '../../components/describe.ts'
import { pathOf } from '../../shell/account.ts'
import { components } from '../../strings/components.ts'

/** Prefix of the fields in refusals that name connections. */
export const ofConnection = 'connection'

/** A refusal because of connections: lists them, each with a link. */
export function ConnectionsNamed({ error, accountId }: { error: unknown; accountId: string }) {
  if (!(error instanceof PenstockError)) return null
  const named = error.details.filter(({ field }) => field.startsWith(`${ofConnection}.`))
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={describe(error).title} role="alert">
      <List size="sm">
        {named.map(({ field, message }) => (
          <List.Item key={field} style={{ overflowWrap: 'anywhere' }}>
            <Anchor
              component={Link}
              to={pathOf(accountId, `connections/${field.slice(ofConnection.length + 1)}`)}
              fz="inherit"
              underline="always"
              c="inherit"
            >
              {message}
            </Anchor>
          </List.Item>
        ))}
      </List>
      <Text size="xs" c="dimmed" ff="monospace" mt="xs">
        {components.requestId(error.requestId)}
      </Text>
    </Alert>
  )
}

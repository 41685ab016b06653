import { Anchor, List } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { Link } from 'react-router'
import { pathOf } from '../../shell/account.ts'

const start = 'connection.'

/** The connections that stand in the way, as a refusal names them, each with the way to it. */
export function ConnectionsNamed({ error, accountId }: { error: unknown; accountId: string }) {
  const named = error instanceof PenstockError ? error.details.filter(({ field }) => field.startsWith(start)) : []
  if (named.length === 0) return null
  return (
    <List size="sm">
      {named.map(({ field, message }) => (
        <List.Item key={field} style={{ overflowWrap: 'anywhere' }}>
          <Anchor component={Link} to={pathOf(accountId, `connections/${field.slice(start.length)}`)} fz="inherit">
            {message}
          </Anchor>
        </List.Item>
      ))}
    </List>
  )
}

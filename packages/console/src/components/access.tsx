import { Badge, Group, Text } from '@mantine/core'
import { type Scope, userRoleNames, userRoles } from '@penstock/wire'
import { useRead } from '../api/queries.ts'
import { access as say } from '../strings/access.ts'
import { useFirst } from './use-first.tsx'

/** Permissions of a user, in words. */

const namedAccounts = 2

/** The role that has exactly these scopes. */
const roleOf = (scopes: readonly Scope[]) =>
  userRoleNames.find((role) => {
    const same: readonly Scope[] = userRoles[role]
    return same.length === scopes.length && same.every((scope) => scopes.includes(scope))
  })

/** Scopes by resource: `Connections: view, change`. */
function scopesInWords(scopes: readonly Scope[]): string {
  const verbs = new Map<keyof typeof say.resource, string[]>()
  for (const scope of scopes) {
    const [resource, verb = ''] = scope.split(':') as [keyof typeof say.resource, string]
    verbs.set(resource, [...(verbs.get(resource) ?? []), say.verb[verb] ?? verb])
  }
  return [...verbs].map(([resource, verbs]) => `${say.resource[resource]}: ${verbs.join(', ')}`).join(' · ')
}

/** @param scopes null: everything */
export function Scopes({ scopes }: { scopes: readonly Scope[] | null }) {
  const role = scopes && roleOf(scopes)
  return (
    <Text span size="sm" title={role ? say.asRole(say.role[role]) : undefined}>
      {scopes === null ? say.everything : role ? say.role[role] : scopesInWords(scopes)}
    </Text>
  )
}

/** The sub-accounts that someone is limited to, by name. @param accountIds null: all */
export function LimitedTo({ accountIds }: { accountIds: readonly string[] | null }) {
  const { shown, more } = useFirst(accountIds ?? [], namedAccounts)
  if (accountIds === null) {
    return (
      <Text span size="sm">
        {say.allAccounts}
      </Text>
    )
  }
  return (
    <Group gap={4} component="span">
      {shown.map((accountId) => (
        <Named key={accountId} accountId={accountId} />
      ))}
      {more}
    </Group>
  )
}

function Named({ accountId }: { accountId: string }) {
  const { data } = useRead('getAccount', { id: accountId })
  // A deleted sub-account has no name any more.
  return (
    <Badge variant="default" maw={180} fw={500}>
      {data?.reply.name ?? accountId}
    </Badge>
  )
}

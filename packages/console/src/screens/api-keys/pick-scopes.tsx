import { Button, Checkbox, Fieldset, Group, Radio, SimpleGrid, Stack, Text } from '@mantine/core'
import { type Scope, scopeNames, scopes as scopeTexts, userRoleNames, userRoles } from '@penstock/wire'
import { useMe } from '../../api/me.ts'
import { access } from '../../strings/access.ts'
import { apiKeys as say } from '../../strings/api-keys.ts'

type Resource = keyof typeof access.resource
const resources = Object.keys(access.resource) as Resource[]
const scopesOf = (resource: Resource) => scopeNames.filter((scope) => scope.startsWith(`${resource}:`))

/** No one gives what they may not do themselves. @param own null: everything */
const grantable = (scopes: readonly Scope[], own: readonly Scope[] | null) =>
  scopes.filter((scope) => own === null || own.includes(scope))

/** Asks for every scope or for chosen ones, each with what it means. `value` is null for every scope. */
export function PickScopes({
  value,
  error,
  onChange,
}: {
  value: readonly Scope[] | null
  error: string | undefined
  onChange: (scopes: readonly Scope[] | null) => void
}) {
  const own = useMe()?.scopes ?? null
  return (
    <Radio.Group
      label={say.scopes}
      value={value === null ? 'all' : 'chosen'}
      onChange={(choice) => onChange(choice === 'all' ? null : grantable(userRoles.viewer, own))}
      error={error}
    >
      <Stack gap="xs" mt={6} mb={error ? 6 : 0}>
        <Radio
          value="all"
          label={access.everything}
          description={own === null ? say.everythingHelp : access.notHigher}
          disabled={own !== null}
        />
        <Radio value="chosen" label={say.chosen} />
        {value !== null && <Chosen value={value} own={own} onChange={onChange} />}
      </Stack>
    </Radio.Group>
  )
}

function Chosen({
  value,
  own,
  onChange,
}: {
  value: readonly Scope[]
  own: readonly Scope[] | null
  onChange: (scopes: readonly Scope[]) => void
}) {
  const toggle = (scope: Scope, on: boolean) =>
    onChange(scopeNames.filter((one) => (one === scope ? on : value.includes(one))))
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Text size="sm" c="dimmed">
          {say.startFrom}
        </Text>
        {userRoleNames.toReversed().map((role) => (
          <Button
            key={role}
            size="compact-xs"
            variant="default"
            onClick={() => onChange(grantable(userRoles[role], own))}
          >
            {access.role[role]}
          </Button>
        ))}
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        {resources.map((resource) => (
          <Fieldset
            key={resource}
            legend={access.resource[resource]}
            p="sm"
            pt={4}
            styles={{ legend: { fontSize: 'var(--mantine-font-size-sm)', fontWeight: 550 } }}
          >
            <Stack gap="xs">
              {scopesOf(resource).map((scope) => (
                <Checkbox
                  key={scope}
                  size="sm"
                  label={scope}
                  description={scopeTexts[scope]}
                  disabled={own !== null && !own.includes(scope)}
                  checked={value.includes(scope)}
                  onChange={({ currentTarget }) => toggle(scope, currentTarget.checked)}
                  styles={{ label: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
                />
              ))}
            </Stack>
          </Fieldset>
        ))}
      </SimpleGrid>
    </Stack>
  )
}

import { Radio, Stack } from '@mantine/core'
import { type UserRole, userRoles } from '@penstock/wire'
import { useMe } from '../api/me.ts'
import { access } from '../strings/access.ts'
import { people as say } from '../strings/people.ts'

/** Asks for a role; none that may do more than the one who is signed in. */
export function PickRole<Role extends UserRole>({
  value,
  roles,
  onChange,
}: {
  value: Role
  /** Those to choose from. */
  roles: readonly Role[]
  onChange: (role: Role) => void
}) {
  const scopes = useMe()?.scopes
  const isGrantable = (role: UserRole) =>
    scopes === null ||
    scopes === undefined ||
    (role !== 'owner' && userRoles[role].every((scope) => scopes.includes(scope)))
  return (
    <Radio.Group label={say.role} value={value} onChange={(role) => onChange(role as Role)}>
      <Stack gap="xs" mt={6}>
        {roles.toReversed().map((role) => (
          <Radio
            key={role}
            value={role}
            label={access.role[role]}
            description={isGrantable(role) ? say.roleHelp[role] : access.notHigher}
            disabled={!isGrantable(role)}
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}

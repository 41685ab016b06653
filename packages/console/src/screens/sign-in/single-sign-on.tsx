import { Button, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { addressOf } from '../../base-path.ts'
import { session as say } from '../../strings/session.ts'

/** Leads to the identity provider of an organization. The provider leads back, to a page that takes the session over. */
export function SingleSignOn() {
  const [open, setOpen] = useState(false)
  const [organizationId, setOrganizationId] = useState('')
  if (!open) {
    return (
      <Button variant="default" fullWidth onClick={() => setOpen(true)}>
        {say.withSingleSignOn}
      </Button>
    )
  }
  const leave = () => window.location.assign(addressOf(`/sso/${encodeURIComponent(organizationId.trim())}`))
  return (
    <Group align="flex-end" gap="sm" wrap="nowrap">
      <TextInput
        flex={1}
        autoFocus
        label={say.organizationId}
        description={say.organizationIdHelp}
        spellCheck={false}
        autoComplete="organization"
        value={organizationId}
        onChange={({ currentTarget }) => setOrganizationId(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (organizationId.trim() !== '') leave()
        }}
      />
      <Button disabled={organizationId.trim() === ''} onClick={leave}>
        {say.continue}
      </Button>
    </Group>
  )
}

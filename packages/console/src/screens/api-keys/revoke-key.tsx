import { Text } from '@mantine/core'
import type { Client } from '@penstock/wire'
import { sessionStore } from '../../api/session.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { apiKeys as say } from '../../strings/api-keys.ts'

/** Revokes client credentials, after saying what ends with them. */
export function RevokeKey({ client, onClose }: { client: Client; onClose: () => void }) {
  const name = client.name ?? client.id
  return (
    <ConfirmWrite
      title={say.revokeTitle(name)}
      action={say.revoke}
      operation="revokeClient"
      parameters={{ id: client.id }}
      done={say.revoked(name)}
      onClose={onClose}
    >
      {say.revokeHelp}
      {client.id === sessionStore.read() && (
        <Text size="sm" fw={600} mt="sm">
          {say.ownSession}
        </Text>
      )}
    </ConfirmWrite>
  )
}
